import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { ROOT } from "../command/redocly.ts";
import { buildPackage } from "./build.ts";
import { pack } from "./pack-client.ts";
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
    const made = name === "client" ? await pack(stage) : await buildAndPack(name, stage);
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
