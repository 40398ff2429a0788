import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PGlite, types } from "@electric-sql/pglite";
import { lockDataDir } from "./lock.ts";

/**
 * Opens the embedded PostgreSQL of a data folder, for this process alone.
 *
 * @returns the store, and the function that gives the folder back once the store is closed
 * @throws DataDirLockedError when another process uses the folder
 */
export async function openEmbedded(dataDir: string): Promise<{ pglite: PGlite; unlock: () => void }> {
  await makeFolder(dataDir);
  const unlock = lockDataDir(dataDir);
  try {
    return { pglite: await openCluster(join(dataDir, "postgres")), unlock };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** With its parents. Node's own `recursive` never ends where the system says of every folder that its parent is missing. */
async function makeFolder(folder: string): Promise<void> {
  const make = () => mkdir(folder, { mode: 0o700 });
  try {
    await make();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await make();
  }
}

async function openCluster(folder: string): Promise<PGlite> {
  if (!existsSync(folder)) await createCluster(folder);
  return PGlite.create(folder, { parsers: { [types.INT8]: Number } });
}

/** Beside its place and then moved there: a process killed while it creates one leaves nothing that looks complete. */
async function createCluster(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  const pglite = await PGlite.create(unfinished);
  await pglite.close();
  await rename(unfinished, folder);
}
