import { sql } from "kysely";
import { createPaymentId, createRefundId } from "../domain/ids.ts";
import { isUnavailable } from "./database/database-errors.ts";
import type { Db } from "./database/db-types.ts";
import { explainStartError, StoreStartError } from "./database/start-error.ts";
import { loadOriginals, saveRefunds } from "./payments/save-refunds.ts";
import { insertFixtures } from "./sandbox-data.ts";

/**
 * Issues a refund by the statements of calls, then tries one that the database must refuse, and rolls both back: the settings of a
 * database can change what statements mean, and can switch off triggers that exist.
 *
 * @throws StoreStartError which says what of the database makes valid calls fail, or lets invalid ones succeed
 */
export async function tryRefund(db: Db): Promise<void> {
  const transaction = await db.startTransaction().execute();
  try {
    if (await issueWithin(transaction)) await exceed(transaction);
  } catch (error) {
    if (error instanceof StoreStartError || isUnavailable(error)) throw explainStartError(error);
    throw new StoreStartError(
      `The database refuses the statements of a valid refund (${String(error)}): correct its settings, its policies of rows, or the rights of the user of DATABASE_URL.`,
      { cause: error },
    );
  } finally {
    // A connection that turned out to be read-only is closed already.
    await transaction
      .rollback()
      .execute()
      .catch(() => {});
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
const DECISION = { paymentStatus: "AUTHORIZED" } as const;

/** Returns whether the user of the database may try it: a role that may only add refunds can't make the payment for it. */
async function issueWithin(db: Db): Promise<boolean> {
  const key = { merchant: MERCHANT, paymentId: createPaymentId() };
  const now = new Date();
  const { rows } = await sql<{ may: boolean; encoding: string; unlogged: string | null }>`
    select has_column_privilege('payments', 'settled_at', 'insert') as may,
      current_setting('server_encoding') as encoding,
      (select min(relname::text) from pg_class where relpersistence = 'u' and relkind = 'r' and relname <> 'rate_limits'
        and relnamespace = (select relnamespace from pg_class where oid = 'payments'::regclass)) as unlogged`.execute(
    db,
  );
  const { may = false, encoding = "", unlogged = null } = rows[0] ?? {};
  if (unlogged !== null)
    throw new StoreStartError(
      `A crash of PostgreSQL would empty the table ${unlogged}, which is unlogged: alter table ${unlogged} set logged`,
    );
  if (encoding !== "UTF8")
    throw new StoreStartError(
      `The database is in ${encoding}, which can't store every text that calls may send: name one in DATABASE_URL that was created with encoding 'UTF8'.`,
    );
  if (!may) return false;
  const debit = { kind: "DEBIT", status: "SETTLED", settledAt: now } as const;
  await insertFixtures(db, [{ ...key, ...debit, amountCents: 100, clientReferenceId: ANY_TEXT }], now);
  const [loaded] = await loadOriginals(db, [key]);
  if (!loaded?.original) throw new Error("a payment that was just stored is not found");
  const refund = {
    merchant: MERCHANT,
    original: loaded.original,
    decision: DECISION,
    amountCents: 60,
    now,
    paymentId: createRefundId(),
    requestKey: ANY_TEXT,
    clientReferenceId: ANY_TEXT,
    softDescriptor: null,
  };
  const [saved] = await saveRefunds(db, [refund]);
  if (!saved) throw new Error("a valid refund was not stored");
  return true;
}

/** Tries a refund of what the payment no longer has. */
async function exceed(db: Db): Promise<void> {
  try {
    await sql`
      insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id, history, sequence,
        created_at)
      select ${createRefundId()}, merchant, kind, status, amount_cents, 'another', original_payment_id, history, sequence,
        created_at
      from payments where merchant = ${MERCHANT} and kind = 'REFUND'`.execute(db);
  } catch (error) {
    if ((error as { code?: string }).code === "23514") return;
    throw error;
  }
  throw new StoreStartError(
    "The database took a refund of more than its payment: the triggers of payments don't run, as under session_replication_role = replica. Set it to origin for the role and the database, and run this as the owner of the tables: select guard_payments()",
  );
}
