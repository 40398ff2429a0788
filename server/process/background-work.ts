import { randomUUID } from "node:crypto";
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
  const server = randomUUID();
  let known = 0;
  let publishedAtMs = performance.now();
  const publish = async () => {
    await restoreWatch?.check();
    if (clock.isWrong()) return;
    for (;;) {
      const published = await store.publishPayouts({ server, known });
      const last = published.lost === null ? published.last : 0;
      if (published.lost !== null) await restoreWatch?.onLost(published.lost);
      else if (last !== known) await restoreWatch?.onPublished(last);
      if (last === known) break;
      known = last; // the next statement tells the feed, which shows a payout only then
      if (published.lost !== null) break;
    }
    publishedAtMs = performance.now();
  };
  const payouts = repeat(publish, { name: "payouts", everyMs: PAYOUTS_MS, logger, onRun });
  running.payouts = { stop: () => payouts.stop().then(() => store.leaveFeed(server)) };
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
    async checkFeed() {
      if (performance.now() - publishedAtMs > FEED_LIMIT_MS) throw new Error("the payout feed stands still");
    },
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
  /** Makes attempts instead of the usual ones, as a sandbox does. */
  attempts: AttemptsOf | undefined;
  logger: Logger;
  /** Undefined: deliveries and events are kept. */
  retentionDays: number | undefined;
  retentionMs: number | undefined;
  vacuumMs: number;
  webhooks: Partial<WebhookSettings>;
};

/** The time between two runs that look for due deliveries, and between two publications of payouts. */
const [DISPATCH_MS, PAYOUTS_MS] = [1_000, 1_000];

/** The payout feed stands still when no run of it has ended for this long, in milliseconds. */
const FEED_LIMIT_MS = 10_000;

/** The background work that requests can start. */
export type BackgroundWork = Pick<Webhooks, "findObstacle"> & {
  /** Rejects while the payout feed stands still. */
  checkFeed(): Promise<void>;
  /** Does at once what is due; resolves when it has been stored. */
  runDue(): Promise<void>;
};
