import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import { createAccess, type IssuerKeysTimes } from "../auth/access-tokens.ts";
import { type BlocksSettings, startBlocks } from "../auth/blocked-callers.ts";
import type { Config } from "../config/config.ts";
import { unavailable } from "../contract/problem.ts";
import { createConcurrencyLimit } from "../http/concurrency-limit.ts";
import { startProbeServer } from "../http/health-probes.ts";
import { createHttpServer, type HttpServer } from "../http/http-server.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { openMetrics } from "../observability/metrics-endpoint.ts";
import { type Observer, observeAll } from "../observability/observer.ts";
import { type Database, openDatabase, type StoreLimits } from "../storage/database/database.ts";
import { prepareStore } from "../storage/open-store.ts";
import type { AttemptsOf } from "../webhooks/delivery-attempt.ts";
import type { WebhookSettings } from "../webhooks/start-webhooks.ts";
import { startBackgroundWork } from "./background-work.ts";
import { startSharedClock } from "./database-clock.ts";
import { type AppParts, createApp } from "./express-app.ts";
import { startRestoreWatch } from "./restore-detection.ts";
import { type RunningParts, stopParts } from "./shutdown.ts";

/** Starts the parts of a server one after the other. Rejects when one can't start, after stopping those that had started. */
export async function startServer(
  config: Config,
  options: StartOptions,
  createHooks?: CreateHooks,
): Promise<RunningServer> {
  const settings = { ...DEFAULTS, ...options };
  const running: RunningParts = {};
  let stopped: Promise<void> | undefined;
  const close = () => {
    stopped ??= stopParts(running, settings);
    return stopped;
  };
  try {
    return { ...(await startParts(config, settings, running, createHooks)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

export type StartOptions = {
  logger: Logger;
  /** Real time instead of the database's, for tests. */
  realNow?: () => Date;
  /** This machine's clock, which is only compared with the database's. */
  ownNow?: () => Date;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs?: number;
  /** Milliseconds that a caller has to send a request's head. */
  headTimeoutMs?: number;
  /** Milliseconds that a published operation may wait for the store in total; less than `drainMs`. */
  callLimitMs?: number;
  storeLimits?: Partial<StoreLimits>;
  /** Milliseconds that requests in flight have to end when the server stops. */
  drainMs?: number;
  /** Milliseconds between two searches for tables of the embedded store to vacuum. */
  vacuumMs?: number;
  /** Milliseconds between two searches for records that are past retention. */
  retentionMs?: number;
  webhooks?: Partial<WebhookSettings>;
  blocks?: Partial<BlocksSettings>;
  issuerKeys?: IssuerKeysTimes;
};

/** How a program that wraps the server changes it, as the sandbox does. */
export type Hooks = {
  /** Makes the attempts of deliveries. */
  attempts: AttemptsOf;
  /** Gets a call for each piece of the server's work, as the metrics do. */
  observer: Partial<Observer>;
  /** Gets every request first; to act within a call of the app, it leaves `intercept` in the locals of the call. */
  wrap(app: RequestListener): RequestListener;
};

/** What the hooks may use of the server. */
export type Core = {
  app: AppParts;
  http: Pick<HttpServer, "draining" | "isLocal" | "ownUrl">;
  /** Does at once what is due; resolves when it has been stored. */
  runDue(): Promise<void>;
};

export type CreateHooks = (core: Core) => Promise<Hooks>;

export type RunningServer = {
  /** Its address, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Whether only this machine reaches it. */
  isLocal: boolean;
  /** The address of `/metrics`; undefined when it is not served. */
  metricsUrl: string | undefined;
  /** The address of the probes' own port; undefined when they have none. */
  probeUrl: string | undefined;
  database: Database;
  /** Refuses new requests, waits for those in flight, then closes every part. May be called again. */
  close(): Promise<void>;
};

/** A merchant gets about as many requests as the store serves in a tenth of a second; the rest is always left to others. */
const MAX_CALLS_IN_FLIGHT = { total: 512, perMerchant: 256 };

const DEFAULTS = {
  bodyTimeoutMs: 10_000,
  headTimeoutMs: 10_000,
  callLimitMs: 6_000,
  drainMs: 7_000,
  vacuumMs: 10_000,
  ownNow: () => new Date(),
};

type Settings = StartOptions & typeof DEFAULTS;

/** Adds each part to `running` as soon as it has started. */
async function startParts(
  config: Config,
  settings: Settings,
  running: RunningParts,
  createHooks: CreateHooks | undefined,
): Promise<Omit<RunningServer, "close">> {
  const { logger } = settings;
  const { metrics, serve: serveMetrics } = await openMetrics(config);
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    readDatabaseUrls: config.readDatabaseUrls,
    dataDir: config.dataDir,
    limits: settings.storeLimits,
    onConnectionError: (error) => logger.warn({ err: error }, "lost a database connection"),
    onWritesChange: (reason) =>
      reason
        ? logger.error({ err: reason }, "the database refuses writes, so this server is not ready")
        : logger.info("the database takes writes again"),
  });
  running.database = { stop: database.close };
  const { ownNow, realNow } = settings;
  const sharedClock = await startSharedClock({ database, ownNow, realNow, logger });
  running.sharedClock = sharedClock;
  const { store, clock, encryptionKeys } = await prepareStore(database, config, {
    realNow: sharedClock.realNow,
    isWrong: sharedClock.isWrong,
  });
  running.database = { stop: store.close };

  // A sandbox loses its data whenever it is reset.
  const restoreWatch =
    config.mode === "production"
      ? await startRestoreWatch({ store, file: config.highWaterMarkFile, logger })
      : undefined;
  // A last check also writes the refund that was issued last into the file.
  running.restoreWatch = restoreWatch && { stop: restoreWatch.check };

  const access = createAccess(config, {
    findToken: store.findToken,
    realNow: clock.realNow,
    logger,
    issuerKeys: settings.issuerKeys,
  });
  running.access = access;
  const blocks = await startBlocks({
    database,
    store,
    realNow: clock.realNow,
    logger,
    settings: settings.blocks,
  });
  running.blocks = blocks;
  const concurrency = createConcurrencyLimit(MAX_CALLS_IN_FLIGHT);
  // A single server counts alone; several servers on one database share their count (D27).
  const rateLimiter =
    config.rateLimit === undefined
      ? undefined
      : createRateLimiter({
          requestsPerSecond: config.rateLimit,
          report: config.databaseUrl ? store.reportCalls : undefined,
          logger,
        });
  running.rateLimiter = rateLimiter;
  const metricsServer = await serveMetrics(
    {
      backlog: async () => store.readBacklog(await clock.now()),
      checkWrites: database.checkWrites,
      lastCheck: store.readLastCheck,
      poolUsage: database.poolUsage,
      requestsInFlight: concurrency.taken,
      refundsWaiting: store.refundsWaiting,
      keysAgeSeconds: access.keysAgeSeconds,
      failedKeyFetches: access.failedKeyFetches,
      clockSkewSeconds: sharedClock.skewSeconds,
    },
    logger,
  );
  running.metrics = metricsServer;

  const http = createHttpServer({
    host: config.host,
    port: config.port,
    maxConnections: config.maxConnections,
    stopDelaySeconds: config.stopDelaySeconds,
    headTimeoutMs: settings.headTimeoutMs,
    drainMs: settings.drainMs,
    logger,
  });
  // In the sandbox webhooks may also go to this machine (D24).
  const targetPolicy = { allowLocal: config.mode === "sandbox", allowPrivate: config.allowPrivateTargets };
  const app: AppParts = {
    config,
    store,
    clock,
    encryptionKeys,
    // By a clock that may be wrong, no token is valid or expired.
    findCaller: async (...call) => {
      if (config.mode === "production" && clock.isWrong())
        throw unavailable(undefined, "the clocks of this server and the database differ");
      return access.findCaller(...call);
    },
    refuseBlocked: blocks.refuse,
    targetPolicy,
    // Merchants see no log of production; in a sandbox a container's address or name is often the mistake.
    findObstacle: config.mode === "sandbox" ? (...target) => work.findObstacle(...target) : undefined,
    logger,
    observer: metrics,
    onIssued: restoreWatch?.onIssued,
    concurrency,
    rateLimiter,
    bodyTimeoutMs: settings.bodyTimeoutMs,
    callLimitMs: settings.callLimitMs,
    readinessChecks: [
      sharedClock.check,
      database.checkWrites,
      access.ready,
      blocks.check,
      http.checkStays,
      () => work.checkFeed(),
    ],
    isDraining: http.isDraining,
  };
  const hooks = await createHooks?.({ app, http, runDue: () => work.runDue() });
  const observer = hooks ? observeAll([metrics, hooks.observer]) : metrics;
  const work = await startBackgroundWork(
    {
      database,
      store,
      clock,
      encryptionKeys,
      observer,
      restoreWatch,
      targetPolicy,
      callsUnderWay: concurrency.taken,
      attempts: hooks?.attempts,
      logger,
      retentionDays: config.retentionDays,
      retentionMs: settings.retentionMs,
      vacuumMs: settings.vacuumMs,
      webhooks: { ...config.egress, ...settings.webhooks },
    },
    running,
  );
  const listener = await createApp({ ...app, observer });
  running.http = http;
  await http.start(hooks ? hooks.wrap(listener) : listener);
  const probeServer = await startProbeServer({ host: config.host, port: config.probePort }, app);
  running.probes = probeServer;
  // Set last: before it can be probed, a server that stops has nothing to wait for.
  running.readiness = { stop: http.leave };
  return {
    url: http.url(),
    isLocal: http.isLocal(),
    metricsUrl: metricsServer.url && `${metricsServer.url}/metrics`,
    probeUrl: probeServer.url,
    database,
  };
}
