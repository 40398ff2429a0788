/** `npm run diff`: prints what has changed in the contract since its last release, and fails when the version or the changelog does not say so. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCommand } from "../shared/define-command.ts";
import { ROOT } from "../shared/root.ts";
import { CHANGELOG, diffContracts, findChangelogError, newestRelease, toReport } from "./check-version.ts";

const { from } = defineCommand(
  "diff",
  "Compares the contract with the last release, and fails if the version or the changelog doesn't announce a change (D28).",
)
  .option("--from <file>", "the contract before; the last release when left out")
  .parse()
  .opts();

const bundle = join(ROOT, "openapi/generated/openapi.yaml");
const { changes, verdict } = await diffContracts(from ?? (await newestRelease(ROOT)), bundle);
const changelog = await readFile(join(ROOT, CHANGELOG), "utf8");
console.log(toReport(changes, verdict));
for (const error of [verdict.error, findChangelogError(changelog, verdict.version)]) {
  if (error === undefined) continue;
  console.error(error);
  process.exitCode = 1;
}
