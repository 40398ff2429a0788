import type { Server } from "node:http";
import pTimeout from "p-timeout";
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import { type Access, productionAccess, sandboxAccess } from "./auth/access.ts";
import type { IssuerKeysOptions } from "./auth/issuer-keys.ts";
import { type BackgroundWork, startBackgroundWork } from "./background-work.ts";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/environment.ts";
import { type DomainClock, toDomainTime } from "./domain/clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "./http/concurrency-limit.ts";
import { createHttpServer, drain, listen, toUrl } from "./http/http-server.ts";
import { type RunningMetrics, startMetrics } from "./metrics/metrics.ts";
import { createChanges } from "./sandbox/calls/changes.ts";
import { seedSandbox } from "./sandbox/sandbox.ts";
import { type Database, openDatabase, type StoreLimits } from "./storage/database.ts";
import { type BoundStorage, bindStorage } from "./storage/storage.ts";
import { openEncryptionKeys } from "./storage/webhooks/encryption-keys.ts";
import type { TargetPolicy } from "./webhooks/target.ts";
import type { WebhookSettings } from "./webhooks/webhooks.ts";

export interface StartOptions {
  logger: Logger;
  /** Real time. */
  realNow?: () => Date;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs?: number;
  /** Milliseconds that a caller has to send a request's head. */
  headTimeoutMs?: number;
  /** Milliseconds that a published operation may wait for the store in total; less than `drainMs`. */
  callLimitMs?: number;
  /** Time limits of PostgreSQL that differ from the defaults. */
  storeLimits?: Partial<StoreLimits>;
  /** Milliseconds that requests in flight have to end when the server stops. */
  drainMs?: number;
  /** Milliseconds between two searches for tables of the embedded store to vacuum. */
  vacuumMs?: number;
  /** Milliseconds between two searches for records that are past retention. */
  retentionMs?: number;
  /** Settings of webhooks that differ from the defaults. */
  webhooks?: Partial<WebhookSettings>;
  /** Times of fetching the issuer's keys that differ from the defaults. */
  issuerKeys?: Pick<IssuerKeysOptions, "refreshMs" | "cooldownMs">;
}

export interface RunningServer {
  /** Its address, such as `http://127.0.0.1:3000`. */
  url: string;
  /** The address of `/metrics`; undefined when it is not served. */
  metricsUrl: string | undefined;
  database: Database;
  /** Refuses new requests, waits for those in flight, then closes every part. May be called again. */
  close(): Promise<void>;
}

/** About as many requests as the store serves in a tenth of a second. */
const MAX_CALLS_IN_FLIGHT = 256;

/** How much longer than requests in flight the other parts may take to stop, in milliseconds. */
const CUT_AFTER_MS = 500;

const DEFAULTS = {
  bodyTimeoutMs: 10_000,
  headTimeoutMs: 10_000,
  callLimitMs: 6_000,
  drainMs: 7_000,
  vacuumMs: 10_000,
  realNow: () => new Date(),
};

type Settings = StartOptions & typeof DEFAULTS;
type Close = () => Promise<void>;

/** Starts the parts of a server one after the other. Rejects when one can't start, after closing those that had started. */
export async function startServer(config: Config, options: StartOptions): Promise<RunningServer> {
  const settings = { ...DEFAULTS, ...options };
  const { logger } = settings;
  const closers: Close[] = [];
  try {
    const database = await openStore(config, settings);
    closers.push(database.close);
    const prepared = await prepareStore(config, database, settings);
    const { store, clock, encryptionKeys } = prepared;
    const concurrency = createConcurrencyLimit(MAX_CALLS_IN_FLIGHT);
    const access = createAccess(config, settings, { store, concurrency });
    const metricsServer = await startMetrics(config, {
      backlog: async () => store.readBacklog(await clock.now()),
      poolUsage: database.poolUsage,
      keysAgeSeconds: access.keysAgeSeconds,
      logger,
    });
    closers.push(metricsServer.close);
    const { metrics } = metricsServer;
    const changes = createChanges();
    const targetPolicy = toTargetPolicy(config);
    const parts = { ...prepared, database, access, metrics, changes, targetPolicy };
    const work = await startBackgroundWork(config, parts, settings, closers);

    let isDraining = false;
    const app = await createApp({
      config,
      store,
      clock,
      encryptionKeys,
      targetPolicy,
      logger,
      metrics,
      bodyTimeoutMs: settings.bodyTimeoutMs,
      callLimitMs: settings.callLimitMs,
      concurrency,
      findCaller: access.findCaller,
      checkReady: work.readiness.check,
      isDraining: () => isDraining,
      runDue: work.schedules.runDue,
      ...(config.mode === "sandbox" && { sandbox: { changes, ownUrl: () => ownUrl(server, config.host) } }),
    });
    const server = createHttpServer(app, settings.headTimeoutMs);
    await listen(server, config);

    let closed: Promise<void> | undefined;
    const drainRequests = () => drain(server, settings.drainMs);
    const close = () => {
      isDraining = true;
      changes.close();
      closed ??= stopServer({ ...work, drainRequests, metricsServer, database }, settings);
      return closed;
    };
    return { url: toUrl(server, config.host), metricsUrl: metricsServer.url, database, close };
  } catch (error) {
    for (const closePart of closers.reverse()) {
      // A part that can't be closed must neither keep the others open nor hide why the server did not start.
      await closePart().catch((err: unknown) => logger.warn({ err }, "did not close after a failed start"));
    }
    throw error;
  }
}

/** In the sandbox webhooks may also go to this machine (D24). */
function toTargetPolicy({ mode, allowPrivateTargets }: Config): TargetPolicy {
  return { allowLocal: mode === "sandbox", allowPrivate: allowPrivateTargets };
}

/** A server that listens on every address reaches itself on one of them. */
function ownUrl(server: Server, host: string): string {
  return toUrl(server, ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host);
}

function openStore({ databaseUrl, dataDir }: Config, { logger, storeLimits }: Settings): Promise<Database> {
  return openDatabase({
    databaseUrl,
    dataDir,
    limits: storeLimits,
    onConnectionError: (error) => logger.warn({ err: error }, "lost a database connection"),
  });
}

/** The store's functions, the domain's clock, and the keys of the secrets in the store. */
interface PreparedStore {
  store: BoundStorage;
  clock: DomainClock;
  encryptionKeys: readonly Buffer[];
}

/** Refuses a database of the other mode, and fills the sandbox's. */
async function prepareStore(
  config: Config,
  database: Database,
  { realNow }: Settings,
): Promise<PreparedStore> {
  const { mode } = config;
  const store = bindStorage(database);
  const clock = { realNow, now: async () => toDomainTime(realNow(), await store.readOffset()) };
  const owner = await store.claimMode(mode);
  if (owner !== mode) {
    throw new ConfigError(
      `DATABASE_URL names a database that is used in MODE=${owner}. ` +
        `MODE=${mode} needs another one: a sandbox's clock and public tokens must not meet real payments.`,
    );
  }
  if (mode === "sandbox") await seedSandbox({ store, clock });
  return { store, clock, encryptionKeys: await openEncryptionKeys(config, await store.readKeyUses()) };
}

function createAccess(
  { mode, auth }: Config,
  { logger, realNow, issuerKeys }: Settings,
  { store, concurrency }: { store: BoundStorage; concurrency: ConcurrencyLimit },
): Access {
  if (mode === "sandbox") {
    return sandboxAccess((tokenSha256) => concurrency.run(() => store.findToken(tokenSha256)));
  }
  if (!auth) throw new ConfigError("AUTH_ISSUER is required in production.");
  return productionAccess(auth, { ...issuerKeys, logger, realNow });
}

/** The parts of a running server, in the order in which they stop. */
interface StoppableParts extends Omit<BackgroundWork, "readiness"> {
  drainRequests: Close;
  metricsServer: RunningMetrics;
  database: Database;
}

/** First stops the parts that accept and do work, and last the database. Aborts whatever has not ended in time. */
async function stopServer(parts: StoppableParts, { drainMs, logger }: Settings): Promise<void> {
  const { drainRequests, webhooks, schedules, retention, metricsServer, database } = parts;
  // The due scan stops after the requests, because one that advances the sandbox's clock waits for it.
  const { stopVacuum, stopClockCheck, stopDueScan } = schedules;
  const background = [webhooks.stop(), stopVacuum(), stopClockCheck(), retention.stop()];
  const stopped = Promise.all([drainRequests(), ...background]).then(stopDueScan);
  // Work that waits for an unresponsive database ends when its connections are closed below.
  await pTimeout(stopped, {
    milliseconds: drainMs + CUT_AFTER_MS,
    message: "work was still under way",
  }).catch((error: unknown) => logger.warn({ err: error }, "did not stop in order"));
  await metricsServer.close();
  await database.close();
}
