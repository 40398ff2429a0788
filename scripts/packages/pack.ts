import { cp, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { ROOT } from "../command/root.ts";
import { buildPackage } from "./build.ts";
import { run } from "./run.ts";
import { PACKAGES, type PackageName } from "./sources.ts";

/** A package as it is published. */
export type Tarball = {
  readonly name: PackageName;
  readonly file: string;
  readonly bytes: number;
};

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
  // Inside this project, so that the built package can be run in place.
  const stage = join(ROOT, ".cache/packages", `${name}-${process.pid}`);
  await rm(stage, { recursive: true, force: true });
  await mkdir(stage, { recursive: true });
  try {
    const made = name === "client" ? await packClient(stage) : await buildAndPack(name, stage);
    const file = join(folder, basename(made));
    await rename(made, file);
    return file;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function buildAndPack(name: Exclude<PackageName, "client">, stage: string): Promise<string> {
  await buildPackage(PACKAGES[name], stage);
  const printed = await run("npm", ["pack", "--json"], stage);
  const [{ filename }] = JSON.parse(printed);
  return join(stage, filename);
}

/** The sources of the client. */
const CLIENT_SOURCES = [
  "client/LICENSE",
  "client/README.md",
  "client/package.json",
  "client/src",
  "client/tsconfig.json",
  "openapi/generated",
  "tsconfig.json",
];

/** The client is built in a copy, because two processes may pack at the same time. */
async function packClient(folder: string): Promise<string> {
  const copy = join(folder, "sources");
  await mkdir(copy);
  for (const name of CLIENT_SOURCES) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  await run("npm", ["pack", "--pack-destination", folder], join(copy, "client"));
  const name = (await readdir(folder)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack left no tarball");
  return join(folder, name);
}
