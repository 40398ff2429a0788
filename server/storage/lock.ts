import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** Another process works on the embedded store; two at once would destroy each other's data without a word. */
export class DataDirLockedError extends Error {
  override readonly name = "DataDirLockedError";
  readonly dataDir: string;

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another process. Stop that process, or choose another folder with DATA_DIR.`,
    );
    this.dataDir = dataDir;
  }
}

/**
 * Takes a data folder for this process alone, at once or not at all. The lock is SQLite's on the file `lock` in it: the
 * operating system drops it with the process, even one that is killed, and keeps it while the process is stopped.
 *
 * Nothing else may open that file: closing any other handle to it would drop the lock.
 *
 * @returns the function that lets go of the folder
 * @throws DataDirLockedError when another process holds it
 */
export function lockDataDir(dataDir: string): () => void {
  const file = new DatabaseSync(join(dataDir, "lock"), { timeout: 0 });
  try {
    // A journal in memory leaves no second file behind that a later owner would have to recover.
    file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    throw isBusy(error) ? new DataDirLockedError(dataDir) : error;
  }
  return () => file.close();
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
