import { existsSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { PGlite, types } from "@electric-sql/pglite";
import { createCluster } from "./cluster.ts";
import { DataDirUnusableError, lockDataDir } from "./lock.ts";

/** As Node, PostgreSQL and the runtime of its WebAssembly tell of a full disk. */
const NO_SPACE = /ENOSPC|No space left on device|errno: 51\b/;

/**
 * Opens the embedded PostgreSQL of a data folder, for this process alone.
 *
 * @returns the store, and the function that gives the folder back once the store is closed
 * @throws DataDirLockedError when another process uses the folder
 * @throws DataDirUnusableError when it can't be written, or its disk is full
 */
export async function openEmbedded(dataDir: string): Promise<{ pglite: PGlite; unlock: () => void }> {
  await makeFolder(dataDir);
  const unlock = lockDataDir(dataDir);
  try {
    return { pglite: await openCluster(join(dataDir, "postgres")), unlock };
  } catch (error) {
    unlock();
    throw NO_SPACE.test(inspect(error))
      ? new DataDirUnusableError(dataDir, "no space left on its disk")
      : error;
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

const SETTINGS = [
  // A store for one process needs little to begin with; PostgreSQL's own 128 MB would be most of the server's memory.
  "shared_buffers=16MB",
  "wal_buffers=1MB",
  "maintenance_work_mem=4MB",
  "default_statistics_target=10",
  // A prepared cluster has the zone of the machine on which it was made.
  "timezone=UTC",
  "log_timezone=UTC",
];

async function openCluster(folder: string): Promise<PGlite> {
  if (!existsSync(folder)) await createCluster(folder);
  return PGlite.create(folder, { parsers: { [types.INT8]: Number }, postgresqlconf: SETTINGS });
}
