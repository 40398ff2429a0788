import type { ColumnType, Generated, Kysely, RawBuilder } from "kysely";
import type { CallerIdentity } from "../../domain/caller-identity.ts";
import type { DeliveryState } from "../../domain/delivery-outcome.ts";
import type { EventType, SubscriptionType } from "../../domain/events.ts";
import type { OriginalStatus, RefundErrorCode, RefundStatus } from "../../domain/refunds.ts";
import type { TraceContext } from "../../domain/trace-context.ts";

/** The database, or a transaction in it; every storage function takes one first. */
export type Db = Kysely<Tables>;

/** A value of a statement, or an expression for it where the statement is part of another text. */
export type Value<Type> = Type | RawBuilder<Type>;

/** A status that a payment took, and the domain time at which it did (ISO 8601, UTC). */
export type HistoryEntry = { readonly status: RefundStatus | OriginalStatus; readonly at: string };

export type AccessTokensTable = {
  token_sha256: Uint8Array;
  merchant: string;
  scopes: string[];
};

/** Original payments and refunds in one table, because a requestKey is unique among both (D10). */
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

/** An authorized refund that is not in the payout feed yet; written in the transaction that authorizes it. */
export type PayoutsWaitingTable = {
  payment_id: string;
  merchant: string;
  authorized_at: Date;
};

/** A refund that the payment system knows from the payout feed, perhaps from before a restore of the database. */
export type PayoutsTable = {
  payment_id: string;
  merchant: string;
  authorized_at: Generated<Date | null>;
  /** Its position in the feed: about the time at which it was published, in microseconds since 1970. */
  position: Generated<number | null>;
  /** The id under which the payment system had it before the database was restored; the feed leaves it out. */
  paid_as: string | null;
};

/** An event is written in the transaction that changes a status, with its deliveries (D20a). */
export type EventsTable = {
  event_id: string;
  merchant: string;
  type: EventType;
  resource_id: string;
  sequence: number;
  occurred_at: Date;
  payload: string;
  /** Who made the call that caused it; null when no call did, as for a refund that became due. */
  caller: CallerIdentity | null;
  /** The trace of the call that issued the refund, with each of its events (D33). */
  trace: Generated<TraceContext | null>;
};

export type SubscriptionsTable = {
  subscription_key: string;
  merchant: string;
  url: string;
  /** Null exactly when the subscription has ended. */
  secret_ciphertext: Uint8Array | null;
  /** The secret before the last change, while it signs too, or until it is forgotten after that. */
  old_secret_ciphertext: Generated<Uint8Array | null>;
  /** Until when the old secret signs or signed, in domain time (D30). */
  old_secret_until: Generated<Date | null>;
  /** When the secret was changed last, in domain time (D30); null when it never was. */
  secret_changed_at: Generated<Date | null>;
  type: SubscriptionType;
  details: string[];
  created_at: Date;
  ended_at: Date | null;
  /** Attempts in a row that ended by a timeout; null before the first attempt has ended. */
  timeouts: Generated<number | null>;
  /** Who subscribed; null when it was erased. */
  caller: ColumnType<CallerIdentity | null, string | null | undefined, null>;
};

/** One event on its way to one subscription. */
export type DeliveriesTable = {
  webhook_id: string;
  event_id: string;
  merchant: string;
  subscription_key: string;
  state: DeliveryState;
  /** When the next attempt is due, in domain time (D30); null exactly when none follows. */
  due_at: Date | null;
  attempts: number;
  /** A redelivery was requested after it was finished: it is sent once, and never retried. */
  only_once: boolean;
  /** A redelivery was requested during an attempt: it is sent once more after that attempt. */
  redelivery_requested: boolean;
  /** Grows with every lease; a process with an older fence may no longer write the result. */
  fence: number;
  /** End of the lease, in real time; null while no process has the delivery in progress. */
  leased_until: Date | null;
  /** Whether its attempt is under way: true for as long as it is leased. */
  sending: boolean;
};

export type DeliveryAttemptsTable = {
  webhook_id: string;
  merchant: string;
  /** From 1, over all rounds. */
  number: number;
  /** Real time at which it began. */
  at: Date;
  /** When it ended, in domain time (D30). */
  domain_at: Date | null;
  status: number | null;
  error: string | null;
  milliseconds: number;
  /** The first 1,024 bytes of the body of the receiver's response. */
  response: string | null;
};

/** At most one row; without one the clock was never advanced (D30). */
export type ClockTable = {
  single_row: Generated<boolean>;
  offset_ms: number;
};

/** Whose refunds are not authorized for now. */
export type HoldsTable = {
  /** Empty: all merchants. */
  merchant: string;
  reason: string;
  /** Real time. */
  held_at: Generated<Date>;
};

/** Until when a merchant's events were erased on request. */
export type ErasuresTable = {
  merchant: string;
  /** Real time. */
  before: Date;
};

/** Up to which number the events of a payment were erased with what a customer's reference led to. */
export type ErasedPaymentsTable = {
  payment_id: string;
  merchant: string;
  sequence: number;
};

export type Tables = {
  access_tokens: AccessTokensTable;
  payments: PaymentsTable;
  payouts_waiting: PayoutsWaitingTable;
  payouts: PayoutsTable;
  events: EventsTable;
  subscriptions: SubscriptionsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  clock: ClockTable;
  holds: HoldsTable;
  erasures: ErasuresTable;
  erased_payments: ErasedPaymentsTable;
};
