import { sql } from "kysely";
import { findMissingTriggers } from "../database/guards.ts";
import { exactTexts } from "../statements/payment-record.ts";
import type { Statements } from "../statements/statements.ts";
import { recordAttempts } from "./attempts.ts";
import { claimDeliveries, freeLeases, readShares } from "./claims.ts";
import { changeAndNotify, insertEvents } from "./events.ts";
import { publishWaiting } from "./payouts.ts";
import { findByRequestKeys, isOneOf, loadOriginals, saveRefunds } from "./refunds.ts";
import { removeOld } from "./retention.ts";

/** The statements for one PostgreSQL, be it a server or embedded. */
export const postgres: Statements = {
  batchKey: undefined,
  returnedTexts: exactTexts,
  returnedTextColumns: sql.join([...exactTexts]),
  findOverall: async (store, query) => (await query.execute(store)).rows,
  changeAndNotify,
  claimDeliveries,
  countRefund: async () => {}, // the trigger payments_add_refunds does
  findByRequestKeys,
  freeLeases,
  insertEvents,
  isOneOf,
  loadOriginals,
  publishWaiting,
  readShares,
  recordAttempts,
  removeOld,
  findMissingTriggers,
  saveRefunds,
};
