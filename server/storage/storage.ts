import { advance, readOffset } from "./clock.ts";
import { authorizeDue } from "./due.ts";
import { emitResourceEvent } from "./events.ts";
import { insertFixtures } from "./fixtures.ts";
import { deleteMerchantData } from "./merchants.ts";
import { listPayments } from "./payment-list.ts";
import { coverOriginal, failOriginal, getPayment, insertPayment, settleOriginal } from "./payments.ts";
import { findByRequestKey, loadOriginal, saveRefund } from "./refunds.ts";
import { endSubscription, insertSubscription } from "./subscriptions.ts";
import { findToken, insertToken } from "./tokens.ts";

/** What the parts of a server do with the store; each names what it needs of this, and is handed it bound. */
export const storage = {
  advance,
  authorizeDue,
  coverOriginal,
  deleteMerchantData,
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
  listPayments,
  loadOriginal,
  readOffset,
  saveRefund,
  settleOriginal,
};
