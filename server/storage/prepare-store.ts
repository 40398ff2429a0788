import type { OnRun } from "../async/batcher.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";
import { type DomainClock, toDomainTime } from "../domain/clock.ts";
import { requireGuards } from "./database/guards.ts";
import type { Database } from "./database.ts";
import { statementsOf } from "./statements/statements.ts";
import { type BoundStorage, bindStorage } from "./storage.ts";
import { openEncryptionKeys } from "./webhooks/encryption-keys.ts";
import type { EncryptionKeys } from "./webhooks/secrets.ts";

/** The store's functions, the domain's clock, and the keys of the secrets in the store. */
export type PreparedStore = {
  store: BoundStorage;
  clock: DomainClock;
  encryptionKeys: EncryptionKeys;
};

/**
 * Prepares an open database for a server.
 *
 * @throws StoreStartError where the database would not add up refunds
 * @throws ConfigError for a database of the other mode
 */
export async function prepareStore(
  database: Database,
  config: Config,
  { realNow, isOff, onRun }: Pick<DomainClock, "realNow" | "isOff"> & { onRun: OnRun },
): Promise<PreparedStore> {
  const { mode } = config;
  requireGuards(await statementsOf(database.db).findMissingTriggers(database.db));
  const store = bindStorage(database, onRun);
  // In production nothing advances the clock. A statement here would take a connection from calls, also for background work.
  const readOffset = mode === "sandbox" ? store.readOffset : async () => 0;
  const clock = { realNow, isOff, now: async () => toDomainTime(realNow(), await readOffset()) };
  const owner = await store.claimMode(mode);
  if (owner !== mode) {
    throw new ConfigError(
      `DATABASE_URL names a database that is used in MODE=${owner}. ` +
        `MODE=${mode} needs another one: a sandbox's clock and public tokens must not meet real payments.`,
    );
  }
  return { store, clock, encryptionKeys: await openEncryptionKeys(config, await store.readKeyUses()) };
}
