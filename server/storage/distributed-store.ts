import { sql } from "kysely";
import { readBacklog } from "./backlog.ts";
import { available, firstOf, type Kind, type Machines, openMachines } from "./citus/cluster-machines.ts";
import { publishOverall } from "./citus/cluster-payouts.ts";
import { callOnShards, installFunctions } from "./citus/shard-functions.ts";
import type { Database } from "./database/database.ts";
import { repeatAfterConflicts } from "./database/database-errors.ts";
import type { Db } from "./database/db-types.ts";
import { tryTurn } from "./database/turn-locks.ts";
import { type DueRefund, findDue } from "./payments/authorize-due-refunds.ts";
import { findNewestRefund, readLastPayout } from "./payments/high-water-mark.ts";
import { findByRequestKey, isOneOf } from "./payments/payment-record.ts";
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
  const overrides = Object.entries(overrideFunctions(plain.functions, database, machines)).map(
    ([name, run]) => [
      name,
      (...rest: never[]) => repeatAfterConflicts(async () => (run as (...all: never[]) => unknown)(...rest)),
    ],
  );
  const functions: StoreFunctions = {
    ...routeFunctions(plain.functions, database, machines),
    ...Object.fromEntries(overrides),
  };
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

/** Runs what concerns one merchant on its machine, and refuses it at once while that does not respond. */
function routeFunctions(plain: StoreFunctions, database: Database, machines: Machines): StoreFunctions {
  const routed = Object.entries(STORE_FUNCTIONS).map(([name, [run, kind]]) => {
    const call = async (...rest: unknown[]) => {
      const { merchant } = (rest[0] ?? {}) as { merchant?: unknown }; // a string has no such member either
      if (typeof merchant !== "string" || WITHOUT_ROWS.includes(name))
        return (plain[name as keyof StoreFunctions] as (...all: unknown[]) => unknown)(...rest);
      return repeatAfterConflicts(async () => {
        const machine = await machines.machineOf(merchant, kind);
        const db = BY_COORDINATOR.includes(name) ? database[kind] : machine[kind];
        return (run as StoreFunction)(db, ...(rest as never[]));
      });
    };
    return [name, call];
  });
  return Object.fromEntries(routed);
}

/** The functions that differ from those of the plain store. */
function overrideFunctions(
  plain: StoreFunctions,
  { background, db: coordinator }: Database,
  machines: Machines,
) {
  const { onShards, shardOf, machineOf } = machines;
  type OfMerchant = { readonly merchant: string };
  type Call<Item, Row> = (db: Db, items: readonly Item[]) => Promise<readonly Row[]>;

  /** Waits for all; of background work it leaves out what fails because a machine does not respond: its deliveries wait. */
  const settle = async <Result>(kind: Kind, results: readonly Promise<Result>[]) =>
    kind === "db" ? Promise.all(results) : available(await Promise.allSettled(results));

  /** Makes one call for each machine with rows of some items, again where a shard has moved meanwhile. */
  async function inParts<Item extends OfMerchant, Row>(
    items: readonly Item[],
    kind: Kind,
    call: Call<Item, Row>,
  ): Promise<Row[]> {
    const located = items.map(async (item) => ({ item, machine: await machineOf(item.merchant, kind) }));
    const parts = [...Map.groupBy(await settle(kind, located), ({ machine }) => machine)];
    const rows = parts.map(async ([machine, locatedHere]) => {
      const itemsHere = locatedHere.map(({ item }) => item);
      return parts.length === 1
        ? call(machine[kind], itemsHere)
        : repeatAfterConflicts(() => inParts(itemsHere, kind, call));
    });
    return (await (parts.length === 1 ? Promise.all(rows) : settle(kind, rows))).flat();
  }

  /** The same for background work, which gets nothing from machines that do not respond. */
  const ofResponding = async <Item extends OfMerchant, Row>(items: readonly Item[], call: Call<Item, Row>) =>
    (await settle("background", [repeatAfterConflicts(() => inParts(items, "background", call))])).flat();

  const onItems =
    <Row>(work: Parameters<typeof callOnShards>[1], further?: object) =>
    (db: Db, items: readonly OfMerchant[]) =>
      callOnShards<Row>(db, work, shardOf, items, further);

  return {
    findMissingTriggers: async () => [], // tables that Citus spreads can't have any
    async loadOriginals(keys) {
      const rows = await inParts(keys.map(toWanted), "db", onItems<LoadedRow>("loadOriginals"));
      const inOrderOfKeys = rows.toSorted((a, b) => a.position - b.position);
      return inOrderOfKeys.map((row) => toLoaded({ ...row, settledAt: toDate(row.settledAt) }));
    },
    async saveRefunds(refunds, lockTimeoutMs = () => 0) {
      const rows = await inParts(toRefundRows(refunds), "db", (db, items) =>
        db.connection().execute((connection) => {
          const limit = { lockTimeoutMs: lockTimeoutMs() };
          return onItems<{ saved: string[] }>("saveRefunds", limit)(connection, items);
        }),
      );
      const saved = new Set(rows.flatMap((row) => row.saved));
      return refunds.map(({ paymentId }) => saved.has(paymentId));
    },
    findByRequestKeys: (keys) =>
      Promise.all(keys.map(async (key) => findByRequestKey((await machineOf(key.merchant, "db")).db, key))),
    async recordAttempts(attempts) {
      const { rows: results, ...next } = toResults(attempts);
      const rows = await inParts(results, "db", onItems<{ webhook_id: string }>("recordAttempts", next));
      return new Set(rows.map((row) => row.webhook_id));
    },
    async readShares({ merchants, realNow, ended }) {
      const items = merchants.map((merchant) => ({ merchant }));
      const rows = await ofResponding(items, onItems<SharesRow>("readShares", { realNow, ended }));
      const ranked = rows.map(({ now: _, ...inProgress }) => ({ inProgress, rank: Math.random() }));
      const due = ranked.sort((a, b) => a.rank - b.rank).map(({ inProgress }) => inProgress);
      return { now: toDate(rows[0]?.now ?? null) ?? realNow, due };
    },
    async claimDeliveries({ claimLimits, ...when }) {
      const rows = await ofResponding(claimLimits, onItems<ClaimedRow>("claimDeliveries", when));
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
    publishPayouts: (publisher) => publishOverall(background, onShards, publisher),
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
