import { readBacklog } from "./backlog.ts";
import { type Bound, bindStore } from "./bind.ts";
import { advance, readOffset } from "./clock.ts";
import type { Database } from "./database.ts";
import { listDeliveries, redeliver } from "./delivery-list.ts";
import { claimMode } from "./deployment.ts";
import { authorizeDue } from "./due.ts";
import { emitResourceEvent } from "./events.ts";
import { insertFixtures } from "./fixtures.ts";
import { resetMerchant } from "./merchants.ts";
import { listPayments } from "./payment-list.ts";
import { coverOriginal, failOriginal, getPayment, insertPayment, settleOriginal } from "./payments.ts";
import { reportCalls } from "./rate-limits.ts";
import { findByRequestKey, loadOriginal, saveRefund } from "./refunds.ts";
import { endSubscription, insertSubscription } from "./subscriptions.ts";
import { findToken, insertToken } from "./tokens.ts";

/** What the parts of a server do with the store; each names what it needs of this, and is handed it bound. */
export const storage = {
  advance,
  authorizeDue,
  claimMode,
  coverOriginal,
  emitResourceEvent,
  endSubscription,
  failOriginal,
  findByRequestKey,
  findToken,
  getPayment,
  insertFixtures,
  insertPayment,
  insertSubscription,
  insertToken,
  listDeliveries,
  listPayments,
  loadOriginal,
  readBacklog,
  readOffset,
  redeliver,
  reportCalls,
  resetMerchant,
  saveRefund,
  settleOriginal,
};

/** What nobody waits for, or what may touch very many rows: the time limits of a call would cut it off for ever. */
const lengthy = {
  authorizeDue,
  coverOriginal,
  endSubscription,
  failOriginal,
  readBacklog,
  resetMerchant,
  settleOriginal,
};

/** All of it, each function on the connections that are for its kind. */
export function bindStorage({ db, background }: Pick<Database, "db" | "background">): Bound<typeof storage> {
  return { ...bindStore(db, storage), ...bindStore(background, lengthy) };
}
