import type { ColumnType, Generated, Kysely } from "kysely";
import type { EventType } from "../domain/events.ts";
import type { OriginalStatus, RefundErrorCode, RefundStatus } from "../domain/refunds.ts";

/** What storage functions run on: the database, or a transaction in it. */
export type Store = Kysely<Tables>;

/** A status that a payment took, and when by the domain's clock (ISO 8601, UTC). */
export type HistoryEntry = { readonly status: RefundStatus | OriginalStatus; readonly at: string };

export type AccessTokensTable = {
  token_sha256: Uint8Array;
  merchant: string;
  scopes: string[];
};

/** Original payments and refunds alike, because one requestKey is unique among both (D10). */
export type PaymentsTable = {
  payment_id: string;
  merchant: string;
  kind: "DEBIT" | "REFUND";
  status: OriginalStatus | RefundStatus;
  amount_cents: number;
  request_key: string | null;
  client_reference_id: string | null;
  soft_descriptor: string | null;
  original_payment_id: string | null;
  refunded_cents: Generated<number>;
  settled_at: Date | null;
  due_at: Date | null;
  error_code: RefundErrorCode | null;
  error_message: string | null;
  history: ColumnType<HistoryEntry[], string, string>;
  sequence: number;
  created_at: Date;
};

/** The outbox (D20a): written in the transaction that changes a status, sent by somebody else. */
export type EventsTable = {
  event_id: string;
  merchant: string;
  type: EventType;
  resource_id: string;
  sequence: number;
  occurred_at: Date;
  payload: string;
  dispatched_at: Date | null;
};

export type SubscriptionsTable = {
  subscription_key: string;
  merchant: string;
  url: string;
  secret_ciphertext: Uint8Array;
  type: "EVENT" | "CATEGORY" | "ALL";
  details: string[];
  created_at: Date;
  ended_at: Date | null;
};

/** At most one row; none means that the clock was never moved (D30). */
export type ClockTable = {
  single_row: Generated<boolean>;
  offset_ms: number;
};

export type Tables = {
  access_tokens: AccessTokensTable;
  payments: PaymentsTable;
  events: EventsTable;
  subscriptions: SubscriptionsTable;
  clock: ClockTable;
};
