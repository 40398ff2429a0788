import type { Logger } from "pino";
import { repeat } from "./async/repeat.ts";
import type { Access } from "./auth/access.ts";
import type { Config } from "./config/config.ts";
import type { DomainClock } from "./domain/clock.ts";
import type { Metrics } from "./metrics/prometheus.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import type { Changes } from "./sandbox/calls/changes.ts";
import { vacuum } from "./storage/database/embedded.ts";
import type { Database } from "./storage/database.ts";
import type { Bound, storage } from "./storage/storage.ts";
import { type Retention, startRetention } from "./webhooks/retention.ts";
import type { TargetPolicy } from "./webhooks/target.ts";
import { startWebhooks, type WebhookSettings, type Webhooks } from "./webhooks/webhooks.ts";

/** Milliseconds between two comparisons of this server's clock with the database's. */
const CLOCK_CHECK_MS = 60_000;

/** Milliseconds between two scans for refunds and deliveries that are due. */
const DUE_SCAN_MS = 1_000;

type Close = () => Promise<void>;

interface WorkSettings {
  logger: Logger;
  realNow: () => Date;
  vacuumMs: number;
  retentionMs?: number;
  webhooks?: Partial<WebhookSettings>;
}

/** What a server does besides responding to requests. */
export interface BackgroundWork {
  webhooks: Webhooks;
  schedules: Schedules;
  retention: Retention;
  readiness: Readiness;
}

/** What background work uses. */
interface WorkParts {
  store: Bound<typeof storage>;
  clock: DomainClock;
  encryptionKeys: readonly Buffer[];
  database: Database;
  access: Access;
  metrics: Metrics;
  changes: Changes;
  targetPolicy: TargetPolicy;
}

/** Starts the work, and adds to `closers` what stops each part that has started. */
export async function startBackgroundWork(
  config: Config,
  { database, store, clock, encryptionKeys, access, metrics, changes, targetPolicy }: WorkParts,
  settings: WorkSettings,
  closers: Close[],
): Promise<BackgroundWork> {
  const { logger, realNow } = settings;
  const webhooks = await startWebhooks({
    database,
    clock,
    encryptionKeys,
    policy: targetPolicy,
    logger,
    onAttempt: (result) => {
      metrics.observeAttempt(result);
      changes.notify(["webhooks", "inbox"]);
    },
    settings: settings.webhooks,
  });
  closers.push(webhooks.stop);
  const authorizeDue = async () => {
    const authorized = await store.authorizeDue(await clock.now());
    metrics.countRefunds("AUTHORIZED", authorized.length);
    for (const refund of authorized) logger.info({ ...refund, paymentStatus: "AUTHORIZED" }, "transition");
    if (authorized.length > 0) changes.notify(["payments", "webhooks"]);
    await webhooks.dispatch();
  };
  const readiness = createReadiness({ ...settings, database, access });
  await readiness.compareClocks();
  const schedules = startSchedules(database, { authorizeDue, readiness }, settings);
  closers.push(schedules.stopVacuum, schedules.stopDueScan, schedules.stopClockCheck);
  const { retentionDays: days } = config;
  const retention = startRetention({ store, days, realNow, logger, everyMs: settings.retentionMs });
  closers.push(retention.stop);
  return { webhooks, schedules, retention, readiness };
}

/** What a server does by itself, at fixed intervals. */
interface Schedules {
  /** Does at once what is due; resolves when it has been stored. */
  runDue(): Promise<void>;
  stopDueScan: Close;
  stopClockCheck: Close;
  /** Without effect on PostgreSQL, which vacuums by itself. */
  stopVacuum: Close;
}

function startSchedules(
  { embedded, connection }: Database,
  { authorizeDue, readiness }: { authorizeDue: () => Promise<void>; readiness: Readiness },
  { vacuumMs, logger }: WorkSettings,
): Schedules {
  const dueScan = repeat(authorizeDue, { name: "due scan", everyMs: DUE_SCAN_MS, logger });
  const { compareClocks } = readiness;
  const clockCheck = repeat(compareClocks, { name: "clock check", everyMs: CLOCK_CHECK_MS, logger });
  const vacuumScan = embedded
    ? repeat(() => vacuum(connection), { name: "vacuum", everyMs: vacuumMs, logger })
    : undefined;
  return {
    runDue: dueScan.run,
    stopDueScan: dueScan.stop,
    stopClockCheck: clockCheck.stop,
    stopVacuum: async () => vacuumScan?.stop(),
  };
}
