import { type RawBuilder, sql } from "kysely";
import type { CallerIdentity } from "../../domain/caller-identity.ts";
import type {
  FirstStatus,
  Original,
  OriginalStatus,
  RefundFailure,
  RefundStatus,
} from "../../domain/refund-rules.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Db, HistoryEntry } from "../database/db-types.ts";
import { type Page, type PageOf, toPage } from "../database/pagination.ts";

/** Identifies a payment record: identifiers belong to a merchant. */
export type PaymentKey = { readonly merchant: string; readonly paymentId: string };

type CommonRecord = PaymentKey & {
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
 * The columns of a payment record. Texts that merchants choose freely are read as JSON, because the driver of the embedded store
 * drops U+FEFF at the beginning of a text as a byte order mark.
 */
export const PAYMENT_COLUMNS = sql`payment_id as "paymentId", merchant, kind, status, amount_cents as "amountCents",
  to_jsonb(request_key) as "requestKey", to_jsonb(client_reference_id) as "clientReferenceId", history, created_at as "createdAt",
  refunded_cents as "refundedCents", settled_at as "settledAt", soft_descriptor as "softDescriptor",
  original_payment_id as "originalPaymentId", due_at as "dueAt", error_code as "errorCode", error_message as "errorMessage"`;

/** A refund as decided, with the original payment on which the decision was made. */
export type NewRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  /** The original payment exactly as it was loaded for the decision. */
  readonly original: Original;
  readonly decision: FirstStatus;
  readonly amountCents: number;
  readonly requestKey: string;
  readonly clientReferenceId: string | null;
  readonly softDescriptor: string | null;
  /** Kept with the refund's first event, so that it is removed and erased with it. */
  readonly caller?: CallerIdentity;
  /** Kept with each event of the refund (D33). */
  readonly trace?: TraceContext | undefined;
  /** The domain's time of the decision (D30). */
  readonly now: Date;
};

/** The columns of a new refund besides `kind` and `sequence`: their types, and what they get. */
export const REFUND_COLUMNS = {
  payment_id: ["text", ({ paymentId }) => paymentId],
  merchant: ["text", ({ merchant }) => merchant],
  status: ["text", ({ decision }) => decision.paymentStatus],
  amount_cents: ["bigint", ({ amountCents }) => amountCents],
  request_key: ["text", ({ requestKey }) => requestKey],
  client_reference_id: ["text", ({ clientReferenceId }) => clientReferenceId],
  soft_descriptor: ["text", ({ softDescriptor }) => softDescriptor],
  original_payment_id: ["text", ({ original }) => original.paymentId],
  due_at: ["timestamptz", ({ decision }) => ("dueAt" in decision ? decision.dueAt : null)],
  error_code: ["text", ({ decision }) => ("errorCode" in decision ? decision.errorCode : null)],
  error_message: ["text", ({ decision }) => ("errorCode" in decision ? decision.errorMessage : null)],
  history: ["jsonb", ({ decision, now }) => [{ status: decision.paymentStatus, at: now }]],
  created_at: ["timestamptz", ({ now }) => now],
} satisfies Record<string, [type: string, read: (refund: NewRefund) => unknown]>;

/** The columns with what merchants wrote about their customers: operators can erase it. */
export const CUSTOMER_TEXTS = [
  "client_reference_id",
  "soft_descriptor",
] as const satisfies (keyof typeof REFUND_COLUMNS)[];

type Row<Record> = Omit<Record, "kind" | "status">;
export type PaymentRow = Row<DebitRecord> &
  Row<RefundRecord> & { [Name in keyof RefundFailure]: RefundFailure[Name] | null } & {
    readonly kind: PaymentRecord["kind"];
    readonly status: PaymentRecord["status"];
  };

/** One table holds payments and refunds, because a requestKey is unique among both (D10); its checks ensure what the casts say. */
export function toPaymentRecord(row: PaymentRow): PaymentRecord {
  const {
    refundedCents,
    settledAt,
    softDescriptor,
    originalPaymentId,
    dueAt,
    errorCode,
    errorMessage,
    ...common
  } = row;
  if (row.kind === "DEBIT") return { ...common, refundedCents, settledAt } as DebitRecord;
  const failure = errorCode === null ? null : { errorCode, errorMessage };
  return { ...common, softDescriptor, originalPaymentId, dueAt, failure } as RefundRecord;
}

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
    select ${PAYMENT_COLUMNS} from payments where ${which}`.execute(db);
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

/** Chooses payments and refunds of a merchant by all of the fields that are given. */
export type PaymentChoice = {
  readonly kind?: PaymentRecord["kind"] | undefined;
  readonly originalPaymentId?: string | undefined;
  readonly status?: PaymentRecord["status"] | undefined;
  /** A part of an identifier, a reference or a key, in upper or lower case. */
  readonly text?: string | undefined;
};

/**
 * The payments and refunds of a merchant, newest first. Records that are added while a caller reads the pages come
 * before the first page and do not shift the others.
 * @returns "invalid-cursor" for a cursor that is not the `nextCursor` of a page
 */
export async function listPayments(
  db: Db,
  { merchant, limit, cursor, kind, originalPaymentId, status, text }: PaymentChoice & PageOf,
): Promise<Page<PaymentRecord> | "invalid-cursor"> {
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
    select ${PAYMENT_COLUMNS} from payments where ${sql.join(conditions, sql` and `)}
    order by created_at desc, payment_id desc
    limit ${limit + 1}`.execute(db); // one more than requested shows whether there is a next page
  const records = rows.map(toPaymentRecord);
  return toPage(records, limit, ({ createdAt, paymentId }) => `${createdAt.getTime()} ${paymentId}`);
}

/** No record is of such a time, and the embedded store takes none with more digits. */
const YEAR_10000 = new Date(253_402_300_800_000);

function fromCursor(cursor: string): Pick<CommonRecord, "createdAt" | "paymentId"> | undefined {
  const [, time, paymentId] =
    /^(\d{1,15}) (.{1,64})$/su.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (time === undefined || paymentId === undefined || paymentId.includes("\0")) return undefined;
  const createdAt = new Date(Number(time));
  return createdAt < YEAR_10000 ? { createdAt, paymentId } : undefined;
}
