import { setTimeout } from "node:timers/promises";
import { findToken, insertToken, reportCalls } from "./callers.ts";
import { advance, claimMode, readOffset } from "./database/deployment.ts";
import type { Store } from "./database/tables.ts";
import { isConflict } from "./database/unavailable.ts";
import type { Database } from "./database.ts";
import { listDue } from "./due-queries.ts";
import { insertFixtures, resetMerchant } from "./fixtures.ts";
import { findByRequestKey, getPayment, listPayments } from "./payments/payment-queries.ts";
import { coverOriginal, failOriginal, insertPayment, settleOriginal } from "./payments/payments.ts";
import { createRefundStore, type RefundStore, saveRefundInTime } from "./payments/refund-batches.ts";
import { authorizeDue } from "./payments/refund-transitions.ts";
import {
  findByRequestKeys,
  loadOriginals,
  removeDeliveries,
  removeEvents,
  saveRefunds,
  statementsOf,
} from "./statements/statements.ts";
import { readBacklog } from "./webhooks/backlog.ts";
import { listDeliveries, redeliver } from "./webhooks/deliveries.ts";
import { readKeyUses } from "./webhooks/encryption-keys.ts";
import { emitResourceEvent } from "./webhooks/outbox.ts";
import { endSubscription, insertSubscription } from "./webhooks/subscriptions.ts";
import {
  findEvent,
  findSentDelivery,
  findSubscription,
  listEvents,
  listSubscriptions,
} from "./webhooks/webhook-queries.ts";

/** All storage functions of a server. Each of its parts declares which of them it uses, and gets them bound to the store. */
export const storage = {
  advance,
  authorizeDue,
  claimMode,
  coverOriginal,
  emitResourceEvent,
  endSubscription,
  failOriginal,
  findByRequestKey,
  findEvent,
  findSentDelivery,
  findSubscription,
  findToken,
  getPayment,
  insertFixtures,
  insertPayment,
  insertSubscription,
  insertToken,
  listDeliveries,
  listDue,
  listEvents,
  listPayments,
  listSubscriptions,
  readBacklog,
  readKeyUses,
  readOffset,
  redeliver,
  removeDeliveries,
  removeEvents,
  reportCalls,
  resetMerchant,
  settleOriginal,
};

/** Work that no caller waits for or that may change very many rows: under the time limits of a call it might never end. */
const backgroundStorage = {
  authorizeDue,
  coverOriginal,
  endSubscription,
  failOriginal,
  readBacklog,
  readKeyUses,
  removeDeliveries,
  removeEvents,
  resetMerchant,
  settleOriginal,
};

/** The storage functions of a server, bound to its store. */
export type BoundStorage = Bound<typeof storage> & RefundStore;

/** Binds each function to the connections for its kind of work. */
export function bindStorage({ db, background }: Pick<Database, "db" | "background">): BoundStorage {
  return {
    ...bindStore(db, storage),
    ...bindStore(background, backgroundStorage),
    ...createRefundStore(
      bindStore(db, { loadOriginals, saveRefunds, saveRefundInTime, findByRequestKeys }),
      statementsOf(db).batchKey,
    ),
  };
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
  const entries = Object.entries(functions).map(([name, run]) => [
    name,
    (...rest: never[]) => repeatAfterConflicts(async () => run(store, ...rest)),
  ]);
  return Object.fromEntries(entries); // the mapped type above describes each function
}

const MAX_CONFLICTS = 4;
/** Longest wait before the first retry, in milliseconds; it doubles with each later one. */
const CONFLICT_PAUSE_MS = 10;

/** Repeats work that the database has rolled back because of concurrent transactions, as in a deadlock. */
async function repeatAfterConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || conflicts === MAX_CONFLICTS) throw error;
      await setTimeout(Math.random() * CONFLICT_PAUSE_MS * 2 ** conflicts);
    }
  }
}
