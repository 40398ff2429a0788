import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readCommandLine } from "./lib/command-line.ts";
import { readProductionPackages } from "./lib/packages.ts";
import { ROOT } from "./lib/redocly.ts";

/*
 * Writes the bill of materials of what runs in production, as CycloneDX, by npm's own command: from the lockfile alone, so
 * that it says the same on every machine and needs no network. Prints the licences.
 */
type Component = { readonly "bom-ref": string; readonly purl: string };
type Bom = {
  metadata: { component: { name: string; purl: string; "bom-ref": string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

const DEFAULT_OUT = join(ROOT, "dist/sbom.cdx.json");
const OWN = "pkg:npm/@refund-contract/";
const ARGS = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];

const USAGE = `npm run sbom -- [--out dist/sbom.cdx.json]

  --out  where to write it
`;

const { values } = readCommandLine(USAGE, { options: { out: { type: "string", default: DEFAULT_OUT } } });
const { stdout } = await promisify(execFile)("npm", ARGS, { cwd: ROOT, maxBuffer: 64 * 2 ** 20 });
const packages = await readProductionPackages(ROOT);
const bom = keepProduction(JSON.parse(stdout), new Set(packages.map(toPurl)));
// npm takes the name of the folder, which is anything in a clone.
bom.metadata.component.name = bom.metadata.component["bom-ref"].replace(/@[^@]*$/, "");

await mkdir(dirname(values.out), { recursive: true });
await writeFile(values.out, `${JSON.stringify(bom, null, 2)}\n`);
const byLicense = Map.groupBy(packages, ({ license }) => license ?? "none");
for (const [license, { length }] of [...byLicense].sort(([, one], [, other]) => other.length - one.length)) {
  process.stdout.write(`${length} ${license}\n`);
}
process.stdout.write(`${bom.components.length} components are listed in ${values.out}\n`);

/** What npm leaves out itself with `--omit dev` is too much: also what a development tool and production both need. */
function keepProduction(whole: Bom, purls: ReadonlySet<string>): Bom {
  const components = whole.components.filter(({ purl }) => {
    const name = decodeURIComponent(purl);
    return purls.has(name) || name.startsWith(OWN);
  });
  const refs = new Set([whole.metadata.component, ...components].map((component) => component["bom-ref"]));
  const dependencies = whole.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...whole, components, dependencies };
}

function toPurl({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name}@${version}`;
}
