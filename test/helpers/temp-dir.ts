import { rmSync } from "node:fs";
import { access, constants, mkdtemp, rm, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder under the system's temporary one; the caller removes it. */
export async function makeTempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "refund-contract-"));
}

/** The same, removed when it is disposed of. */
export async function createTempDir(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await makeTempDir();
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Where Linux keeps files in memory. */
const MEMORY = "/dev/shm";

/** Several times the space that a run's stores take at once. */
const ROOM_BYTES = 2 * 1024 ** 3;

const storesDirs = new Set<string>();
// Removed also when a run is interrupted, because nobody would look for them there. One listener serves all projects.
process.once("exit", () => {
  for (const path of storesDirs) rmSync(path, { recursive: true, force: true });
});

/** A folder for stores that live no longer than the run. */
export type StoresDir = { readonly path: string; remove(): Promise<void> };

/**
 * Creates one, in memory if there is plenty of it. A store has a thousand small files, and a run creates some hundred
 * stores: on a disk, creating and removing these files takes as much time as everything else.
 */
export async function makeStoresDir(): Promise<StoresDir> {
  const path = await mkdtemp(join((await hasRoom()) ? MEMORY : tmpdir(), "refund-contract-"));
  storesDirs.add(path);
  const remove = async () => {
    await rm(path, { recursive: true, force: true });
    storesDirs.delete(path);
  };
  return { path, remove };
}

/**
 * Whether there is a folder in memory with enough space. It is smaller in most containers, and elsewhere can be larger than
 * the free memory.
 */
async function hasRoom(): Promise<boolean> {
  try {
    await access(MEMORY, constants.W_OK);
    const { bavail, bsize } = await statfs(MEMORY);
    return bavail * bsize > ROOM_BYTES && freemem() > 2 * ROOM_BYTES;
  } catch {
    return false;
  }
}
