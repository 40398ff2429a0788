import { sql } from "kysely";
import { readBacklog } from "./backlog.ts";
import { available, firstOf, type Kind, type Machines, openMachines } from "./citus/cluster-machines.ts";
import { callOnShards, installFunctions, type ShardCall } from "./citus/shard-functions.ts";
import type { Database } from "./database/database.ts";
import { repeatAfterConflicts } from "./database/database-errors.ts";
import type { Db } from "./database/db-types.ts";
import { tryTurn } from "./database/turn-locks.ts";
import { type DueRefund, findDue } from "./payments/authorize-due-refunds.ts";
import { findNewestRefund, readLastPayout } from "./payments/high-water-mark.ts";
import { isHeld } from "./payments/holds.ts";
import { findByRequestKey, isOneOf } from "./payments/payment-record.ts";
import { LAST_POSITION, PUBLISHED_AT_ONCE } from "./payments/payout-feed.ts";
import { reconcileIn } from "./payments/reconcile.ts";
import { type LoadedRow, toLoaded, toRefundRows, toWanted } from "./payments/save-refunds.ts";
import {
  type Batches,
  createBatches,
  STORE_FUNCTIONS,
  type StoreFunction,
  type StoreFunctions,
  type StoreParts,
} from "./store-functions.ts";
import { type ClaimedRow, listWaiting, type SharesRow, toAttempt } from "./webhooks/claim-deliveries.ts";
import { OLD_ROWS, selectOld } from "./webhooks/delete-expired.ts";
import { toResults } from "./webhooks/record-attempts.ts";

/*
 * A store whose tables Citus spreads over machines by merchant. It wraps the plain store: what concerns one merchant runs on that
 * merchant's machine, what has a list of several is divided, and what looks at the rows of all is asked of every shard.
 */

/** These need more than the merchant's machine: an advisory lock, or a table that only the coordinator has. */
const BY_COORDINATOR = ["emitFurtherEvent", "emitResourceEvent", "insertSubscription", "resetMerchant"];
/** These name a merchant, and need no rows of it. */
const WITHOUT_ROWS = ["hold", "insertFixtures", "insertToken", "release", "reportCalls"];

export async function distributed(plain: StoreParts, database: Database): Promise<StoreParts> {
  await installFunctions(database.background);
  const machines = await openMachines(database);
  const functions = routeFunctions(plain.functions, database, machines);
  const batches = new Map<string, Batches>();
  /** Calls for different machines never share a statement, and never wait for each other. */
  async function batchesOf(merchant: string): Promise<Batches> {
    const { url } = await machines.machineOf(merchant, "db");
    const known = batches.get(url) ?? createBatches(functions);
    batches.set(url, known);
    return known;
  }
  return {
    functions,
    batches: {
      loadOriginal: async (key, limit) => (await batchesOf(key.merchant)).loadOriginal(key, limit),
      findByRequestKey: async (key, limit) => (await batchesOf(key.merchant)).findByRequestKey(key, limit),
      saveRefund: async (refund, limit) => (await batchesOf(refund.merchant)).saveRefund(refund, limit),
      recordAttempt: async (attempt) => (await batchesOf(attempt.merchant)).recordAttempt(attempt),
      refundsWaiting: () =>
        [...batches.values()].reduce((sum, ofMachine) => sum + ofMachine.refundsWaiting(), 0),
    },
    listen: machines.listen,
    close: () => machines.close().finally(plain.close),
  };
}

/** Runs what differs, and the rest on the machine of its merchant, which refuses it at once while that does not respond. */
function routeFunctions(plain: StoreFunctions, database: Database, machines: Machines): StoreFunctions {
  const overrides = overrideFunctions(plain, database, machines);
  const routed = Object.entries(STORE_FUNCTIONS).map(([name, [run, kind]]) => {
    const route = async (...rest: never[]) => {
      const override = overrides[name];
      if (override) return override(...rest);
      const { merchant } = (rest[0] ?? {}) as { merchant?: unknown }; // a string has no such member either
      const isRouted = typeof merchant === "string" && !WITHOUT_ROWS.includes(name);
      const machine = isRouted ? await machines.machineOf(merchant, kind) : database;
      const db = BY_COORDINATOR.includes(name) ? database[kind] : machine[kind];
      return (run as StoreFunction)(db, ...rest);
    };
    return [name, (...rest: never[]) => repeatAfterConflicts(() => route(...rest))];
  });
  return Object.fromEntries(routed);
}

/** The functions that differ from those of the plain store. */
function overrideFunctions(
  plain: StoreFunctions,
  { background, db: coordinator }: Database,
  machines: Machines,
): Readonly<Record<string, (...rest: never[]) => unknown>> {
  const { onShards, shardOf, machineOf } = machines;

  /** Waits for all; of background work it leaves out what fails because a machine does not respond: its deliveries wait. */
  const settle = async <Result>(kind: Kind, results: readonly Promise<Result>[]) =>
    kind === "db" ? Promise.all(results) : available(await Promise.allSettled(results));

  /** Calls each machine with rows of some items, again where a shard has moved meanwhile. */
  async function inParts<Row>(kind: Kind, call: ShardCall): Promise<Row[]> {
    const located = call.items.map(async (item) => ({ item, machine: await machineOf(item.merchant, kind) }));
    const parts = [...Map.groupBy(await settle(kind, located), ({ machine }) => machine)];
    const rows = parts.map(async ([machine, locatedHere]) => {
      const part = { ...call, items: locatedHere.map(({ item }) => item) };
      return parts.length === 1
        ? callOnShards<Row>(machine[kind], shardOf, part)
        : repeatAfterConflicts(() => inParts<Row>(kind, part));
    });
    return (await (parts.length === 1 ? Promise.all(rows) : settle(kind, rows))).flat();
  }

  /** The same for background work, which gets nothing from machines that do not respond. */
  const ofResponding = async <Row>(call: ShardCall) =>
    (await settle("background", [repeatAfterConflicts(() => inParts<Row>("background", call))])).flat();

  return {
    findMissingTriggers: async () => [], // tables that Citus spreads can't have any
    async loadOriginals(keys) {
      const rows = await inParts<LoadedRow>("db", { work: "loadOriginals", items: keys.map(toWanted) });
      const inOrderOfKeys = rows.toSorted((a, b) => a.position - b.position);
      return inOrderOfKeys.map((row) => toLoaded({ ...row, settledAt: toDate(row.settledAt) }));
    },
    async saveRefunds(refunds, lockTimeoutMs = () => 0) {
      const items = toRefundRows(refunds);
      const further = () => ({ lockTimeoutMs: lockTimeoutMs() });
      const rows = await inParts<{ saved: string[] }>("db", { work: "saveRefunds", items, further });
      const saved = new Set(rows.flatMap((row) => row.saved));
      return refunds.map(({ paymentId }) => saved.has(paymentId));
    },
    findByRequestKeys: (keys) =>
      Promise.all(keys.map(async (key) => findByRequestKey((await machineOf(key.merchant, "db")).db, key))),
    async recordAttempts(attempts) {
      const { rows: items, ...next } = toResults(attempts);
      const call: ShardCall = { work: "recordAttempts", items, further: () => next };
      const rows = await inParts<{ webhook_id: string }>("db", call);
      return new Set(rows.map((row) => row.webhook_id));
    },
    async readShares({ merchants, realNow, ended }) {
      const items = merchants.map((merchant) => ({ merchant }));
      const further = () => ({ realNow, ended });
      const rows = await ofResponding<SharesRow>({ work: "readShares", items, further });
      const ranked = rows.map(({ now: _, ...inProgress }) => ({ inProgress, rank: Math.random() }));
      const due = ranked.sort((a, b) => a.rank - b.rank).map(({ inProgress }) => inProgress);
      return { now: toDate(rows[0]?.now ?? null) ?? realNow, due };
    },
    async claimDeliveries({ claimLimits, ...when }) {
      const call: ShardCall = { work: "claimDeliveries", items: claimLimits, further: () => when };
      const rows = await ofResponding<ClaimedRow>(call);
      return rows.map(({ secret, old_secret, ...row }) =>
        toAttempt({ ...row, secret: toBytes(secret), old_secret: old_secret && toBytes(old_secret) }),
      );
    },
    async freeLeases() {
      const isOver = sql`leased_until < now()`;
      const select = sql<{ merchant: string }>`select distinct merchant from deliveries where ${isOver}`;
      const merchants = await onShards(async (shard) => (await select.execute(shard)).rows);
      const changes = merchants.map(async ({ merchant }) => {
        const machine = await machineOf(merchant, "background");
        await sql`
          update deliveries set leased_until = null, sending = false where merchant = ${merchant} and webhook_id in (
            select webhook_id from deliveries where merchant = ${merchant} and ${isOver} for update skip locked
          )`.execute(machine.background);
      });
      await settle("background", changes);
    },
    async listWaiting(page) {
      const waiting = await onShards((shard) => listWaiting(shard, page));
      return firstOf(waiting, ({ subscriptionKey }) => subscriptionKey, page.limit);
    },
    async findDue(page) {
      const due = await onShards((shard) => findDue(shard, page));
      const keyOf = (refund: DueRefund) =>
        `${refund.dueAt.toISOString()} ${refund.paymentId} ${refund.merchant}`;
      return firstOf(due, keyOf, page.limit);
    },
    async readBacklog(now) {
      const all = await onShards(async (shard) => [await readBacklog(shard, now)]);
      return all.reduce((total, shard) => ({
        deliveries: addCounts(total.deliveries, shard.deliveries),
        subscriptions: addCounts(total.subscriptions, shard.subscriptions),
        oldestDeliverySeconds: Math.max(total.oldestDeliverySeconds, shard.oldestDeliverySeconds),
        oldestRefundSeconds: Math.max(total.oldestRefundSeconds, shard.oldestRefundSeconds),
      }));
    },
    async readHighWaterMark() {
      const newest = firstOf(await onShards(findNewestRefund), ({ paymentId }) => paymentId);
      return { ...(await readLastPayout(background)), refunds: newest.slice(-1) };
    },
    async findMissing(mark) {
      for (const { merchant } of mark.refunds) await machineOf(merchant, "background"); // rejects while it does not respond
      return plain.findMissing(mark);
    },
    removeOld: (batch) =>
      background.transaction().execute(async (transaction) => {
        const { rows: turn } = await sql`select where ${tryTurn("retention")}`.execute(transaction);
        if (turn.length === 0) return { removed: 0, last: undefined };
        const select = async (shard: Db) => (await selectOld(batch).execute(shard)).rows;
        const old = firstOf(await onShards(select), ({ id }) => id, batch.atMost);
        const { isRemovable, id } = OLD_ROWS[batch.table];
        let removed = 0;
        for (const [merchant, rows] of Map.groupBy(old, ({ merchant }) => merchant)) {
          const machine = await machineOf(merchant, "background");
          const { numAffectedRows } = await sql`
            delete from ${sql.table(batch.table)} e
            where ${sql.ref(id)} = any(${rows.map((row) => row.id)}::text[]) and merchant = ${merchant}
              and ${isRemovable(batch.before)}`.execute(machine.background);
          removed += Number(numAffectedRows);
        }
        return { removed, last: old.at(-1)?.id };
      }),
    /** Takes what waits for the feed from all machines, and adds it to the feed, which is on the coordinator. */
    publishPayouts({ server, known }) {
      type Waiting = { payment_id: string; merchant: string; authorized_at: Date };
      const select = sql<Waiting>`
        select payment_id, merchant, authorized_at from payouts_waiting w
        where not ${isHeld(sql`w.merchant`)} order by authorized_at, payment_id limit ${PUBLISHED_AT_ONCE}::integer`;
      return background.transaction().execute(async (transaction) => {
        const { rows } = await sql<{ lost: string | null }>`
          select take_feed(${server}::uuid, ${known}::bigint) as lost`.execute(transaction);
        const lost = rows[0]?.lost ?? null;
        if (lost !== null) return { lost };
        const waiting = await onShards(async (shard) => (await select.execute(shard)).rows);
        const keyOf = (row: Waiting) => `${row.authorized_at.toISOString()} ${row.payment_id}`;
        const first = firstOf(waiting, keyOf, PUBLISHED_AT_ONCE);
        await sql`
          insert into payouts (payment_id, merchant, authorized_at, position)
          select payment_id, merchant, authorized_at,
            row_number() over (order by authorized_at, payment_id) + ${LAST_POSITION}
          from json_to_recordset(${JSON.stringify(first)}::json)
            as waiting (payment_id text, merchant text, authorized_at timestamptz)
          on conflict (payment_id, merchant) do nothing`.execute(transaction);
        for (const [merchant, payouts] of Map.groupBy(first, (row) => row.merchant)) {
          const ids = payouts.map((row) => row.payment_id);
          await sql`delete from payouts_waiting where ${isOneOf(merchant, ids)}`.execute(transaction);
        }
        return { lost, last: (await readLastPayout(transaction)).position };
      });
    },
    /** No trigger adds the refund to the sum of its payment. */
    async reconcileRefund(refund, now) {
      await machineOf(refund.merchant, "db");
      return coordinator.transaction().execute(async (transaction) => {
        const reconciled = await reconcileIn(transaction, refund, now);
        if (reconciled === "inserted" && refund.status === "AUTHORIZED")
          await sql`
            update payments set refunded_cents = refunded_cents + ${refund.amountCents}
            where ${isOneOf(refund.merchant, [refund.originalPaymentId])}`.execute(transaction);
        return reconciled;
      });
    },
  } satisfies Partial<StoreFunctions>;
}

function addCounts<Counts extends object>(left: Counts, right: Counts): Counts {
  const sums = Object.entries(left).map(([name, count]) => [name, count + right[name as keyof Counts]]);
  return Object.fromEntries(sums);
}

/** An instant or bytes as JSON of PostgreSQL has them. */
function toDate(value: Date | string | null): Date | null {
  return value === null ? null : new Date(value);
}

function toBytes(value: Uint8Array | string): Uint8Array {
  return typeof value === "string" ? Buffer.from(value.slice(2), "hex") : value;
}
