import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { defineProof } from "../command/command.ts";
import { ROOT } from "../command/root.ts";
import { type ProductionPackage, readProductionPackages } from "./production-packages.ts";

/* npm's own command reads the lockfile alone, so that the result is the same on every machine and needs no network. */
type Component = { readonly "bom-ref": string; readonly purl: string; readonly licenses?: readonly object[] };
type Bom = {
  metadata: { component: { name: string; purl: string; "bom-ref": string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

/** The only package of this project that others install to call the service. */
const OWN = "pkg:npm/@refund-contract/client@";
const ARGS = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--package-lock-only"];

const { out } = defineProof("sbom")
  .option("--out <file>", "where to write it", join(ROOT, "dist/sbom.cdx.json"))
  .parse()
  .opts();
const { stdout } = await promisify(execFile)("npm", ARGS, { cwd: ROOT, maxBuffer: 64 * 2 ** 20 });
const packages = await readProductionPackages(ROOT);
const bom = keepProduction(JSON.parse(stdout), new Map(packages.map((one) => [toPurl(one), one])));
// npm uses the name of the folder, which can be anything in a clone.
bom.metadata.component.name = bom.metadata.component["bom-ref"].replace(/@[^@]*$/, "");

await mkdir(dirname(out), { recursive: true });
await writeFile(out, `${JSON.stringify(bom, null, 2)}\n`);
const byLicense = Map.groupBy(packages, ({ license }) => license ?? "none");
for (const [license, { length }] of [...byLicense].sort(([, one], [, other]) => other.length - one.length))
  process.stdout.write(`${length} ${license}\n`);
process.stdout.write(`${bom.components.length} components are listed in ${out}\n`);

/** npm's own `--omit dev` leaves out too much: also packages that both a development tool and production need. */
function keepProduction(whole: Bom, production: ReadonlyMap<string, ProductionPackage>): Bom {
  const components = whole.components.flatMap((component) => {
    const name = decodeURIComponent(component.purl);
    const found = production.get(name);
    return found || name.startsWith(OWN) ? [addLicense(component, found?.license)] : [];
  });
  const refs = new Set([whole.metadata.component, ...components].map((component) => component["bom-ref"]));
  const dependencies = whole.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...whole, components, dependencies };
}

/** npm omits the licence of packages that state it in the old form, `licenses`. */
function addLicense(component: Component, license: string | undefined): Component {
  if (component.licenses || license === undefined) return component;
  return { ...component, licenses: [{ license: { id: license } }] };
}

function toPurl({ name, version }: ProductionPackage): string {
  return `pkg:npm/${name}@${version}`;
}
