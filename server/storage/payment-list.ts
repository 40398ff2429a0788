import { sql } from "kysely";
import { exactTexts } from "./exact-text.ts";
import { type PaymentRecord, toPaymentRecord } from "./payment-record.ts";
import type { Store } from "./tables.ts";

export type PaymentPage = {
  readonly payments: readonly PaymentRecord[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
};

type Position = { readonly createdAt: Date; readonly paymentId: string };

/**
 * The payments and refunds of a merchant, newest first. What is added while somebody turns the pages comes before the
 * first one and moves nothing on the others.
 *
 * @param limit how many at most, from 1
 * @param cursor `nextCursor` of the page before
 * @returns "invalid-cursor" for a cursor that no page has given
 */
export async function listPayments(
  store: Store,
  {
    merchant,
    kind,
    limit,
    cursor,
  }: { merchant: string; kind?: "DEBIT" | "REFUND" | undefined; limit: number; cursor?: string | undefined },
): Promise<PaymentPage | "invalid-cursor"> {
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  if (cursor !== undefined && !after) return "invalid-cursor";

  let query = store
    .selectFrom("payments")
    .selectAll()
    .select(exactTexts)
    .where("merchant", "=", merchant)
    .where(sql<boolean>`sequence >= 0`); // the condition of the index of the newest
  if (kind) query = query.where("kind", "=", kind);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("created_at", "payment_id"), "<", tuple(after.createdAt, after.paymentId)),
    );
  }
  const rows = await query
    .orderBy("created_at", "desc")
    .orderBy("payment_id", "desc")
    .limit(limit + 1) // one more than asked for tells whether there is a next page
    .execute();

  const payments = rows.slice(0, limit).map(toPaymentRecord);
  const last = payments.at(-1);
  return { payments, nextCursor: last && rows.length > limit ? toCursor(last) : null };
}

function toCursor({ createdAt, paymentId }: Position): string {
  return Buffer.from(`${createdAt.getTime()} ${paymentId}`).toString("base64url");
}

function fromCursor(cursor: string): Position | undefined {
  const [, time, paymentId] =
    /^(\d{1,15}) (.{1,64})$/su.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (time === undefined || paymentId === undefined || paymentId.includes("\0")) return undefined;
  return { createdAt: new Date(Number(time)), paymentId };
}
