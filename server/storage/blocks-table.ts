import { sql } from "kysely";
import type { Db } from "./database/db-types.ts";
import { notify } from "./database/listen-notify.ts";

/** Whose calls are refused: those of a merchant, of a client of the issuer (`client_id`), or with one access token (`jti`). */
export type Blocked = { readonly kind: "merchant" | "client" | "token"; readonly name: string };

export type Block = Blocked & {
  readonly reason: string;
  /** Real time, like the next. */
  readonly blockedAt: Date;
  /** When it ends by itself; null: when an operator ends it. */
  readonly until: Date | null;
};

/** The channel that notifies servers of a change. */
export const BLOCKS_CHANNEL = "blocks";

/** Everything that is blocked now, oldest first. */
export async function listBlocks(db: Db): Promise<Block[]> {
  const { rows } = await sql<Block>`
    select kind, name, reason, blocked_at as "blockedAt", until from blocks
    where until is null or until > clock_timestamp()
    order by blocked_at, kind, name`.execute(db);
  return rows;
}

/** Blocks somebody, or changes the reason and the end of a block. Removes those that have ended. */
export async function block(db: Db, { kind, name, reason, until }: Omit<Block, "blockedAt">): Promise<void> {
  await changeAndNotify(db, async (transaction) => {
    await sql`delete from blocks where until <= clock_timestamp()`.execute(transaction);
    await sql`
      insert into blocks (kind, name, reason, until) values (${kind}, ${name}, ${reason}, ${until}::timestamptz)
      on conflict (kind, name) do update set reason = excluded.reason, until = excluded.until`.execute(
      transaction,
    );
  });
}

/** @returns whether there was such a block */
export async function unblock(db: Db, { kind, name }: Blocked): Promise<boolean> {
  return changeAndNotify(db, async (transaction) => {
    const { rows } = await sql`
      delete from blocks where kind = ${kind} and name = ${name} and (until is null or until > clock_timestamp())
      returning 1`.execute(transaction);
    return rows.length > 0;
  });
}

/** Servers are notified when the transaction commits. */
async function changeAndNotify<Result>(db: Db, change: (transaction: Db) => Promise<Result>) {
  return db.transaction().execute(async (transaction) => {
    const result = await change(transaction);
    await sql`select ${notify(BLOCKS_CHANNEL)}`.execute(transaction);
    return result;
  });
}
