import { type RawBuilder, sql } from "kysely";
import type { Db } from "./db-types.ts";

/* Locks that only our functions take: each is a row of the table `turns`, which only the owner of the tables can lock. */

/** An expression that takes a turn until the transaction ends, and is false where another one has it. Only its holder can lock it. */
export function tryTurn(name: "retention"): RawBuilder<boolean> {
  return sql<boolean>`take_turn(${name}::text, false)`;
}

/** Waits for a turn of many, of which each has a hash in its name, until the transaction ends. */
export async function waitForTurn(transaction: Db, name: "resource event" | "subscription", of: string) {
  await sql`select take_turn(${name}::text || ' ' || hashtext(${of}), true)`.execute(transaction);
}
