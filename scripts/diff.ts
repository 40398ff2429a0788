import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readCommandLine } from "./lib/command-line.ts";
import { changelogFault, diffContracts, newestRelease } from "./lib/diff/diff.ts";
import { renderReport } from "./lib/diff/report.ts";
import { ROOT } from "./lib/redocly.ts";

const USAGE = `npm run diff -- [--from FILE] [--to FILE] [--json]

  --from  the contract before; the last release when left out
  --to    the contract after; the project's own when left out
  --json  prints JSON
`;

const { values: options } = readCommandLine(USAGE, {
  options: { from: { type: "string" }, to: { type: "string" }, json: { type: "boolean", default: false } },
});

/** Says what changed since the last release, and fails when the version or the changelog says less (D28). */
const from = options.from === undefined ? await newestRelease(ROOT) : resolve(options.from);
const to = options.to === undefined ? join(ROOT, "openapi/generated/openapi.yaml") : resolve(options.to);
const { changes, verdict } = await diffContracts(from, to);
const changelog = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
// Another contract than the project's own has its changelog elsewhere.
const entry = options.to === undefined ? changelogFault(changelog, verdict.version) : undefined;
const faults = [verdict.fault, entry].filter((fault) => fault !== undefined);

console.log(
  options.json ? JSON.stringify({ ...verdict, changes, faults }, null, 2) : renderReport(changes, verdict),
);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
