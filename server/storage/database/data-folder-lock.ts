import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Locks a data folder for this process alone, without waiting. The lock is SQLite's, on the file `lock` in the folder: the
 * operating system releases it when the process ends, even if it is killed, and keeps it while the process is paused.
 *
 * Nothing else may open that file: closing any other handle to it would release the lock.
 * @returns the function that releases the lock
 * @throws DataDirError when another process holds it, or it can't be written
 */
export function lockDataDir(dataDir: string): () => void {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(dataDir, "lock"), { timeout: 0 });
    // A journal in memory leaves no second file behind that a later owner would have to recover.
    file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    file?.close();
    const { message, errcode } = error as Error & { errcode?: number };
    if (errcode !== SQLITE_BUSY) throw unusable(dataDir, message, error);
    // Two at once would destroy each other's data without an error.
    throw new DataDirError(
      `The data folder ${dataDir} is in use by another process. Stop that process, or choose another folder with DATA_DIR.`,
    );
  }
  const lock = file;
  return () => lock.close();
}

const SQLITE_BUSY = 5;

/** The embedded store can't be used. The message says why and what to do. */
export class DataDirError extends Error {
  override readonly name = "DataDirError";
}

/** The folder can't be written: it is read-only, of another user, or on a full disk. */
export function unusable(dataDir: string, reason: string, cause?: unknown): DataDirError {
  return new DataDirError(
    `The data folder ${dataDir} can't be used (${reason}). Make it writable and make room on its disk, or choose another folder with DATA_DIR.`,
    { cause },
  );
}
