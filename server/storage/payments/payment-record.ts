import { type RawBuilder, sql } from "kysely";
import type { CallerIdentity } from "../../domain/caller-identity.ts";
import type { OriginalStatus, RefundErrorCode, RefundFailure, RefundStatus } from "../../domain/refunds.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db, HistoryEntry } from "../database/tables.ts";

/** Identifies a payment record: identifiers belong to a merchant. */
export type PaymentKey = { readonly merchant: string; readonly paymentId: string };

type CommonRecord = {
  readonly paymentId: string;
  readonly merchant: string;
  readonly amountCents: number;
  readonly clientReferenceId: string | null;
  /** Every status so far, the first one included, oldest first. */
  readonly history: readonly HistoryEntry[];
  readonly createdAt: Date;
};

/** An original payment as it is stored. */
export type DebitRecord = CommonRecord & {
  readonly kind: "DEBIT";
  readonly status: OriginalStatus;
  readonly requestKey: string | null;
  /** The sum of its refunds that have not failed, in cents. */
  readonly refundedCents: number;
  readonly settledAt: Date | null;
};

/** A refund as it is stored. */
export type RefundRecord = CommonRecord & {
  readonly kind: "REFUND";
  readonly status: RefundStatus;
  readonly requestKey: string;
  readonly softDescriptor: string | null;
  readonly originalPaymentId: string;
  /** When it is authorized; null until its original payment has settled, and for a refund that never waited. */
  readonly dueAt: Date | null;
  readonly failure: RefundFailure | null;
};

export type PaymentRecord = DebitRecord | RefundRecord;

/**
 * A row of the table `payments`, which holds original payments and refunds, because a requestKey is unique among both (D10). The
 * table's checks ensure which columns occur together, hence the casts below.
 */
export type PaymentRow = {
  readonly payment_id: string;
  readonly merchant: string;
  readonly kind: "DEBIT" | "REFUND";
  readonly status: OriginalStatus | RefundStatus;
  readonly amount_cents: number;
  readonly request_key: string | null;
  readonly client_reference_id: string | null;
  readonly soft_descriptor: string | null;
  readonly original_payment_id: string | null;
  readonly refunded_cents: number;
  readonly settled_at: Date | null;
  readonly due_at: Date | null;
  readonly error_code: RefundErrorCode | null;
  readonly error_message: string | null;
  readonly history: readonly HistoryEntry[];
  readonly created_at: Date;
};

export function toPaymentRecord(row: PaymentRow): PaymentRecord {
  return row.kind === "DEBIT" ? toDebitRecord(row) : toRefundRecord(row);
}

export function toDebitRecord(row: PaymentRow): DebitRecord {
  return {
    ...toCommonRecord(row),
    kind: "DEBIT",
    status: row.status as OriginalStatus,
    requestKey: row.request_key,
    refundedCents: row.refunded_cents,
    settledAt: row.settled_at,
  };
}

function toRefundRecord(row: PaymentRow): RefundRecord {
  return {
    ...toCommonRecord(row),
    kind: "REFUND",
    status: row.status as RefundStatus,
    requestKey: row.request_key as string,
    softDescriptor: row.soft_descriptor,
    originalPaymentId: row.original_payment_id as string,
    dueAt: row.due_at,
    failure: toFailure(row),
  };
}

function toCommonRecord(row: PaymentRow): CommonRecord {
  return {
    paymentId: row.payment_id,
    merchant: row.merchant,
    amountCents: row.amount_cents,
    clientReferenceId: row.client_reference_id,
    history: row.history,
    createdAt: row.created_at,
  };
}

function toFailure(row: Pick<PaymentRow, "error_code" | "error_message">): RefundFailure | null {
  if (row.error_code === null || row.error_message === null) return null;
  return { errorCode: row.error_code, errorMessage: row.error_message };
}

/**
 * The texts of a payment record that merchants choose freely, read exactly as they were written. As JSON, because the driver
 * of the embedded store drops U+FEFF at the beginning of a text as a byte order mark.
 */
export const exactTexts = [
  sql<string | null>`to_jsonb(client_reference_id)`.as("client_reference_id"),
  sql<string | null>`to_jsonb(request_key)`.as("request_key"),
] as const;

/** A requestKey of a merchant. */
export type RequestKey = { readonly merchant: string; readonly requestKey: string };

/** The condition that a row of `payments` is one of these payments or refunds of a merchant. */
export function isOneOf(merchant: string, paymentIds: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`merchant = ${merchant} and payment_id = any(${paymentIds}::text[])`;
}

/** A payment or refund of this merchant. */
export async function getPayment(db: Db, key: PaymentKey): Promise<PaymentRecord | undefined> {
  return findOne(db, sql`merchant = ${key.merchant} and payment_id = ${key.paymentId}`);
}

/** The payment or refund that has a requestKey of this merchant (D10). */
export async function findByRequestKey(db: Db, key: RequestKey): Promise<PaymentRecord | undefined> {
  return findOne(db, sql`merchant = ${key.merchant} and request_key = ${key.requestKey}`);
}

async function findOne(db: Db, which: RawBuilder<unknown>): Promise<PaymentRecord | undefined> {
  const { rows } = await sql<PaymentRow>`
    select payments.*, ${sql.join(exactTexts)} from payments where ${which}`.execute(db);
  return rows[0] && toPaymentRecord(rows[0]);
}

/** The call that issued a refund: who made it, and its trace (D33). */
export type IssuingCall = { readonly caller: CallerIdentity | null; readonly trace: TraceContext | null };

/** The calls that issued refunds of a merchant, by paymentId. None for a refund whose first event was removed or erased. */
export async function readIssuingCalls(
  db: Db,
  { merchant, paymentIds }: { merchant: string; paymentIds: readonly string[] },
): Promise<ReadonlyMap<string, IssuingCall>> {
  const { rows } = await sql<IssuingCall & { resource_id: string }>`
    select resource_id, caller, trace from events
    where resource_id = any(${[...paymentIds]}::text[]) and merchant = ${merchant} and split_part(type, '.', 1) = 'refund'
      and sequence = 1`.execute(db);
  return new Map(rows.map(({ resource_id, ...call }) => [resource_id, call]));
}

export type PaymentPage = {
  readonly payments: readonly PaymentRecord[];
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
};

type Position = { readonly createdAt: Date; readonly paymentId: string };

/**
 * The payments and refunds of a merchant, newest first. Records that are added while a caller reads the pages come
 * before the first page and do not shift the others.
 *
 * @param limit how many at most, from 1
 * @param cursor `nextCursor` of the page before
 * @returns "invalid-cursor" for a cursor that is not the `nextCursor` of a page
 */
export async function listPayments(
  db: Db,
  {
    merchant,
    kind,
    originalPaymentId,
    status,
    text,
    limit,
    cursor,
  }: {
    merchant: string;
    kind?: "DEBIT" | "REFUND" | undefined;
    originalPaymentId?: string | undefined;
    status?: PaymentRecord["status"] | undefined;
    /** A part of an identifier, a reference or a key, in upper or lower case. */
    text?: string | undefined;
    limit: number;
    cursor?: string | undefined;
  },
): Promise<PaymentPage | "invalid-cursor"> {
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  if (cursor !== undefined && !after) return "invalid-cursor";

  const named = sql`concat_ws(' ', payment_id, original_payment_id, client_reference_id, request_key)`;
  const conditions = [
    sql`merchant = ${merchant}`,
    // A payment has few refunds, which have an index of their own. All other queries need the condition of the index for the
    // newest payments.
    originalPaymentId === undefined ? sql`sequence >= 0` : sql`original_payment_id = ${originalPaymentId}`,
    ...(kind ? [sql`kind = ${kind}`] : []),
    ...(status ? [sql`status = ${status}`] : []),
    ...(text === undefined ? [] : [sql`strpos(lower(${named}), lower(${text}::text)) > 0`]),
    ...(after ? [sql`(created_at, payment_id) < (${after.createdAt}::timestamptz, ${after.paymentId})`] : []),
  ];
  const { rows } = await sql<PaymentRow>`
    select payments.*, ${sql.join(exactTexts)} from payments where ${sql.join(conditions, sql` and `)}
    order by created_at desc, payment_id desc
    limit ${limit + 1}`.execute(db); // one more than requested shows whether there is a next page

  const payments = rows.slice(0, limit).map(toPaymentRecord);
  const last = payments.at(-1);
  return { payments, nextCursor: last && rows.length > limit ? toCursor(last) : null };
}

/** No record is of such a time, and the embedded store takes none with more digits. */
const YEAR_10000 = new Date(253_402_300_800_000);

function toCursor({ createdAt, paymentId }: Position): string {
  return Buffer.from(`${createdAt.getTime()} ${paymentId}`).toString("base64url");
}

function fromCursor(cursor: string): Position | undefined {
  const [, time, paymentId] =
    /^(\d{1,15}) (.{1,64})$/su.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (time === undefined || paymentId === undefined || paymentId.includes("\0")) return undefined;
  const createdAt = new Date(Number(time));
  return createdAt < YEAR_10000 ? { createdAt, paymentId } : undefined;
}
