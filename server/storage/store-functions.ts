import { createBatcher } from "../async/batcher.ts";
import { countDue, findNextDue, readBacklog, readLastCheck } from "./backlog.ts";
import { block, listBlocks, unblock } from "./blocks-table.ts";
import { advance, readOffset } from "./clock-offset.ts";
import { repeatAfterConflicts } from "./database/database-errors.ts";
import type { Db } from "./database/db-types.ts";
import type { Connection } from "./database/listen-notify.ts";
import { findMissingTriggers } from "./database/payment-triggers.ts";
import { authorizeRefunds, findDue } from "./payments/authorize-due-refunds.ts";
import { findMissing, holdAfterRestore, readHighWaterMark } from "./payments/high-water-mark.ts";
import { hold, listHolds, release } from "./payments/holds.ts";
import { insertPayment, transitionOriginal } from "./payments/original-transitions.ts";
import { getPayment, listPayments, readIssuingCalls } from "./payments/payment-record.ts";
import { leaveFeed, publishPayouts } from "./payments/payout-feed.ts";
import { reconcileRefund } from "./payments/reconcile.ts";
import { createRefundQueue, type RefundQueue } from "./payments/refund-queue.ts";
import { findByRequestKeys, loadOriginals, saveRefunds } from "./payments/save-refunds.ts";
import { findToken, insertFixtures, insertToken, resetMerchant } from "./sandbox-data.ts";
import { reportCalls } from "./shared-rate-limit.ts";
import { claimMode } from "./start-check.ts";
import { changeSecret, forgetOldSecrets } from "./webhooks/change-secret.ts";
import {
  claimDeliveries,
  freeLeases,
  listWaiting,
  readShares,
  releaseClaim,
} from "./webhooks/claim-deliveries.ts";
import { removeOld } from "./webhooks/delete-expired.ts";
import { findSentDelivery, listDeliveries, redeliver } from "./webhooks/deliveries.ts";
import { emitFurtherEvent, emitResourceEvent, listEvents } from "./webhooks/event-fan-out.ts";
import { type EndedAttempt, recordAttempts, recordPace } from "./webhooks/record-attempts.ts";
import { readKeyUses } from "./webhooks/secret-encryption.ts";
import {
  endSomeDeliveries,
  endSubscription,
  findSubscription,
  findSubscriptionTo,
  forgetSubscribers,
  insertSubscription,
  listSubscriptions,
} from "./webhooks/subscriptions.ts";

/**
 * Everything that a server does with its database, by name. `db`: under the time limits of calls; `background`: under longer ones, for
 * work that no caller waits for or that may change very many rows.
 */
export const STORE_FUNCTIONS = {
  advance: [advance, "db"],
  authorizeRefunds: [authorizeRefunds, "background"],
  block: [block, "db"],
  changeSecret: [changeSecret, "db"],
  claimDeliveries: [claimDeliveries, "background"],
  claimMode: [claimMode, "db"],
  countDue: [countDue, "db"],
  emitFurtherEvent: [emitFurtherEvent, "db"],
  emitResourceEvent: [emitResourceEvent, "db"],
  endSomeDeliveries: [endSomeDeliveries, "background"],
  endSubscription: [endSubscription, "background"],
  findByRequestKeys: [findByRequestKeys, "db"],
  findDue: [findDue, "background"],
  findNextDue: [findNextDue, "db"],
  findMissing: [findMissing, "background"],
  findMissingTriggers: [findMissingTriggers, "db"],
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
  leaveFeed: [leaveFeed, "background"],
  listBlocks: [listBlocks, "background"],
  listDeliveries: [listDeliveries, "db"],
  listEvents: [listEvents, "db"],
  listHolds: [listHolds, "db"],
  listPayments: [listPayments, "db"],
  listSubscriptions: [listSubscriptions, "db"],
  listWaiting: [listWaiting, "background"],
  loadOriginals: [loadOriginals, "db"],
  publishPayouts: [publishPayouts, "background"],
  readBacklog: [readBacklog, "background"],
  readHighWaterMark: [readHighWaterMark, "background"],
  readIssuingCalls: [readIssuingCalls, "db"],
  readKeyUses: [readKeyUses, "background"],
  readLastCheck: [readLastCheck, "background"],
  readOffset: [readOffset, "db"],
  readShares: [readShares, "background"],
  reconcileRefund: [reconcileRefund, "db"],
  recordAttempts: [recordAttempts, "db"],
  recordPace: [recordPace, "db"],
  redeliver: [redeliver, "db"],
  release: [release, "db"],
  releaseClaim: [releaseClaim, "db"],
  removeOld: [removeOld, "background"],
  reportCalls: [reportCalls, "db"],
  resetMerchant: [resetMerchant, "background"],
  saveRefunds: [saveRefunds, "db"],
  transitionOriginal: [transitionOriginal, "background"],
  unblock: [unblock, "db"],
} as const satisfies Record<string, readonly [StoreFunction, keyof Connections]>;

export type Connections = { readonly db: Db; readonly background: Db };
/** A storage function. Each is atomic, and may be repeated. */
export type StoreFunction = (db: Db, ...rest: never[]) => unknown;

/** The storage functions, whose first argument, the connection, is already given. */
export type StoreFunctions = {
  readonly [Name in keyof typeof STORE_FUNCTIONS]: (typeof STORE_FUNCTIONS)[Name][0] extends (
    db: Db,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives each function the connections for its kind of work, and repeats it after conflicts. */
export function bindFunctions(connections: Connections): StoreFunctions {
  const bound = Object.entries(STORE_FUNCTIONS).map(([name, [run, kind]]) => [
    name,
    (...rest: never[]) =>
      repeatAfterConflicts(async () => (run as StoreFunction)(connections[kind], ...rest)),
  ]);
  return Object.fromEntries(bound); // the mapped type above describes each function
}

/** What shares statements with other calls of the same time. */
export type Batches = RefundQueue & {
  /** Resolves with whether the result was written, as `recordAttempts` says. */
  recordAttempt(attempt: EndedAttempt): Promise<boolean>;
};

export type BatchedFunctions = Pick<
  StoreFunctions,
  "findByRequestKeys" | "loadOriginals" | "recordAttempts" | "saveRefunds"
>;

export function createBatches(functions: BatchedFunctions): Batches {
  const record = async (attempts: readonly EndedAttempt[]) => {
    const recorded = await functions.recordAttempts(attempts);
    return attempts.map(({ webhookId }) => recorded.has(webhookId));
  };
  const recordAttempt = createBatcher(record);
  return { ...createRefundQueue(functions), recordAttempt: (attempt) => recordAttempt(attempt) };
}

export type StoreParts = {
  readonly functions: StoreFunctions;
  readonly batches: Batches;
  readonly listen: Connection["listen"];
  /** Closes the database, too. */
  close(): Promise<void>;
};
