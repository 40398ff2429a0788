import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { Observer } from "../observability/observer.ts";
import type { Database } from "../storage/database/database.ts";
import { vacuum } from "../storage/database/embedded-postgres.ts";
import type { Store } from "../storage/open-store.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";
import type { AttemptsOf } from "../webhooks/delivery-attempt.ts";
import { startWebhooks, type WebhookSettings, type Webhooks } from "../webhooks/start-webhooks.ts";
import type { TargetPolicy } from "../webhooks/target-policy.ts";
import { startDueScan } from "./due-refunds-job.ts";
import { startPayouts } from "./payouts-job.ts";
import type { RestoreWatch } from "./restore-detection.ts";
import { startRetention } from "./retention-job.ts";
import type { RunningParts } from "./shutdown.ts";

/** Starts what a server does besides responding to requests, and adds each part to `running` as soon as it has started. */
export async function startBackgroundWork(parts: WorkParts, running: RunningParts): Promise<BackgroundWork> {
  const { database, store, clock, observer, restoreWatch, logger } = parts;
  const onRun = observer.noteRun;
  const webhooks = await startWebhooks({
    database,
    store,
    clock,
    encryptionKeys: parts.encryptionKeys,
    policy: parts.targetPolicy,
    logger,
    callsUnderWay: parts.callsUnderWay,
    onAttempt: observer.observeAttempt,
    attempts: parts.attempts,
    settings: parts.webhooks,
  });
  running.webhooks = webhooks;
  const dueScan = startDueScan({
    store,
    clock,
    logger,
    onRun,
    onSkipped: observer.countSkippedRefunds,
    onAuthorized: (refunds) => observer.countRefunds("AUTHORIZED", refunds),
  });
  running.dueScan = dueScan;
  // Beside the scan, so that neither waits for the other.
  const dispatching = repeat(webhooks.dispatch, { name: "dispatching", everyMs: DISPATCH_MS, logger, onRun });
  running.dispatching = dispatching;
  const payouts = startPayouts({ store, clock, restoreWatch, logger, onRun });
  running.payouts = payouts;
  // Before it serves, so that the feed waits for it from the beginning, even beside another server.
  if (!database.embedded) await payouts.run().catch(() => {}); // the next run logs the error
  // PostgreSQL vacuums by itself.
  if (database.embedded) {
    const everyMs = parts.vacuumMs;
    running.vacuum = repeat(() => vacuum(database.background), { name: "vacuum", everyMs, logger });
  }
  running.retention = startRetention({
    store,
    days: parts.retentionDays,
    clock,
    logger,
    everyMs: parts.retentionMs,
    onRun,
  });
  return {
    findObstacle: webhooks.findObstacle,
    checkFeed: payouts.check,
    async runDue() {
      await dueScan.run();
      await dispatching.run();
    },
  };
}

type WorkParts = {
  database: Database;
  store: Store;
  clock: DomainClock;
  encryptionKeys: EncryptionKeys;
  observer: Observer;
  restoreWatch: RestoreWatch | undefined;
  targetPolicy: TargetPolicy;
  callsUnderWay: () => number;
  /** Makes attempts instead of the usual ones, as a sandbox does. */
  attempts: AttemptsOf | undefined;
  logger: Logger;
  /** Undefined: deliveries and events are kept. */
  retentionDays: number | undefined;
  retentionMs: number | undefined;
  vacuumMs: number;
  webhooks: Partial<WebhookSettings>;
};

/** The time between two runs that look for due deliveries. */
const DISPATCH_MS = 1_000;

/** The background work that requests can start. */
export type BackgroundWork = Pick<Webhooks, "findObstacle"> & {
  /** Rejects while the payout feed stands still. */
  checkFeed(): Promise<void>;
  /** Does at once what is due; resolves when it has been stored. */
  runDue(): Promise<void>;
};
