import { join } from "node:path";
import { defineCommand } from "../../scripts/command/command.ts";
import { PROOFS } from "../../scripts/command/proofs.ts";
import { ROOT } from "../../scripts/command/root.ts";

const command = defineCommand("proof", "Runs a long proof, or a command that is needed rarely.");
for (const [name, { file, description }] of Object.entries(PROOFS))
  command.command(name, description, { executableFile: join(ROOT, file) });
command.parse();
