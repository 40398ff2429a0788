import { sql } from "kysely";
import { expect } from "vitest";
import type { Database } from "../../../server/storage/database.ts";
import type { Merchant, PaymentRecord } from "../../helpers/sandbox.ts";

type Stored = { readonly database: Database };

/** A refund is authorized within five seconds of its date (D16); on a busy machine the scan of each second may come later. */
export const PROMPT = { timeout: 30_000, interval: 20 };

/** Every payment and refund of a merchant, by its id. */
export async function recordsOf({ sandbox }: Merchant): Promise<Map<string, PaymentRecord>> {
  const records = new Map<string, PaymentRecord>();
  let cursor: string | null = null;
  do {
    const query: Record<string, string | number> = cursor === null ? { limit: 100 } : { limit: 100, cursor };
    const { body } = await sandbox("listPayments", { query });
    for (const record of body.items) records.set(record.paymentId, record);
    cursor = body.nextCursor;
  } while (cursor !== null);
  return records;
}

/** The events of a merchant's payments and refunds by their id, oldest first: `sequence type`. */
export async function eventsByResource(
  { database: { db } }: Stored,
  { merchant }: Merchant,
): Promise<Map<string, string[]>> {
  const events = db.selectFrom("events").where("merchant", "=", merchant).orderBy("sequence");
  const byResource = new Map<string, string[]>();
  for (const { resource_id, sequence, type } of await events
    .select(["resource_id", "sequence", "type"])
    .execute()) {
    byResource.set(resource_id, [...(byResource.get(resource_id) ?? []), `${sequence} ${type}`]);
  }
  return byResource;
}

/**
 * Invariants of a merchant's records: each status has one entry in the history and one event, in order, and the rest of a
 * payment is its amount minus the refunds that have not failed.
 */
export async function expectConsistent(server: Stored, merchant: Merchant): Promise<void> {
  const records = [...(await recordsOf(merchant)).values()];
  const refunds = records.filter((record) => record.kind === "REFUND");
  const events = await eventsByResource(server, merchant);

  for (const refund of refunds) {
    const expected = refund.history.map(
      ({ paymentStatus }, index) => `${index + 1} refund.${paymentStatus.toLowerCase()}`,
    );
    expect(events.get(refund.paymentId)).toEqual(expected);
    expect(refund.history.at(-1)?.paymentStatus).toBe(refund.paymentStatus);
  }
  for (const record of records) {
    if (record.kind !== "DEBIT") continue;
    const live = refunds.filter(
      (refund) => refund.originalPaymentId === record.paymentId && refund.paymentStatus !== "TERMINAL_FAILED",
    );
    const taken = live.reduce((cents, refund) => cents + toCents(refund.amount.value), 0);
    expect(toCents(record.refundableAmount.value)).toBe(toCents(record.amount.value) - taken);
  }
}

export function toCents(dollars: number): number {
  return Number(dollars.toFixed(2).replace(".", ""));
}

/** Makes the database refuse events of this type until the returned function is called. */
export async function refuseEvents({ database: { db } }: Stored, type: string): Promise<() => Promise<void>> {
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
      begin raise exception 'refused by the test'; end $$`.execute(db);
  await sql`
    create trigger refuse before insert on events for each row
      when (new.type = ${sql.lit(type)}) execute function refuse_event()`.execute(db);
  return async () => {
    await sql`drop function refuse_event cascade`.execute(db);
  };
}
