import type { Dialect, DialectAdapter, QueryExecutorProvider, RawBuilder } from "kysely";
import type { Store } from "../database/tables.ts";
import type { EndedAttempt } from "./attempts.ts";
import {
  type Attempt,
  type ClaimRequest,
  type Shares,
  type SharesRequest,
  toWaiting,
  type Waiting,
  waitingStatement,
} from "./claims.ts";
import type { NewEvent } from "./events.ts";
import type { exactTexts, PaymentKey, PaymentRecord, RequestKey } from "./payment-record.ts";
import type { Published } from "./payouts.ts";
import type { LoadedOriginal, NewRefund } from "./refunds.ts";
import type { OldRows, RemovedBatch, RetentionBatch } from "./retention.ts";

/** What belongs to a merchant. */
export type OfMerchant = { readonly merchant: string };

/**
 * The statements that each engine writes in its own way. The module that opens the store chooses between the sets of
 * `postgres/` and `citus/`; everything else is the same on both.
 */
export type Statements = {
  /** What may share a statement: items with the same key; all items when undefined. */
  readonly batchKey: ((item: OfMerchant) => string) | undefined;
  /** `exactTexts` in the form in which a change can return them. */
  readonly returnedTexts: typeof exactTexts | readonly [];
  /** The same for a statement that is written as SQL. */
  readonly returnedTextColumns: RawBuilder<unknown>;
  /** The store in which the rows of a merchant are; without it, they are all in the same. */
  readonly storeOf?: (merchant: string) => Promise<Store>;
  /** The shard with the rows of a merchant, as far as is known; only of a machine's store. */
  readonly shardOf?: ((merchant: string) => number | undefined) | undefined;
  /** The store for a storage function, by its name, when it has these arguments; undefined: the store that it has. */
  readonly storeFor?: (name: string, rest: readonly unknown[]) => Promise<Store | undefined>;
  /** The condition that a row of `payments` is one of these, which may share a statement. */
  isOneOf(keys: readonly PaymentKey[]): RawBuilder<boolean>;

  /**
   * Runs a query over the rows of all merchants, whose rows hold texts, numbers and booleans only.
   *
   * @returns its rows; on a cluster those of each part of the tables, one after the other, without those of machines that don't
   *   respond
   */
  findOverall<Row>(store: Store, query: RawBuilder<Row>): Promise<Row[]>;

  /** Loads the payments on which refunds are decided, and the clock. Returns them in the order of the keys. */
  loadOriginals(store: Store, keys: readonly PaymentKey[]): Promise<readonly LoadedOriginal[]>;

  /**
   * Saves refunds, adds their amounts to the originals' `refunded_cents`, and writes their events with the deliveries. Skips a
   * refund whose decision no longer holds, or whose requestKey is used, even by an earlier one of these.
   *
   * @param options.lockTimeoutMs how long to wait for each lock, such as one on an original, before the statement fails; 0: no
   *   limit of its own
   * @returns in the order of the refunds whether each was saved; otherwise its key is used (`findByRequestKeys` finds by what),
   *   or the decision must be made again
   */
  saveRefunds(
    store: Store,
    refunds: readonly NewRefund[],
    options?: { lockTimeoutMs?: number },
  ): Promise<readonly boolean[]>;

  /** The payments or refunds that have requestKeys of their merchants (D10), in the order of the keys. */
  findByRequestKeys(
    store: Store,
    keys: readonly RequestKey[],
  ): Promise<readonly (PaymentRecord | undefined)[]>;

  /**
   * Moves refunds that wait for it and are not held into the payout feed, oldest first. One transaction at a time may do so.
   *
   * @param limit how many at most
   */
  publishWaiting(transaction: Store, limit: number): Promise<Published>;

  /** Writes events and one delivery for each live subscription that matches (D20a), and notifies the servers. */
  insertEvents(store: Store, events: readonly NewEvent[]): Promise<void>;

  /** Runs a change of deliveries, notifies the servers when it changed any, and returns its rows. */
  changeAndNotify<Row>(store: Store, change: RawBuilder<Row>): Promise<Row[]>;

  /**
   * Frees the deliveries whose lease has run out: their server is dead, or was paused for so long that it counts as dead.
   *
   * @param options.all also those whose lease still runs; only when no other server can be using this store
   */
  freeLeases(store: Store, options?: { all?: boolean }): Promise<void>;

  /**
   * The live subscriptions of some merchants with a due delivery, and how many of theirs are in progress, because every claim needs
   * both.
   *
   * Subscriptions with due deliveries come in a random order. In order of age, those with the oldest deliveries would take every
   * free slot, and a receiver that has recovered would not be tried.
   */
  readShares(store: Store, request: SharesRequest): Promise<Shares>;

  /**
   * Claims due deliveries for the time of a lease (ms), within which the attempts must end. The subscriptions must be such that
   * they may share a statement.
   */
  claimDeliveries(store: Store, request: ClaimRequest): Promise<Attempt[]>;

  /**
   * Writes the results of attempts and the next state of each delivery, where the fence and the lease still hold. A server that
   * was paused past its lease writes nothing: another one has the delivery, or will have it.
   *
   * The commit does not wait for the disk: results that a crash of the database loses leave their deliveries claimed, and they
   * are sent again when the lease has run out. A claim does wait, because a lost one could be sent twice at the same time.
   *
   * A receiver that refuses all further deliveries ends its subscription here. The waiting deliveries of that subscription are
   * ended by `endSomeDeliveries`, because there may be many, and the results of other attempts must not wait for them.
   *
   * @returns the webhookIds of the results that were written
   */
  recordAttempts(store: Store, attempts: readonly EndedAttempt[]): Promise<Set<string>>;

  /** Adds a refund, in cents, to the sum of its original payment where the database does not do that by itself. */
  countRefund(store: Store, original: PaymentKey, amountCents: number): Promise<void>;

  /** The triggers of payments that should be there, and are not, or are disabled. */
  findMissingTriggers(store: QueryExecutorProvider): Promise<readonly string[]>;

  /** Removes those rows of a batch that may go; one server at a time. */
  removeOld(store: Store, table: OldRows, batch: RetentionBatch): Promise<RemovedBatch>;
};

/** The dialect of a store that uses these statements: its adapter carries them, with every transaction of the store. */
export function withStatements<SomeDialect extends Dialect>(
  dialect: SomeDialect,
  statements: Statements,
): SomeDialect {
  const adapter = Object.assign(dialect.createAdapter(), { statements });
  return Object.assign(dialect, { createAdapter: () => adapter });
}

/** The statements of a store, or of a transaction in it. */
export function statementsOf(store: QueryExecutorProvider): Statements {
  const adapter = store.getExecutor().adapter as DialectAdapter & { statements: Statements };
  return adapter.statements; // `withStatements` made every store's dialect
}

/** The store in which the rows of a merchant are; a transaction stays where it is. */
export async function storeOf(store: Store, merchant: string): Promise<Store> {
  if (store.isTransaction) return store;
  return (await statementsOf(store).storeOf?.(merchant)) ?? store;
}

/** The items that may share a statement, together. */
export function toBatches<Item extends OfMerchant>(
  items: readonly Item[],
  batchKey: Statements["batchKey"],
): (readonly Item[])[] {
  return batchKey ? [...Map.groupBy(items, batchKey).values()] : [items];
}

export const loadOriginals: Statements["loadOriginals"] = (store, keys) =>
  statementsOf(store).loadOriginals(store, keys);

export const saveRefunds: Statements["saveRefunds"] = (store, refunds, options) =>
  statementsOf(store).saveRefunds(store, refunds, options);

export const findByRequestKeys: Statements["findByRequestKeys"] = (store, keys) =>
  statementsOf(store).findByRequestKeys(store, keys);

export const insertEvents: Statements["insertEvents"] = async (store, events) => {
  if (events.length > 0) await statementsOf(store).insertEvents(store, events);
};

export const freeLeases: Statements["freeLeases"] = (store, options) =>
  statementsOf(store).freeLeases(store, options);

/**
 * A page of the subscriptions with waiting deliveries, in the order of their keys.
 *
 * @param page.now the domain's time (D30)
 * @param page.after the last key of the page before
 */
export async function listWaiting(
  store: Store,
  page: { now: Date; after: string; limit: number },
): Promise<Waiting[]> {
  const rows = await statementsOf(store).findOverall(store, waitingStatement(page));
  // On a cluster, each part of the tables has its own page.
  const inOrder = rows.toSorted((a, b) => (a.subscription_key < b.subscription_key ? -1 : 1));
  return inOrder.slice(0, page.limit).map(toWaiting);
}

export const readShares: Statements["readShares"] = (store, request) =>
  statementsOf(store).readShares(store, request);

export const claimDeliveries: Statements["claimDeliveries"] = (store, request) =>
  statementsOf(store).claimDeliveries(store, request);

export const recordAttempts: Statements["recordAttempts"] = (store, attempts) =>
  statementsOf(store).recordAttempts(store, attempts);

/** Removes deliveries that are finished, with their attempts. Pending ones stay, however old, and so do those sent again lately. */
export async function removeDeliveries(store: Store, batch: RetentionBatch): Promise<RemovedBatch> {
  return statementsOf(store).removeOld(store, "deliveries", batch);
}

/** Removes events without deliveries, except for the newest one of an account or customer. */
export async function removeEvents(store: Store, batch: RetentionBatch): Promise<RemovedBatch> {
  return statementsOf(store).removeOld(store, "events", batch);
}
