import type { OnRun } from "../async/batcher.ts";
import { block, listBlocks, unblock } from "./blocks.ts";
import { findToken, insertToken, reportCalls } from "./callers.ts";
import { readLastCheck } from "./check.ts";
import { repeatAfterConflicts } from "./database/conflicts.ts";
import { advance, claimMode, readOffset } from "./database/deployment.ts";
import type { Store } from "./database/tables.ts";
import type { Database } from "./database.ts";
import { countDue, listDue } from "./due-queries.ts";
import { insertFixtures, resetMerchant } from "./fixtures.ts";
import { authorizeDue } from "./payments/due-refunds.ts";
import { findMissing, holdAfterRestore, readHighWaterMark } from "./payments/high-water-mark.ts";
import { hold, listHolds, release } from "./payments/holds.ts";
import { getPayment, listPayments, readIssuingCalls } from "./payments/payment-queries.ts";
import { coverOriginal, failOriginal, insertPayment, settleOriginal } from "./payments/payments.ts";
import { publishPayouts } from "./payments/payouts.ts";
import { createRefundStore, type RefundStore, saveRefundInTime } from "./payments/refund-batches.ts";
import {
  claimDeliveries,
  findByRequestKeys,
  freeLeases,
  listWaiting,
  loadOriginals,
  readShares,
  recordAttempts,
  removeDeliveries,
  removeEvents,
  type Statements,
  saveRefunds,
  statementsOf,
} from "./statements/statements.ts";
import { recordPace, releaseClaim } from "./webhooks/attempts.ts";
import { readBacklog } from "./webhooks/backlog.ts";
import { changeSecret, forgetOldSecrets } from "./webhooks/change-secret.ts";
import { listDeliveries, redeliver, redeliverMany } from "./webhooks/deliveries.ts";
import { readKeyUses } from "./webhooks/encryption-keys.ts";
import { emitFurtherEvent, emitResourceEvent } from "./webhooks/resource-events.ts";
import {
  endSomeDeliveries,
  endSubscription,
  forgetSubscribers,
  insertSubscription,
} from "./webhooks/subscriptions.ts";
import {
  findEvent,
  findSentDelivery,
  findSubscription,
  findSubscriptionTo,
  listEvents,
  listSubscriptions,
} from "./webhooks/webhook-queries.ts";

/**
 * All storage functions of a server, and whose connections and time limits they use: `db` those of calls; `background` those of
 * work that no caller waits for or that may change very many rows, which under the limits of calls might never end.
 */
const FUNCTIONS = {
  advance: [advance, "db"],
  authorizeDue: [authorizeDue, "background"],
  block: [block, "db"],
  changeSecret: [changeSecret, "db"],
  claimDeliveries: [claimDeliveries, "background"],
  claimMode: [claimMode, "db"],
  countDue: [countDue, "db"],
  coverOriginal: [coverOriginal, "background"],
  emitFurtherEvent: [emitFurtherEvent, "db"],
  emitResourceEvent: [emitResourceEvent, "db"],
  endSomeDeliveries: [endSomeDeliveries, "background"],
  endSubscription: [endSubscription, "background"],
  failOriginal: [failOriginal, "background"],
  findEvent: [findEvent, "db"],
  findMissing: [findMissing, "background"],
  findSentDelivery: [findSentDelivery, "db"],
  findSubscription: [findSubscription, "db"],
  findSubscriptionTo: [findSubscriptionTo, "db"],
  findToken: [findToken, "db"],
  forgetOldSecrets: [forgetOldSecrets, "background"],
  forgetSubscribers: [forgetSubscribers, "background"],
  freeLeases: [freeLeases, "background"],
  getPayment: [getPayment, "db"],
  hold: [hold, "db"],
  holdAfterRestore: [holdAfterRestore, "background"],
  insertFixtures: [insertFixtures, "db"],
  insertPayment: [insertPayment, "db"],
  insertSubscription: [insertSubscription, "db"],
  insertToken: [insertToken, "db"],
  listBlocks: [listBlocks, "background"],
  listDeliveries: [listDeliveries, "db"],
  listDue: [listDue, "db"],
  listEvents: [listEvents, "db"],
  listHolds: [listHolds, "db"],
  listPayments: [listPayments, "db"],
  listSubscriptions: [listSubscriptions, "db"],
  listWaiting: [listWaiting, "background"],
  publishPayouts: [publishPayouts, "background"],
  readBacklog: [readBacklog, "background"],
  readHighWaterMark: [readHighWaterMark, "background"],
  readIssuingCalls: [readIssuingCalls, "db"],
  readKeyUses: [readKeyUses, "background"],
  readLastCheck: [readLastCheck, "background"],
  readOffset: [readOffset, "db"],
  readShares: [readShares, "background"],
  recordAttempts: [recordAttempts, "db"],
  recordPace: [recordPace, "db"],
  redeliver: [redeliver, "db"],
  redeliverMany: [redeliverMany, "db"],
  release: [release, "db"],
  releaseClaim: [releaseClaim, "db"],
  removeDeliveries: [removeDeliveries, "background"],
  removeEvents: [removeEvents, "background"],
  reportCalls: [reportCalls, "db"],
  resetMerchant: [resetMerchant, "background"],
  settleOriginal: [settleOriginal, "background"],
  unblock: [unblock, "db"],
} as const satisfies Record<string, readonly [StorageFunction, keyof Stores]>;

type Stores = Pick<Database, "db" | "background">;

/** The storage functions of a server, bound to its store. Each of its parts declares which of them it uses. */
export type BoundStorage = Bound<{ [Name in keyof typeof FUNCTIONS]: (typeof FUNCTIONS)[Name][0] }> &
  RefundStore &
  Pick<Statements, "batchKey">;

/** Binds each function to the connections for its kind of work. */
export function bindStorage(stores: Stores, onRun?: OnRun): BoundStorage {
  const bound = Object.entries(FUNCTIONS).map(([name, [run, kind]]) => [name, bind(stores[kind], run)]);
  const { db } = stores;
  const { batchKey } = statementsOf(db);
  const statements = bindStore(db, { loadOriginals, saveRefunds, saveRefundInTime, findByRequestKeys });
  return { ...Object.fromEntries(bound), ...createRefundStore(statements, batchKey, onRun), batchKey };
}

type StorageFunction = (store: Store, ...rest: never[]) => unknown;

/** Storage functions whose first argument, the store, is already given. */
export type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    store: Store,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Binds functions to a store, so that their callers do not depend on it. Each is atomic, and may be repeated. */
export function bindStore<const Functions extends Record<string, StorageFunction>>(
  store: Store,
  functions: Functions,
): Bound<Functions> {
  const entries = Object.entries(functions).map(([name, run]) => [name, bind(store, run)]);
  return Object.fromEntries(entries); // the mapped type above describes each function
}

function bind(store: Store, run: StorageFunction) {
  const { storeFor } = store.isTransaction ? {} : statementsOf(store);
  const choose = async (rest: never[]) => (await storeFor?.(run.name, rest)) ?? store;
  return (...rest: never[]) =>
    repeatAfterConflicts(async () => run(storeFor ? await choose(rest) : store, ...rest));
}
