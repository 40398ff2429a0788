import { type QueryExecutorProvider, sql } from "kysely";
import type { Store } from "../database/tables.ts";
import type { OfMerchant, Statements } from "../statements/statements.ts";
import { recordAttempts } from "./attempts.ts";
import { type Divide, inParts, inPartsByItem, together } from "./batches.ts";
import { claimDeliveries, freeLeases, mergeShares, readShares } from "./claims.ts";
import { changeAndNotify, insertEvents } from "./events.ts";
import { publishWaiting } from "./payouts.ts";
import { countRefund, findByRequestKeys, isOneOf, loadOriginals, saveRefunds } from "./refunds.ts";
import { removeOld } from "./retention.ts";

/**
 * The statements for tables that Citus, an extension of PostgreSQL, spreads over machines by merchant. It refuses statements that
 * read or change the rows of several merchants in some ways, so most of these work on one merchant's rows.
 */
const common: Omit<
  Statements,
  "claimDeliveries" | "loadOriginals" | "readShares" | "recordAttempts" | "saveRefunds"
> = {
  batchKey: ({ merchant }) => merchant,
  // Citus allows no function there, and the driver of PostgreSQL needs none.
  returnedTexts: [],
  returnedTextColumns: sql`client_reference_id, request_key`,
  changeAndNotify,
  countRefund,
  findByRequestKeys,
  // By the coordinator, while there are no connections to the machines; the rows of each merchant are joined with one another only.
  findOverall: async (store, query) => (await query.execute(store)).rows,
  freeLeases,
  insertEvents,
  isOneOf,
  publishWaiting,
  removeOld,
  findMissingTriggers: async () => [], // tables that Citus spreads can't have triggers
};

/** The statements for a store whose calls are divided in some way. */
export function dividedBy(divide: Divide): Statements {
  return {
    ...common,
    loadOriginals: (store, keys) => inPartsByItem(divide, store, keys, loadOriginals),
    saveRefunds: (store, refunds, options) =>
      inPartsByItem(divide, store, refunds, (own, some) => saveRefunds(own, some, options)),
    async recordAttempts(store, attempts) {
      const recorded = await inPartsByItem(divide, store, attempts, recordAttempts);
      return new Set(recorded.filter((webhookId) => webhookId !== undefined));
    },
    async claimDeliveries(store, { claimLimits, ...when }) {
      const claim = (own: Store, some: typeof claimLimits) => claimDeliveries(own, some, when);
      return (await inParts(divide, store, claimLimits, claim)).flatMap(({ result }) => result);
    },
    async readShares(store, { merchants, ...when }) {
      const read = (own: Store, some: readonly OfMerchant[]) => readShares(own, some, when);
      const parts = await inParts(
        divide,
        store,
        merchants.map((merchant) => ({ merchant })),
        read,
      );
      return mergeShares(
        parts.map(({ result }) => result),
        when.realNow,
      );
    },
  };
}

/** For a store of a machine. */
export function onMachine(shardOf: Statements["shardOf"]): Statements {
  return { ...dividedBy(together), shardOf };
}

/** The coordinator may take a second to connect to another machine. Its default of 30 seconds is all that background work has. */
export const CITUS_SETTINGS = "set citus.node_connection_timeout = 1000";

/** Whether the tables of a database are distributed. */
export async function readWhetherDistributed(store: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql<{ citus: boolean }>`
    select to_regclass('pg_dist_partition') is not null as citus`.execute(store);
  if (!rows[0]?.citus) return false;
  const { rows: tables } = await sql`
    select from pg_dist_partition where logicalrelid = to_regclass('payments') and partmethod = 'h'`.execute(
    store,
  );
  return tables.length > 0;
}
