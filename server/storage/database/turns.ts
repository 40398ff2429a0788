import { type RawBuilder, sql } from "kysely";
import type { Db } from "./tables.ts";

/** An expression that takes a turn until the transaction ends, and is false where another one has it. Only its holder can lock it. */
export function tryTurn(name: "retention"): RawBuilder<boolean> {
  return sql<boolean>`take_turn(${name}::text, false)`;
}

/** Waits for a turn of many, of which each has a hash in its name, until the transaction ends. */
export async function waitForTurn(transaction: Db, name: "resource event" | "subscription", of: string) {
  await sql`select take_turn(${name}::text || ' ' || hashtext(${of}), true)`.execute(transaction);
}

/**
 * Notifies all servers when the transaction commits. Any role can fill the queue of notifications, and a commit with one would fail
 * then; servers also look by themselves each second.
 */
export function notify(channel: string, payload: Parameters<typeof sql>[1] = ""): RawBuilder<unknown> {
  return sql`case when (select pg_notification_queue_usage()) < 0.5 then pg_notify(${channel}::text, ${payload}::text) end`;
}
