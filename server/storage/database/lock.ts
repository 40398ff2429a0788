import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** Another process uses the embedded store. Two at once would destroy each other's data without an error. */
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

/** The folder of the embedded store can't be written: it is read-only, of another user, or on a full disk. */
export class DataDirUnusableError extends Error {
  override readonly name = "DataDirUnusableError";

  constructor(dataDir: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `The data folder ${dataDir} can't be used (${reason}). Make it writable and make room on its disk, or choose another folder with DATA_DIR.`,
      { cause },
    );
  }
}

/** The database of the embedded store is missing from an otherwise intact data folder. */
export class DataDirIncompleteError extends Error {
  override readonly name = "DataDirIncompleteError";

  /** @param folder where the database should be */
  constructor(folder: string) {
    super(
      `The folder ${folder} is gone, but not the rest of its data folder. Put it back, or remove the whole of DATA_DIR to begin anew.`,
    );
  }
}

/**
 * Locks a data folder for this process alone, without waiting. The lock is SQLite's, on the file `lock` in the folder: the
 * operating system releases it when the process ends, even if it is killed, and keeps it while the process is paused.
 *
 * Nothing else may open that file: closing any other handle to it would release the lock.
 * @returns the function that releases the lock
 * @throws DataDirLockedError when another process holds it
 * @throws DataDirUnusableError when it can't be written
 */
export function lockDataDir(dataDir: string): () => void {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(dataDir, "lock"), { timeout: 0 });
    // A journal in memory leaves no second file behind that a later owner would have to recover.
    file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    file?.close();
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
    throw isBusy ? new DataDirLockedError(dataDir) : new DataDirUnusableError(dataDir, error);
  }
  const lock = file;
  return () => lock.close();
}
