import { sql } from "kysely";
import { createPaymentId, createRefundId } from "../domain/ids.ts";
import { isUnavailable } from "./database/database-errors.ts";
import type { Db } from "./database/db-types.ts";
import { explainStartError, StoreStartError } from "./database/start-error.ts";
import { loadOriginals, saveRefunds } from "./payments/save-refunds.ts";
import { insertFixtures } from "./sandbox-data.ts";

/**
 * Issues a refund by the statements of calls, and rolls it back: the settings of a database can change what statements mean.
 * @throws StoreStartError which says what of the database makes valid calls fail
 */
export async function tryRefund(db: Db): Promise<void> {
  const transaction = await db.startTransaction().execute();
  try {
    await issueWithin(transaction);
  } catch (error) {
    if (error instanceof StoreStartError || isUnavailable(error)) throw explainStartError(error);
    throw new StoreStartError(
      `The database refuses the statements of a valid refund (${String(error)}): correct its settings, its policies of rows, or the rights of the user of DATABASE_URL.`,
      { cause: error },
    );
  } finally {
    // A connection that turned out to be read-only is closed already.
    const rollback = transaction.rollback();
    await rollback.execute().catch(() => {});
  }
}

export type Mode = "sandbox" | "production";

/**
 * The mode in which a database is used. The first server that starts on it decides it forever, because a sandbox's clock and
 * public tokens must never meet real payments.
 */
export async function claimMode(db: Db, mode: Mode): Promise<Mode> {
  await sql`insert into deployment (mode) values (${mode}) on conflict (single_row) do nothing`.execute(db);
  const { rows } = await sql<{ mode: Mode }>`select mode from deployment`.execute(db);
  return rows[0]?.mode ?? mode;
}

/** Texts that only a database in UTF-8 can store. */
const ANY_TEXT = "日本 😀";
/** No access token has this merchant. */
const MERCHANT = "the check of the start";

/** Does nothing for a role that may only add refunds, because it can't make the payment for one. */
async function issueWithin(db: Db): Promise<void> {
  const key = { merchant: MERCHANT, paymentId: createPaymentId() };
  const now = new Date();
  const { rows } = await sql<{ may: boolean; encoding: string }>`
    select has_column_privilege('payments', 'settled_at', 'insert') as may,
      current_setting('server_encoding') as encoding`.execute(db);
  const { may = false, encoding = "" } = rows[0] ?? {};
  if (encoding !== "UTF8")
    throw new StoreStartError(
      `The database is in ${encoding}, which can't store every text that calls may send: name one in DATABASE_URL that was created with encoding 'UTF8'.`,
    );
  if (!may) return;
  const debit = { kind: "DEBIT", status: "SETTLED", settledAt: now } as const;
  await insertFixtures(db, [{ ...key, ...debit, amountCents: 100, clientReferenceId: ANY_TEXT }], now);
  const [loaded] = await loadOriginals(db, [key]);
  if (!loaded?.original) throw new Error("a payment that was just stored is not found");
  const refund = {
    merchant: MERCHANT,
    original: loaded.original,
    decision: { paymentStatus: "AUTHORIZED" } as const,
    amountCents: 60,
    now,
    paymentId: createRefundId(),
    requestKey: ANY_TEXT,
    clientReferenceId: ANY_TEXT,
    softDescriptor: null,
  };
  const [saved] = await saveRefunds(db, [refund]);
  if (!saved) throw new Error("a valid refund was not stored");
}
