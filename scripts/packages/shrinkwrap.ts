import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A package as a lockfile of npm has it. */
type LockedPackage = {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
};
type Locked = Readonly<Record<string, LockedPackage>>;

/** The package.json of a package, as far as a lockfile repeats it. */
export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

/**
 * The lockfile that a package is published with (npm-shrinkwrap.json): of this project's own lockfile the part that the package
 * needs. So npm installs, everywhere and at any time, the versions and checksums that this project is tested with.
 *
 * @param root the folder of package-lock.json
 */
export async function toShrinkwrap(manifest: Manifest, root: string): Promise<object> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Locked;
  };
  const paths = findNeeded(packages, Object.keys(manifest.dependencies));
  const needed = [...paths].sort().map((path) => {
    const { dev: _, devOptional: __, ...locked } = packages[path] ?? {};
    return [path, locked];
  });
  const { name, version } = manifest;
  return {
    ...{ name, version, lockfileVersion: 3, requires: true },
    packages: { "": manifest, ...Object.fromEntries(needed) },
  };
}

/** The paths of packages, and of all that these need. */
function findNeeded(packages: Locked, names: readonly string[]): Set<string> {
  const paths = new Set<string>();
  const add = (name: string, from: string, isOptional: boolean) => {
    const path = resolve(packages, name, from);
    if (path === undefined && isOptional) return;
    if (path === undefined)
      throw new Error(`${name}, which ${from || "the package"} needs, is not in package-lock.json`);
    if (paths.has(path)) return;
    paths.add(path);
    const { dependencies = {}, optionalDependencies = {}, ...of } = packages[path] ?? {};
    const { peerDependencies = {}, peerDependenciesMeta = {} } = of;
    for (const each of Object.keys(dependencies)) add(each, path, each in optionalDependencies);
    for (const each of Object.keys(optionalDependencies)) add(each, path, true);
    for (const each of Object.keys(peerDependencies)) {
      if (!peerDependenciesMeta[each]?.optional) add(each, path, false);
    }
  };
  for (const name of names) add(name, "", false);
  return paths;
}

/** Where Node finds a package that the one at `from` imports: in its folder, or in the nearest one above. */
function resolve(packages: Locked, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === "") return undefined;
  }
}
