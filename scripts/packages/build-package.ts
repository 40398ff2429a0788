/** Builds one npm package into a folder: JavaScript, types, its files and its package.json. */
import { cp, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { toJson } from "../../openapi/document/read-generated.ts";
import { LICENCES_FILE, licencesOf } from "../shared/licences.ts";
import { ROOT } from "../shared/root.ts";
import { ensureCluster } from "../start/prepare-cluster.ts";
import { BUNDLED_IMPORTS, buildBundled, toBundled } from "./bundle-dependencies.ts";
import { emitTypes } from "./declarations.ts";
import { OLDEST_NODE, writeEntries } from "./entry-files.ts";
import type { PackageSource } from "./package-list.ts";
import { writeShrinkwrap } from "./shrinkwrap.ts";

const TARGET = `node${OLDEST_NODE}`;

/** Where the embedded store looks for the files of a new one. */
const CLUSTER = "server/storage/database/cluster.tgz";

/** Left out of packages, because neither browsers nor servers read it. */
const LEFT_OUT = /\/sources\.sha256$/;

/**
 * Builds a package into an empty folder, ready to be packed: JavaScript with its types and source maps, one file for each
 * module, in the same folders as in this tree, because they read files next to them.
 */
export async function buildPackage(source: PackageSource, folder: string): Promise<void> {
  await source.prepare?.();
  const dist = join(folder, "dist");
  const { imports, names } = await buildModules(source, dist);
  await writeEntries(source, dist, names);
  await emitTypes(source.typed ?? [], dist);
  for await (const path of glob(source.files, { cwd: ROOT })) {
    if (!LEFT_OUT.test(path)) await cp(join(ROOT, path), join(dist, path));
    // Parsing the YAML would slow down each start.
    if (path.startsWith("openapi/generated/"))
      await writeFile(
        join(dist, path.replace(/yaml$/, "json")),
        toJson(await readFile(join(ROOT, path), "utf8")),
      );
  }
  if (source.cluster) {
    await cp(await ensureCluster(), join(dist, CLUSTER));
    const licences = await licencesOf([join(ROOT, "node_modules/@electric-sql/pglite-prepopulatedfs/dist")]);
    await writeFile(join(dist, dirname(CLUSTER), LICENCES_FILE), licences);
  }
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await cp(join(ROOT, source.folder, "README.md"), join(folder, "README.md"));
  for (const [from, to] of Object.entries(source.shipped ?? {}))
    await cp(join(ROOT, from), join(folder, to), { recursive: true });
  const dependencies = await versionsOf(imports);
  const manifest = {
    ...JSON.parse(await readFile(join(ROOT, source.folder, "package.json"), "utf8")),
    ...(source.bundled && { imports: BUNDLED_IMPORTS }),
    dependencies,
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  if (source.pinned) await writeShrinkwrap(folder);
}

/** Returns the names of the packages that the modules import, and what the library exports. */
async function buildModules(
  { modules, bundled = [], typed = [] }: PackageSource,
  dist: string,
): Promise<{ imports: Set<string>; names: readonly string[] }> {
  const builtIn = new Set<string>();
  const resolvePackage = (id: string) => {
    if (!bundled.includes(packageOf(id))) return { id: atRunTime(id), external: true };
    builtIn.add(id);
    return { id: toBundled(id), external: true };
  };
  const build = await rolldown({
    cwd: ROOT,
    input: modules.map((module) => join(ROOT, module)),
    platform: "node",
    // Specifiers that begin with neither a dot nor a slash name a package, or a module of Node.
    plugins: [{ name: "packages", resolveId: (id) => (/^[./]/.test(id) ? null : resolvePackage(id)) }],
    transform: { target: TARGET },
    tsconfig: false,
  });
  await mkdir(dist, { recursive: true });
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    sourcemap: true,
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: "[name].js",
  });
  await build.close();
  const ids = output.flatMap((file) =>
    file.type === "chunk" ? [...file.imports, ...file.dynamicImports] : [],
  );
  const built = new Set(output.map(({ fileName }) => fileName));
  const imports = new Set(
    ids.filter((id) => !built.has(id) && !isBuiltin(id) && !id.startsWith("#")).map(packageOf),
  );
  if (builtIn.size > 0) await buildBundled([...builtIn], dist, TARGET, (id) => imports.has(packageOf(id)));
  const library = output.find(({ fileName }) => typed[0] === fileName.replace(/js$/, "ts"));
  return { imports, names: library?.type === "chunk" ? library.exports : [] };
}

/** Whether the first package only adds types to the second. */
function atRunTime(id: string): string {
  return id === "@commander-js/extra-typings" ? "commander" : id;
}

/** `@scope/name` of `@scope/name/part`, and `name` of `name/part`. */
function packageOf(id: string): string {
  return id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The exact versions that this project is tested with. */
async function versionsOf(names: ReadonlySet<string>): Promise<Record<string, string>> {
  const known = { ...(await readVersions("package.json")), ...(await readVersions("client/package.json")) };
  const pairs = [...names].sort().map((name) => {
    const version = known[name];
    if (version === undefined) throw new Error(`${name} is imported, but no package.json lists it`);
    return [name, version];
  });
  return Object.fromEntries(pairs);
}

async function readVersions(path: string): Promise<Record<string, string>> {
  const { dependencies, devDependencies, overrides } = JSON.parse(await readFile(join(ROOT, path), "utf8"));
  return { ...overrides, ...devDependencies, ...dependencies };
}
