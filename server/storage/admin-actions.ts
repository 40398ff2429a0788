import { hash } from "node:crypto";
import { sql } from "kysely";
import type { Store } from "./database/tables.ts";

/** One of the two rows that each run of an admin command writes: one when it begins, and one when it has ended. */
export type AdminAction = {
  /** The same in both rows. */
  readonly runId: string;
  /** What the command says about who runs it, such as an account and a machine. Nobody has verified it. */
  readonly note: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly outcome: "begun" | "succeeded" | "refused" | "failed";
  /** What the command leaves besides, such as the digest of a file. */
  readonly details?: object | undefined;
};

/** What the database says about a row that it has added. */
export type RecordedAction = {
  /** The user of the database session. */
  readonly operator: string;
  /** The head of the chain: the row's number and hash, such as `12:9f86d081…`. */
  readonly head: string;
};

/** Adds a row to the record of what operators did. No row of it is ever changed or removed. */
export async function recordAdminAction(store: Store, action: AdminAction): Promise<RecordedAction> {
  const { runId, note, command, outcome, details } = action;
  const { rows } = await sql<RecordedAction>`
    select operator, head from record_admin_action(${runId}::uuid, ${note}::text, ${[...command]}::text[], ${outcome}::text,
      ${details === undefined ? null : JSON.stringify(details)}::json)`.execute(store);
  const [recorded] = rows;
  if (!recorded) throw new Error("the record of admin actions returned no row");
  return recorded;
}

/** What a row says, as the function in the database wrote it. */
export type RecordEntry = Required<Omit<AdminAction, "command">> & {
  readonly number: number;
  /** Null in a row that no command of ours wrote. */
  readonly command: AdminAction["command"] | null;
  /** The database's time, with six decimals. */
  readonly at: string;
  readonly operator: string;
  /** Where the session came from; null for a socket of the same machine. */
  readonly address: string | null;
};

/** The latest rows, newest first. */
export async function listAdminActions(
  store: Store,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Promise<readonly RecordEntry[]> {
  const { rows } = await sql<{ entry: RecordEntry }>`
    select entry from admin_actions where number < ${before}::bigint order by number desc limit ${limit}`.execute(
    store,
  );
  return rows.map(({ entry }) => entry);
}

/** A row of the table. Its hash covers the exact text. */
type RecordRow = { readonly number: number; readonly entry: string; readonly hash: string };

/** A link of the chain: a row's number and hash. */
export type Link = { readonly number: number; readonly hash: string };

const NO_LINK: Link = { number: 0, hash: "0".repeat(64) };
const PAGE = 1_000;

/**
 * Follows the chain from its first row to its last.
 *
 * @param kept a head that was kept elsewhere: without it nobody would notice that the last rows are missing, or that all were written
 *   anew
 * @param onError called with each row or number that is not as it was written
 * @returns the head; number 0 when there is no row
 */
export async function verifyChain(
  store: Store,
  { kept, onError }: { kept?: Link | undefined; onError: (error: string) => void },
): Promise<Link> {
  let last = NO_LINK;
  let after = Number.MIN_SAFE_INTEGER;
  let seen = kept === undefined;
  for (;;) {
    const { rows } = await sql<RecordRow>`
      select number, entry::text as entry, hash from admin_actions where number > ${after}::bigint
      order by number limit ${PAGE}`.execute(store);
    for (const row of rows) {
      after = row.number;
      const error = findError(row, last);
      if (error !== undefined) onError(error);
      if (row.number === kept?.number) {
        seen = true;
        if (row.hash !== kept.hash) onError(`row ${row.number} is not the one with the hash that was kept`);
      }
      if (row.number > last.number) last = row;
    }
    if (rows.length < PAGE) break;
  }
  if (!seen) onError(`row ${kept?.number}, the head that was kept, is missing`);
  return { number: last.number, hash: last.hash };
}

function findError({ number, entry, hash: stored }: RecordRow, before: Link): string | undefined {
  if (number <= before.number) return `row ${number} does not belong to the chain`;
  const [first, last] = [before.number + 1, number - 1];
  if (first < last) return `rows ${first} to ${last} are missing`;
  if (first === last) return `row ${first} is missing`;
  const isAsWritten =
    hash("sha256", before.hash + entry) === stored && (JSON.parse(entry) as Link).number === number;
  return isAsWritten ? undefined : `row ${number}, or the one before it, is not as it was written`;
}
