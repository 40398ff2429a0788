/** Makes the tarballs of packages, as `npm publish` would upload them. */
import { cp, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../shared/root.ts";
import { run } from "../shared/run-program.ts";
import { buildPackage } from "./build-package.ts";
import { PACKAGES, type PackageName } from "./package-list.ts";

export type Tarball = { readonly name: PackageName; readonly file: string; readonly bytes: number };

/** Builds packages and packs each into `folder`, one after the other, because building takes both cores. */
export async function packPackages(names: readonly PackageName[], folder: string): Promise<Tarball[]> {
  await mkdir(folder, { recursive: true });
  const tarballs: Tarball[] = [];
  for (const name of names) {
    const file = await packPackage(name, folder);
    tarballs.push({ name, file, bytes: (await stat(file)).size });
  }
  return tarballs;
}

async function packPackage(name: PackageName, folder: string): Promise<string> {
  // Built inside this project, so that the package can be run where it is.
  const stage = join(ROOT, ".cache/packages", `${name}-${process.pid}`);
  await rm(stage, { recursive: true, force: true });
  await mkdir(stage, { recursive: true });
  try {
    const built = name === "client" ? await copyClient(stage) : stage;
    if (name !== "client") await buildPackage(PACKAGES[name], stage);
    await run("npm", ["pack", "--pack-destination", stage], built);
    const made = (await readdir(stage)).find((file) => file.endsWith(".tgz"));
    if (made === undefined) throw new Error("npm pack left no tarball");
    await rename(join(stage, made), join(folder, made));
    return join(folder, made);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

const CLIENT_SOURCES = [
  "client/README.md",
  "client/package.json",
  "client/src",
  "client/tsconfig.json",
  "openapi/generated",
  "tsconfig.json",
];

/** The client is built in a copy by its own script, because two processes may pack at the same time. */
async function copyClient(folder: string): Promise<string> {
  const copy = join(folder, "sources");
  await mkdir(copy);
  for (const name of CLIENT_SOURCES) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await cp(join(ROOT, "LICENSE"), join(copy, "client/LICENSE"));
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return join(copy, "client");
}
