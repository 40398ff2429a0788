import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";
import { type DomainClock, toDomainTime } from "../domain/domain-time.ts";
import { isDistributed } from "./citus/shard-functions.ts";
import type { Database } from "./database/database.ts";
import { requireGuards } from "./database/payment-triggers.ts";
import { distributed } from "./distributed-store.ts";
import { authorizeDue, type DueOptions, type DueRun } from "./payments/authorize-due-refunds.ts";
import { tryRefund } from "./start-check.ts";
import {
  type Batches,
  bindFunctions,
  createBatches,
  type StoreFunctions,
  type StoreParts,
} from "./store-functions.ts";
import type { EncryptionKeys } from "./webhooks/secret-encryption.ts";
import { openEncryptionKeys } from "./webhooks/secret-encryption.ts";

/** Binds the storage functions to an open database, and to the machines of a cluster where its tables are distributed. */
export async function openStore(database: Database): Promise<Store> {
  const plainFunctions = bindFunctions(database);
  const { listen } = database.connection;
  const plain = {
    functions: plainFunctions,
    batches: createBatches(plainFunctions),
    listen,
    close: database.close,
  };
  const { functions, batches, ...parts } = (await isDistributed(database))
    ? await distributed(plain, database)
    : plain;
  return {
    ...functions,
    ...batches,
    ...parts,
    authorizeDue: (now, options) => authorizeDue(functions, now, options),
  };
}

/** What a server does with its database. Each of its parts declares which of these functions it uses. */
export type Store = StoreFunctions &
  Batches &
  Pick<StoreParts, "listen" | "close"> & {
    /** As `authorizeDue` in `authorize-due-refunds.ts`. */
    authorizeDue(now: Date, options?: DueOptions): Promise<DueRun>;
  };

/** The store's functions, the domain's clock, and the keys of the secrets in the store. */
export type PreparedStore = { store: Store; clock: DomainClock; encryptionKeys: EncryptionKeys };

/**
 * Prepares an open database for a server.
 * @throws StoreStartError where the database would not add up refunds
 * @throws ConfigError for a database of the other mode
 */
export async function prepareStore(
  database: Database,
  config: Config,
  { realNow, isWrong }: Pick<DomainClock, "realNow" | "isWrong">,
): Promise<PreparedStore> {
  const { mode } = config;
  const store = await openStore(database);
  requireGuards(await store.findMissingTriggers());
  // Nobody else can change what the statements of an embedded store mean.
  if (!database.embedded && !(await isDistributed(database))) await tryRefund(database.background);
  // In production nothing advances the clock. A statement here would take a connection from calls, also for background work.
  const readOffset = mode === "sandbox" ? store.readOffset : async () => 0;
  const clock = { realNow, isWrong, now: async () => toDomainTime(realNow(), await readOffset()) };
  const owner = await store.claimMode(mode);
  if (owner !== mode) {
    throw new ConfigError(
      `DATABASE_URL names a database that is used in MODE=${owner}. ` +
        `MODE=${mode} needs another one: a sandbox's clock and public tokens must not meet real payments.`,
    );
  }
  return { store, clock, encryptionKeys: await openEncryptionKeys(config, await store.readKeyUses()) };
}
