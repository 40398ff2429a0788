import type { Logger } from "pino";
import { productionAccess, sandboxAccess } from "./access.ts";
import { createApp } from "./app.ts";
import type { AuthSettings } from "./config/auth.ts";
import { ConfigError } from "./config/read.ts";
import type { Config } from "./config.ts";
import { type DomainClock, toDomainTime } from "./domain/clock.ts";
import { admitAtMost } from "./http/backpressure.ts";
import type { IssuerKeysOptions } from "./http/issuer-keys.ts";
import { createHttpServer } from "./http/server.ts";
import { drain, listen, toUrl } from "./listening.ts";
import { startMetrics } from "./metrics/start.ts";
import { repeat } from "./repeat.ts";
import { seedSandbox } from "./sandbox/seed.ts";
import type { Bound } from "./storage/bind.ts";
import { type Database, openDatabase, type StoreLimits } from "./storage/database.ts";
import { keepEncryptionKey } from "./storage/encryption-key.ts";
import { bindStorage, type storage } from "./storage/storage.ts";
import { vacuum } from "./storage/vacuum.ts";
import { inTime } from "./time-limit.ts";
import type { TargetPolicy } from "./webhooks/target.ts";
import { startWebhooks, type WebhookSettings } from "./webhooks/webhooks.ts";

export interface StartOptions {
  logger: Logger;
  /** Real time. */
  realNow?: () => Date;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs?: number;
  /** Milliseconds that a caller has to send a head. */
  headTimeoutMs?: number;
  /** Milliseconds that a published call may wait for the store in all; less than `drainMs`. */
  callLimitMs?: number;
  /** How long PostgreSQL may take, where it is to be otherwise than usual. */
  storeLimits?: Partial<StoreLimits>;
  /** Milliseconds that calls in flight have to end when the server stops. */
  drainMs?: number;
  /** Every how many milliseconds the embedded store is looked at for what is to be cleared. */
  vacuumMs?: number;
  /** How webhooks are sent, where it is to be otherwise than usual. */
  webhooks?: Partial<WebhookSettings>;
  /** How the keys of access tokens are fetched, where it is to be otherwise than usual. */
  issuerKeys?: Pick<IssuerKeysOptions, "refreshMs" | "cooldownMs">;
}

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Where `/metrics` is; undefined: nowhere. */
  metricsUrl: string | undefined;
  database: Database;
  /** Answers what is in flight, refuses what comes, then lets go of everything. May be called again. */
  close(): Promise<void>;
}

/** About what the store does in a tenth of a second. */
const MAX_CALLS_IN_FLIGHT = 256;

/** How long a probe waits for an answer, in milliseconds: those who ask have little patience. */
const READY_LIMIT_MS = 3_000;

/** How much longer than calls the rest may take when the server stops. */
const CUT_AFTER_MS = 500;

/** Every how many milliseconds there is a look for what is due by the domain's clock. */
const DUE_SCAN_MS = 1_000;

const DEFAULTS = {
  bodyTimeoutMs: 10_000,
  headTimeoutMs: 10_000,
  callLimitMs: 6_000,
  drainMs: 7_000,
  vacuumMs: 10_000,
  realNow: () => new Date(),
};

/** Opens the store, fills a sandbox, and listens. Rejects when a part can't start, and leaves nothing open then. */
export async function startServer(config: Config, options: StartOptions): Promise<RunningServer> {
  const { logger, realNow, headTimeoutMs, drainMs, vacuumMs, ...limits } = { ...DEFAULTS, ...options };
  // What is to be let go of, in the order in which it came to be.
  const opened: (() => Promise<void>)[] = [];
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    limits: options.storeLimits,
    onConnectionError: (error) => logger.warn({ err: error }, "lost a database connection"),
  });
  opened.push(database.close);
  try {
    const store = bindStorage(database);
    const clock = { realNow, now: async () => toDomainTime(realNow(), await store.readOffset()) };
    await prepareStore(config, store, clock);
    const encryptionKeys =
      config.encryptionKeys.length > 0 ? config.encryptionKeys : [await keepEncryptionKey(config.dataDir)];
    const admission = admitAtMost(MAX_CALLS_IN_FLIGHT);
    const access =
      config.mode === "sandbox"
        ? sandboxAccess((tokenSha256) => admission.admit(() => store.findToken(tokenSha256)))
        : productionAccess(requireAuth(config), { ...options.issuerKeys, logger, realNow });
    const { metrics, ...metricsServer } = await startMetrics(config, {
      backlog: async () => store.readBacklog(await clock.now()),
      poolUsage: database.poolUsage,
      keysAgeSeconds: access.keysAgeSeconds,
      logger,
    });
    opened.push(metricsServer.close);

    const targetPolicy = toTargetPolicy(config);
    const sender = await startWebhooks({
      database,
      clock,
      encryptionKeys,
      policy: targetPolicy,
      logger,
      onAttempt: metrics.observeAttempt,
      settings: options.webhooks,
    });
    opened.push(sender.stop);

    let draining = false;
    const doDue = async () => {
      metrics.countRefunds("AUTHORIZED", await store.authorizeDue(await clock.now()));
      await sender.dispatch();
    };
    const dueScan = repeat(doDue, { name: "due scan", everyMs: DUE_SCAN_MS, logger });
    opened.push(dueScan.stop);
    const stopVacuum = database.embedded ? startVacuum(database, vacuumMs, logger) : async () => {};
    opened.push(stopVacuum);
    const app = await createApp({
      config,
      store,
      clock,
      encryptionKeys,
      targetPolicy,
      logger,
      metrics,
      bodyTimeoutMs: limits.bodyTimeoutMs,
      callLimitMs: limits.callLimitMs,
      admission,
      findCaller: access.findCaller,
      checkReady: async () => {
        const late = () => new Error("something that calls need does not answer");
        await inTime(Promise.all([database.ping(), access.ready()]), READY_LIMIT_MS, late);
      },
      isDraining: () => draining,
      runDue: dueScan.run,
    });
    const server = createHttpServer(app, headTimeoutMs);
    await listen(server, config);

    let closing: Promise<void> | undefined;
    const stop = async () => {
      const inOrder = Promise.all([drain(server, drainMs), sender.stop(), stopVacuum()]).then(dueScan.stop);
      // What waits for a database that does not answer ends when its connections are cut.
      await inTime(inOrder, drainMs + CUT_AFTER_MS, () => new Error("not all has ended in time")).catch(
        (error: unknown) => logger.warn({ err: error }, "did not stop in order"),
      );
      await metricsServer.close();
      await database.close();
    };
    const close = () => {
      draining = true;
      closing ??= stop();
      return closing;
    };
    return { url: toUrl(server, config.host), metricsUrl: metricsServer.url, database, close };
  } catch (error) {
    for (const letGo of opened.reverse()) await letGo();
    throw error;
  }
}

/** Returns what ends it. */
function startVacuum({ connection }: Database, everyMs: number, logger: Logger): () => Promise<void> {
  return repeat(() => vacuum(connection), { name: "vacuum", everyMs, logger }).stop;
}

/** A database belongs to one mode; a sandbox's gets what a sandbox begins with. */
async function prepareStore(
  { mode }: Config,
  store: Bound<typeof storage>,
  clock: DomainClock,
): Promise<void> {
  const owner = await store.claimMode(mode);
  if (owner !== mode) {
    throw new ConfigError(
      `DATABASE_URL names a database that is used in MODE=${owner}. ` +
        `MODE=${mode} needs another one: a sandbox's clock and public tokens must not meet real payments.`,
    );
  }
  if (mode === "sandbox") await seedSandbox({ store, clock });
}

function requireAuth({ auth }: Config): AuthSettings {
  if (!auth) throw new ConfigError("AUTH_ISSUER is required in production.");
  return auth;
}

/** Where webhooks may go (D24): in the sandbox also to this machine. */
function toTargetPolicy({ mode, allowPrivateTargets }: Config): TargetPolicy {
  return { allowLocal: mode === "sandbox", allowPrivate: allowPrivateTargets };
}
