import { setTimeout } from "node:timers/promises";
import { FullError } from "../../async/bounded-queue.ts";

/** Whether an error means that the database, or the row that is wanted, is unavailable, rather than that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof FullError) return true;
  const code = toCode(error);
  return (
    NETWORK_CODE.test(code) ||
    UNAVAILABLE_CODES.includes(code) ||
    (code.length === 5 && UNAVAILABLE_CLASSES.includes(code.slice(0, 2))) ||
    DRIVER_MESSAGES.test(error.message)
  );
}

/** Class of PostgreSQL's error codes: a transaction was rolled back because of concurrent ones. */
const CONFLICT_CLASS = "40";
/**
 * Classes of PostgreSQL's error codes: connection, no right to log in, no such database, rollback, insufficient resources, operator
 * intervention.
 */
const UNAVAILABLE_CLASSES = ["08", "28", "3D", CONFLICT_CLASS, "53", "57"];
const LOCK_TIMEOUT = "55P03";
const CANCELED = "57014";
/** The database is read-only, such as a standby, or was when this session began. */
export const READ_ONLY = "25006";
const DISK_FULL = "53100";
const REFUSED_WRITES = [READ_ONLY, DISK_FULL];
/** An operator lets nobody connect to the database. */
const CLOSED = "55000";
/** Besides those: a transaction was idle or took too long; a lock was not available in time. */
const UNAVAILABLE_CODES = [...REFUSED_WRITES, "25P03", "25P04", LOCK_TIMEOUT, CLOSED];
/** The last two: this process, or the machine, has no descriptor left for a connection. */
const NETWORK_CODE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EMFILE|ENFILE)$/;
const SILENCE = "Query read timeout";
/** The pool and the driver distinguish these errors by their messages only. */
const DRIVER_MESSAGES = new RegExp(
  [
    SILENCE,
    "timeout exceeded when trying to connect",
    "timeout expired",
    "Connection terminated",
    "Client has encountered a connection error",
    "Client was closed and is not queryable",
    "connection has been discarded",
    "PGlite is closed",
    "cached plan must not change result type",
    "driver has already been destroyed",
    "Cannot use a pool after calling end",
  ].join("|"),
);

/** Whether nothing was stored because of concurrent transactions, so that a retry may succeed at once. */
function isConflict(error: unknown): boolean {
  const code = toCode(error);
  return code.length === 5 && code.startsWith(CONFLICT_CLASS);
}

/** Whether a statement failed because the database takes no writes. */
export function isRefusedWrite(error: unknown): boolean {
  return REFUSED_WRITES.includes(toCode(error));
}

/** Whether a statement failed because its session is read-only, in which it stays so. */
export function isReadOnly(error: unknown): boolean {
  return toCode(error) === READ_ONLY;
}

/** Whether a statement waited for a lock longer than it was allowed to. */
export function isLockTimeout(error: unknown): boolean {
  return toCode(error) === LOCK_TIMEOUT;
}

/** Whether the database ended a statement that took longer than it was allowed to, or that an operator canceled. */
export function isStatementTimeout(error: unknown): boolean {
  return toCode(error) === CANCELED;
}

function toCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether the database has not responded to a statement at all, so that the connection still waits for it. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === SILENCE;
}

const MAX_CONFLICTS = 4;
/** Longest wait before the first retry, in milliseconds; it doubles with each later one. */
const CONFLICT_PAUSE_MS = 10;

/** Repeats work that the database has rolled back because of concurrent transactions, as in a deadlock. */
export async function repeatAfterConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || conflicts === MAX_CONFLICTS) throw error;
      await setTimeout(Math.random() * CONFLICT_PAUSE_MS * 2 ** conflicts);
    }
  }
}
