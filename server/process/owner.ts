import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { IN_MEMORY } from "../config/store-settings.ts";

/** The process that has a data folder open, and where it listens. */
export type Owner = {
  readonly pid: number;
  readonly url: string;
};

const toFile = (dataDir: string) => join(dataDir, "server.json");

/**
 * Names this process in its data folder until it closes, for a second start, which can't read the lock itself. Best effort:
 * without the note, only the error message of that start says less.
 *
 * @returns closes the server, too
 */
export async function keepOwner(
  { databaseUrl, dataDir }: Pick<Config, "databaseUrl" | "dataDir">,
  url: string,
  close: () => Promise<void>,
): Promise<() => Promise<void>> {
  if (databaseUrl !== undefined || dataDir === IN_MEMORY) return close;
  const owner: Owner = { pid: process.pid, url };
  await writeFile(toFile(dataDir), `${JSON.stringify(owner)}\n`, { mode: 0o600 }).catch(() => {});
  return async () => {
    // Before the folder is unlocked, because the next process then writes its own note.
    await rm(toFile(dataDir), { force: true }).catch(() => {});
    await close();
  };
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
