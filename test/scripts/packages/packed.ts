import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../scripts/command/redocly.ts";
import { packPackages } from "../../../scripts/packages/pack.ts";
import { PACKAGES } from "../../../scripts/packages/sources.ts";

export type BuiltName = keyof typeof PACKAGES;
export const BUILT_NAMES = Object.keys(PACKAGES) as BuiltName[];

/** Packages unpacked as by npm, in a folder that has the dependencies of this project. Nothing is downloaded. */
export type UnpackedPackages = {
  /** Where the packages are installed. */
  readonly folder: string;
  packageFolder(name: BuiltName): string;
  tarball(name: BuiltName): Promise<Buffer>;
  /** The command of a package, which `npx` would run. */
  command(name: BuiltName): Promise<string[]>;
  remove(): Promise<void>;
};

export async function unpackPackages(): Promise<UnpackedPackages> {
  const folder = join(ROOT, ".cache", `unpacked-${process.pid}`);
  const packageFolder = (name: BuiltName) => join(folder, "node_modules/@refund-contract", name);
  const remove = () => rm(folder, { recursive: true, force: true });
  await remove();
  const tarballs = await packPackages(BUILT_NAMES, folder);
  const files = new Map(tarballs.map(({ name, file }) => [name, file]));
  for (const name of BUILT_NAMES) {
    await mkdir(packageFolder(name), { recursive: true });
    const args = ["-xzf", files.get(name) ?? "", "--strip-components", "1", "-C", packageFolder(name)];
    await promisify(execFile)("tar", args);
  }
  return {
    folder,
    packageFolder,
    tarball: (name) => readFile(files.get(name) ?? ""),
    async command(name) {
      const { bin } = JSON.parse(await readFile(join(packageFolder(name), "package.json"), "utf8"));
      const [program] = Object.values(bin);
      return [process.execPath, join(packageFolder(name), String(program))];
    },
    remove,
  };
}
