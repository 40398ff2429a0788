import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { readProductionPackages } from "./lib/packages.ts";
import { ROOT } from "./lib/redocly.ts";

/*
 * Writes the bill of materials of what runs in production, as CycloneDX, with npm's own command: from the lockfile alone,
 * so that it says the same on every machine and needs no network. Prints the licences.
 */
const { values } = parseArgs({
  options: { out: { type: "string", default: join(ROOT, "dist/sbom.cdx.json") } },
});

const ARGS = [
  "sbom",
  "--sbom-format",
  "cyclonedx",
  "--sbom-type",
  "application",
  "--omit",
  "dev",
  "--package-lock-only",
];
const { stdout } = await promisify(execFile)("npm", ARGS, { cwd: ROOT, maxBuffer: 32 * 2 ** 20 });
const bom = JSON.parse(stdout);
const { name } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
bom.metadata.component.name = name; // npm takes the name of the folder, which is anything in a clone

await mkdir(join(values.out, ".."), { recursive: true });
await writeFile(values.out, `${JSON.stringify(bom, null, 2)}\n`);

const byLicense = Map.groupBy(await readProductionPackages(ROOT), ({ license }) => license ?? "none");
for (const [license, packages] of [...byLicense].sort(([, one], [, other]) => other.length - one.length)) {
  const names = [...new Set(packages.map((each) => each.name))];
  process.stdout.write(`${license} (${packages.length}): ${names.join(", ")}\n`);
}
process.stdout.write(`${bom.components.length} components are listed in ${values.out}\n`);
