/** `npm run proof -- NAME`: runs the program of that name in scripts/shared/proofs.ts. */
import { join } from "node:path";
import { defineCommand } from "../../scripts/shared/define-command.ts";
import { PROOFS } from "../../scripts/shared/proofs.ts";
import { ROOT } from "../../scripts/shared/root.ts";

const command = defineCommand("proof", "Runs a long proof, or a command that is needed rarely.");
for (const [name, { file, description }] of Object.entries(PROOFS))
  command.command(name, description, { executableFile: join(ROOT, file) });
command.parse();
