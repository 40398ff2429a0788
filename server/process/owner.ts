import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The process that has a data folder open, and where it listens. */
export interface Owner {
  readonly pid: number;
  readonly url: string;
}

const toFile = (dataDir: string) => join(dataDir, "server.json");

/**
 * Leaves a note for a second start, which can't read the lock itself. Best effort: without the note, only the error message
 * of that start says less.
 */
export async function writeOwner(dataDir: string, owner: Owner): Promise<void> {
  await writeFile(toFile(dataDir), `${JSON.stringify(owner)}\n`, { mode: 0o600 }).catch(() => {});
}

export async function removeOwner(dataDir: string): Promise<void> {
  await rm(toFile(dataDir), { force: true }).catch(() => {});
}

/** Undefined when there is no such note, or the process that left it has ended. */
export async function readOwner(dataDir: string): Promise<Owner | undefined> {
  try {
    const { pid, url } = JSON.parse(await readFile(toFile(dataDir), "utf8")) as Partial<Owner>;
    if (typeof pid !== "number" || typeof url !== "string") return undefined;
    process.kill(pid, 0);
    return { pid, url };
  } catch {
    return undefined;
  }
}
