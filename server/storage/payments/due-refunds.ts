import { setImmediate, setTimeout } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { statusesLeftBy } from "../../domain/refunds.ts";
import { inLinkedSpan, linksTo } from "../../observability/tracing.ts";
import type { Store } from "../database/tables.ts";
import { isLockTimeout, isUnavailable } from "../database/unavailable.ts";
import { isHeld } from "../statements/holds.ts";
import { statementsOf, storeOf } from "../statements/statements.ts";
import { listHolds } from "./holds.ts";
import { type ChangedRefund, REFUNDS_AT_ONCE, toParts, transitionRefunds } from "./refund-transitions.ts";

/** What became of the refunds that were due and are not authorized. */
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

type DueRefund = {
  payment_id: string;
  merchant: string;
  original_payment_id: string;
  /** Milliseconds since 1970. */
  due_ms: number;
};

type Outcomes = { readonly skipped: DueRefund[]; readonly errors: unknown[] };
type BatchOptions = Required<Pick<DueOptions, "onAuthorized" | "transaction">> & { readonly now: Date };

/**
 * Authorizes every refund that is due and not held. It takes what no other transaction has locked, in small transactions of one merchant each,
 * so that it waits for nobody and holds up nobody. Several processes may run it at once, and each refund still changes once.
 *
 * @param now the domain's time (D30)
 */
export async function authorizeDue(
  store: Store,
  now: Date,
  { onAuthorized = () => {}, page: limit = 1_000, transaction = REFUNDS_AT_ONCE }: DueOptions = {},
): Promise<DueRun> {
  const { skipped, errors }: Outcomes = { skipped: [], errors: [] };
  const authorize = async (due: readonly DueRefund[]) => {
    if (due.length === 0) return;
    const outcomes = await inLinkedSpan("due scan", [], (span) =>
      authorizeAll(store, due, {
        now,
        transaction,
        onAuthorized(refunds) {
          span?.addLinks(linksTo(refunds.map(({ trace }) => trace)));
          onAuthorized(refunds);
        },
      }),
    );
    skipped.push(...outcomes.skipped);
    errors.push(...outcomes.errors);
  };
  let after: DueRefund | undefined;
  do {
    const page = await findDue(store, { now, after, limit });
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

/** A page of the due refunds, in the order in which they fell due, and then of their ids. */
async function findDue(
  store: Store,
  { now, after, limit }: { now: Date; after: DueRefund | undefined; limit: number },
): Promise<DueRefund[]> {
  const { due_ms = 0, payment_id = "", merchant = "" } = after ?? {};
  const holds = await listHolds(store);
  if (holds.some((hold) => hold.merchant === undefined)) return [];
  const held = holds.flatMap((hold) => hold.merchant ?? []);
  const rows = await statementsOf(store).findOverall(
    store,
    sql<DueRefund>`
      select payment_id, merchant, original_payment_id, (extract(epoch from due_at) * 1000)::float8 as due_ms
      from payments
      where kind = 'REFUND' and status = 'PENDING' and due_at <= ${now}::timestamptz
        and merchant <> all(${held}::text[])
        and (due_at, payment_id, merchant)
          > (${new Date(due_ms)}::timestamptz, ${payment_id}::text, ${merchant}::text)
      order by due_at, payment_id, merchant
      limit ${limit}`,
  );
  // On a cluster, each part of the table has its own list.
  return rows.toSorted(inOrder).slice(0, limit);
}

function inOrder(a: DueRefund, b: DueRefund): number {
  if (a.due_ms !== b.due_ms) return a.due_ms - b.due_ms;
  if (a.payment_id !== b.payment_id) return a.payment_id < b.payment_id ? -1 : 1;
  return a.merchant < b.merchant ? -1 : 1;
}

/** Authorizes refunds of several merchants, who don't wait for each other. Rejects when the database is unavailable. */
async function authorizeAll(
  store: Store,
  due: readonly DueRefund[],
  options: BatchOptions,
): Promise<Outcomes> {
  const outcomes: Outcomes = { skipped: [], errors: [] };
  const merchants = Map.groupBy(due, ({ merchant }) => merchant).values();
  async function takeTurns(): Promise<void> {
    for (const refunds of merchants) {
      // One after the other, because they may be refunds of the same payment.
      for (const batch of toParts(refunds, options.transaction))
        await authorizeBatch(store, batch, options, outcomes);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  return outcomes;
}

async function authorizeBatch(
  store: Store,
  batch: readonly DueRefund[],
  options: BatchOptions,
  outcomes: Outcomes,
): Promise<void> {
  let authorized: ChangedRefund[] = [];
  try {
    const run = (transaction: Store) => authorizeFree(transaction, batch, options.now);
    const own = await storeOf(store, batch[0]?.merchant ?? "");
    const done = await own.transaction().execute(run);
    authorized = done.authorized;
    outcomes.skipped.push(...done.skipped);
  } catch (error) {
    if (isLockTimeout(error)) outcomes.skipped.push(...batch);
    else if (isUnavailable(error)) throw error;
    else if (batch.length === 1) outcomes.errors.push(error);
    // The others must not wait for the one that fails.
    else for (const refund of batch) await authorizeBatch(store, [refund], options, outcomes);
  }
  if (authorized.length > 0) options.onAuthorized(authorized);
  // The embedded store gives nothing else a turn, such as the calls, and the log that is to be written.
  await setImmediate();
}

/** Authorizes those refunds of a merchant that nobody else has locked. */
async function authorizeFree(transaction: Store, due: readonly DueRefund[], now: Date) {
  await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(transaction);
  // The original payments first (D12a).
  const originals = await lockFree(transaction, due, "original_payment_id");
  const lockable = due.filter((refund) => originals.has(refund.original_payment_id));
  const refunds = await lockFree(transaction, lockable, "payment_id");
  const free = due.filter(({ payment_id: id }) => refunds.has(id));
  const skipped = due.filter(({ payment_id: id }) => !refunds.has(id));
  if (free.length === 0) return { authorized: [], skipped };

  // They were selected before the locks: this condition excludes those that another process has changed meanwhile, or that an
  // operator has held.
  const which = sql<boolean>`status = any(${statusesLeftBy("time")}::text[]) and due_at <= ${now}::timestamptz
    and ${isOneOf(transaction, free, "payment_id")} and not ${isHeld(sql`payments.merchant`)}`;
  const change = { to: "AUTHORIZED", at: now, failure: null } as const;
  const authorized = await transitionRefunds(transaction, which, change);
  return { authorized, skipped };
}

type IdColumn = "payment_id" | "original_payment_id";

/** Locks those payments of a merchant that nobody else has locked, and returns their ids. */
async function lockFree(transaction: Store, due: readonly DueRefund[], id: IdColumn): Promise<Set<string>> {
  if (due.length === 0) return new Set();
  const { rows } = await sql<{ payment_id: string }>`
    select payment_id from payments
    where ${isOneOf(transaction, due, id)}
    for update skip locked`.execute(transaction);
  return new Set(rows.map(({ payment_id }) => payment_id));
}

function isOneOf(transaction: Store, due: readonly DueRefund[], id: IdColumn): RawBuilder<boolean> {
  const keys = due.map((refund) => ({ paymentId: refund[id], merchant: refund.merchant }));
  return statementsOf(transaction).isOneOf(keys);
}
