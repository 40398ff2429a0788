import { setImmediate, setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { statusesLeftBy } from "../../domain/refund-rules.ts";
import { isLockTimeout, isUnavailable } from "../database/database-errors.ts";
import type { Db } from "../database/db-types.ts";
import { isHeld, listHolds } from "./holds.ts";
import { type ChangedRefund, REFUNDS_AT_ONCE, toParts, transitionRefunds } from "./original-transitions.ts";
import { isOneOf } from "./payment-record.ts";

/**
 * Authorizes every refund that is due and not held, in small transactions of one merchant each. It takes what no other
 * transaction has locked, so that it neither waits nor makes others wait. Several processes may run it at once, and each refund
 * still changes once. Rejects when the database is unavailable.
 * @param now the domain's time (D30)
 */
export async function authorizeDue(
  store: DueStore,
  now: Date,
  { onAuthorized = () => {}, page: limit = 1_000, transaction = REFUNDS_AT_ONCE }: DueOptions = {},
): Promise<DueRun> {
  const skipped: DueRefund[] = [];
  const errors: unknown[] = [];

  async function authorizeBatch(merchant: string, refunds: readonly DueRefund[]): Promise<void> {
    try {
      const batch = await store.authorizeRefunds({ merchant, refunds, now });
      skipped.push(...batch.skipped);
      if (batch.authorized.length > 0) onAuthorized(batch.authorized);
    } catch (error) {
      if (isLockTimeout(error)) skipped.push(...refunds);
      else if (isUnavailable(error)) throw error;
      else if (refunds.length === 1) errors.push(error);
      // The others must not wait for the one that fails.
      else for (const refund of refunds) await authorizeBatch(merchant, [refund]);
    }
    // The embedded store gives nothing else a turn, such as the calls, and the log that is to be written.
    await setImmediate();
  }

  /** Merchants don't wait for each other. */
  async function authorize(due: readonly DueRefund[]): Promise<void> {
    const merchants = Map.groupBy(due, ({ merchant }) => merchant).entries();
    async function takeTurns(): Promise<void> {
      for (const [merchant, refunds] of merchants) {
        // One after the other, because they may be refunds of the same payment.
        for (const batch of toParts(refunds, transaction)) await authorizeBatch(merchant, batch);
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  }

  let after: DueRefund | undefined;
  do {
    const page = await store.findDue({ now, after, limit });
    await authorize(page);
    after = page.length < limit ? undefined : page.at(-1);
  } while (after);
  for (const pauseMs of PAUSES_MS) {
    if (skipped.length === 0) break;
    await setTimeout(pauseMs);
    await authorize(skipped.splice(0));
  }
  return { skipped: skipped.length, errors };
}

/** The refunds that were due and were not authorized, and why. */
export type DueRun = {
  /** How many stay due because another transaction has locked them or their original payments. */
  readonly skipped: number;
  /** Why others stay due. */
  readonly errors: readonly unknown[];
};

export type DueOptions = {
  /** Called with what each transaction has authorized, at once: what is committed stays, even if the run fails later. */
  readonly onAuthorized?: (refunds: readonly ChangedRefund[]) => void;
  /** How many refunds are looked for at once. */
  readonly page?: number;
  /** How many one transaction authorizes at most. */
  readonly transaction?: number;
};

/** Merchants whose refunds are authorized at the same time, each on a connection. */
const AT_ONCE = 3;
/** How long to wait for a lock that can't be skipped, such as one of a whole table. */
const LOCK_TIMEOUT_MS = 1_000;
/** Most transactions end soon, so what they have locked is tried again after these pauses, in milliseconds. */
const PAUSES_MS = [20, 50, 100] as const;

export type DueRefund = {
  readonly paymentId: string;
  readonly merchant: string;
  readonly originalPaymentId: string;
  readonly dueAt: Date;
};

type DuePage = { readonly now: Date; readonly after: DueRefund | undefined; readonly limit: number };

/** A page of the due refunds that are not held, in the order in which they fell due, and then of their ids. */
export async function findDue(db: Db, { now, after, limit }: DuePage): Promise<DueRefund[]> {
  const { dueAt = new Date(0), paymentId = "", merchant = "" } = after ?? {};
  const holds = await listHolds(db);
  if (holds.some((hold) => hold.merchant === undefined)) return [];
  const held = holds.flatMap((hold) => hold.merchant ?? []);
  const { rows } = await sql<DueRefund>`
    select payment_id as "paymentId", merchant, original_payment_id as "originalPaymentId", due_at as "dueAt"
    from payments
    where kind = 'REFUND' and status = 'PENDING' and due_at <= ${now}::timestamptz
      and merchant <> all(${held}::text[])
      and (due_at, payment_id, merchant) > (${dueAt}::timestamptz, ${paymentId}::text, ${merchant}::text)
    order by due_at, payment_id, merchant
    limit ${limit}::integer`.execute(db);
  return rows;
}

type DueBatch = { readonly merchant: string; readonly refunds: readonly DueRefund[]; readonly now: Date };
type Authorized = { readonly authorized: readonly ChangedRefund[]; readonly skipped: readonly DueRefund[] };

/** Authorizes those refunds of a merchant that nobody else has locked, in one transaction. */
export async function authorizeRefunds(db: Db, { merchant, refunds, now }: DueBatch): Promise<Authorized> {
  return db.transaction().execute(async (transaction) => {
    await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(transaction);
    const lockFree = async (paymentIds: readonly string[]) => {
      const { rows } = await sql<{ id: string }>`
        select payment_id as id from payments where ${isOneOf(merchant, paymentIds)}
        for update skip locked`.execute(transaction);
      return new Set(rows.map(({ id }) => id));
    };
    // The original payments first (D12a).
    const originals = await lockFree(refunds.map(({ originalPaymentId }) => originalPaymentId));
    const lockable = refunds.filter(({ originalPaymentId }) => originals.has(originalPaymentId));
    const free = await lockFree(lockable.map(({ paymentId }) => paymentId));
    const skipped = refunds.filter(({ paymentId }) => !free.has(paymentId));
    if (free.size === 0) return { authorized: [], skipped };
    // They were selected before the locks: this condition excludes those that another process has changed meanwhile, or that an
    // operator has held.
    const which = sql<boolean>`status = any(${statusesLeftBy("time")}::text[]) and due_at <= ${now}::timestamptz
      and ${isOneOf(merchant, [...free])} and not ${isHeld(sql`${merchant}::text`)}`;
    const change = { which, to: "AUTHORIZED", at: now, failure: null } as const;
    return { authorized: await transitionRefunds(transaction, merchant, change), skipped };
  });
}

export type DueStore = {
  findDue(page: DuePage): Promise<readonly DueRefund[]>;
  authorizeRefunds(batch: DueBatch): Promise<Authorized>;
};
