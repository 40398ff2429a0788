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

/** What has happened: written in the transaction that changes a status, with its deliveries (D20a). */
export type EventsTable = {
  event_id: string;
  merchant: string;
  type: EventType;
  resource_id: string;
  sequence: number;
  occurred_at: Date;
  payload: string;
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

export type DeliveryState = "PENDING" | "DELIVERED" | "EXHAUSTED" | "ENDED";

/** One event on its way to one subscription. */
export type DeliveriesTable = {
  webhook_id: string;
  event_id: string;
  merchant: string;
  subscription_key: string;
  state: DeliveryState;
  /** When the next attempt is due, in the domain's time (D30); null exactly when none is. */
  due_at: Date | null;
  /** Attempts of the present round, which a redelivery begins anew. */
  attempts: number;
  /** Asked for by the merchant, and so sent although the subscription has ended. */
  forced: boolean;
  /** Asked for while an attempt was under way: to be sent once more after it. */
  again: boolean;
  /** Grows with every lease taken; who holds an older one may no longer write. */
  fence: number;
  /** Until when somebody has it in hand, in real time. */
  leased_until: Date | null;
  /** Whether an attempt is under way, rather than waiting for a free place. */
  sending: boolean;
};

export type DeliveryAttemptsTable = {
  webhook_id: string;
  /** From 1, over all rounds. */
  number: number;
  /** Real time. */
  at: Date;
  status: number | null;
  error: string | null;
  milliseconds: number;
  /** What the receiver answered, its first 1,024 bytes. */
  answer: string | null;
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
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  clock: ClockTable;
};
