import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defineCommand } from "../command/command.ts";
import { ROOT } from "../command/root.ts";
import { diffContracts, findChangelogError, newestRelease, renderReport } from "./compare.ts";

const options = defineCommand(
  "diff",
  "Compares the contract with the last release, and fails if the version or the changelog doesn't announce a change (D28).",
)
  .option("--from <file>", "the contract before; the last release when left out")
  .option("--to <file>", "the contract after; the project's own when left out")
  .option("--json", "print JSON")
  .parse()
  .opts();

const from = options.from === undefined ? await newestRelease(ROOT) : resolve(options.from);
const to = options.to === undefined ? join(ROOT, "openapi/generated/openapi.yaml") : resolve(options.to);
const { changes, verdict } = await diffContracts(from, to);
const changelog = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
// The changelog belongs to the project's own contract only.
const entry = options.to === undefined ? findChangelogError(changelog, verdict.version) : undefined;
const errors = [verdict.error, entry].filter((error) => error !== undefined);

console.log(
  options.json ? JSON.stringify({ ...verdict, changes, errors }, null, 2) : renderReport(changes, verdict),
);
for (const error of errors) console.error(error);
if (errors.length > 0) process.exitCode = 1;
