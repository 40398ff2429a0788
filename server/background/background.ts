import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { Config } from "../config/config.ts";
import type { DomainClock } from "../domain/clock.ts";
import type { Observer } from "../observability/observer.ts";
import type { Changes } from "../sandbox/handlers/changes.ts";
import type { RunningParts } from "../stop.ts";
import { vacuum } from "../storage/database/embedded.ts";
import type { Database } from "../storage/database.ts";
import type { BoundStorage } from "../storage/storage.ts";
import type { EncryptionKeys } from "../storage/webhooks/secrets.ts";
import type { AttemptsOf } from "../webhooks/attempt.ts";
import type { TargetPolicy } from "../webhooks/target.ts";
import { startWebhooks, type WebhookSettings } from "../webhooks/webhooks.ts";
import { startDueScan } from "./due-scan.ts";
import type { RestoreWatch } from "./restore-watch.ts";
import { startRetention } from "./retention.ts";

type WorkParts = {
  database: Database;
  store: BoundStorage;
  clock: DomainClock;
  encryptionKeys: EncryptionKeys;
  metrics: Observer;
  changes: Changes;
  restoreWatch: RestoreWatch | undefined;
  targetPolicy: TargetPolicy;
  /** Makes the attempts of a sandbox. */
  attempts?: AttemptsOf | undefined;
  logger: Logger;
  vacuumMs: number;
  retentionMs?: number;
  webhooks?: Partial<WebhookSettings>;
};

/** The time between two runs that look for due deliveries, and between two publications of payouts. */
const [DISPATCH_MS, PAYOUTS_MS] = [1_000, 1_000];

/** What requests ask of background work. */
export type BackgroundWork = {
  /** Does at once what is due; resolves when it has been stored. */
  runDue(): Promise<void>;
};

/** Starts what a server does besides responding to requests, and adds each part to `running` as soon as it has started. */
export async function startBackgroundWork(
  { retentionDays: days, egress }: Config,
  parts: WorkParts,
  running: RunningParts,
): Promise<BackgroundWork> {
  const { database, store, clock, metrics, changes, restoreWatch, logger, vacuumMs, retentionMs } = parts;
  const onRun = metrics.noteRun;
  const webhooks = await startWebhooks({
    database,
    store,
    clock,
    encryptionKeys: parts.encryptionKeys,
    policy: parts.targetPolicy,
    logger,
    onRun: metrics.observeBatch,
    onAttempt(result, attempt) {
      metrics.observeAttempt(result, attempt);
      changes.notify(["webhooks", "inbox"]);
    },
    attempts: parts.attempts,
    settings: { ...egress, ...parts.webhooks },
  });
  running.webhooks = webhooks;
  const dueScan = startDueScan({
    store,
    clock,
    logger,
    onRun,
    onSkipped: metrics.countSkippedRefunds,
    onAuthorized(refunds) {
      metrics.countRefunds("AUTHORIZED", refunds);
      changes.notify(["payments", "webhooks"]);
    },
  });
  running.dueScan = dueScan;
  // Beside the scan, so that neither waits for the other.
  const dispatching = repeat(webhooks.dispatch, { name: "dispatching", everyMs: DISPATCH_MS, logger, onRun });
  running.dispatching = dispatching;
  const publish = async () => {
    await restoreWatch?.check();
    if (clock.isOff()) return;
    const position = await store.publishPayouts();
    if (position > 0) await restoreWatch?.onPublished(position);
  };
  running.payouts = repeat(publish, { name: "payouts", everyMs: PAYOUTS_MS, logger, onRun });
  // PostgreSQL vacuums by itself.
  if (database.embedded) {
    running.vacuum = repeat(() => vacuum(database.connection), { name: "vacuum", everyMs: vacuumMs, logger });
  }
  running.retention = startRetention({ store, days, clock, logger, everyMs: retentionMs, onRun });
  return {
    async runDue() {
      await dueScan.run();
      await dispatching.run();
    },
  };
}
