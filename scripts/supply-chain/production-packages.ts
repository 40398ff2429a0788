import { readFile } from "node:fs/promises";
import { join } from "node:path";

type LockedPackage = {
  readonly version: string;
  /** As SPDX writes it; undefined when the package does not say. */
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  /** The versions of Node that it runs on, such as `>=20.18.1`. */
  readonly engines?: { readonly node?: string };
};

/** A package that is installed to run the server or the client. */
export type ProductionPackage = LockedPackage & { readonly name: string };

const MODULES = "node_modules/";

/** All packages that production needs, on any platform, without our own, sorted by name. */
export async function readProductionPackages(root: string): Promise<ProductionPackage[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional, link }]) => path.includes(MODULES) && !dev && !devOptional && !link,
  );
  const packages = installed.map(async ([path, locked]) => {
    const license = locked.license ?? (await readLicense(join(root, path)));
    const name = path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    return { ...locked, name, ...(license !== undefined && { license }) };
  });
  return (await Promise.all(packages)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Old packages state it in forms that the lockfile leaves out. */
async function readLicense(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "{}");
  const { licenses } = JSON.parse(text) as { licenses?: { type?: string }[] };
  return licenses?.[0]?.type;
}
