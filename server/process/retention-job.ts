import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { Store } from "../storage/open-store.ts";
import type { OldRows } from "../storage/webhooks/delete-expired.ts";

/**
 * Until stopped, removes finished deliveries, their attempts, events and who subscribed, each after the configured number of days,
 * and replaced secrets of webhooks. Payments and refunds are never removed. Batches are small, with long pauses, so that refunds
 * and deliveries are not delayed.
 */
export function startRetention(parts: RetentionParts): Retention {
  const { store, days, clock, logger, everyMs = EVERY_MS, onRun } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function removeAll(table: OldRows, before: Date): Promise<number> {
    let total = 0;
    let after = "";
    while (!signal.aborted) {
      const startedMs = performance.now();
      const { removed, last } = await store.removeOld({ table, before, after, atMost: BATCH_SIZE });
      total += removed;
      if (last === undefined) break;
      after = last;
      const pauseMs = Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedMs));
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    }
    return total;
  }

  async function removePast(before: Date): Promise<void> {
    const deliveries = await removeAll("deliveries", before);
    // After their deliveries, which refer to them.
    const events = await removeAll("events", before);
    const subscribers = await store.forgetSubscribers(before);
    if (deliveries + events + subscribers > 0)
      logger.info({ deliveries, events, subscribers, before }, "removed what is past retention");
  }

  async function removeOld(): Promise<void> {
    if (clock.isWrong()) return;
    if (days !== undefined) await removePast(new Date(clock.realNow().getTime() - days * DAY_MS));
    // Last, because on a cluster it fails while a machine is silent.
    await store.forgetOldSecrets(await clock.now());
  }

  const { run, stop } = repeat(removeOld, { name: "retention", everyMs, logger, onRun });
  return {
    run,
    async stop() {
      stopping.abort();
      await stop();
    },
  };
}

const DAY_MS = 86_400_000;
/** The time between two runs, in milliseconds: short, so that each run has little to remove. */
const EVERY_MS = 60_000;
/** Rows of a batch: on the embedded store the whole server waits for it. */
const BATCH_SIZE = 25;
/** After a batch, retention pauses for this many times as long as the batch took. */
const PAUSE_FACTOR = 9;
const MIN_PAUSE_MS = 20;

export type RetentionParts = {
  readonly store: Pick<Store, "removeOld" | "forgetSubscribers" | "forgetOldSecrets">;
  /** Undefined: deliveries and events are kept. */
  readonly days: number | undefined;
  readonly clock: DomainClock;
  readonly logger: Logger;
  readonly everyMs?: number | undefined;
  /** Called after each run without an error. */
  readonly onRun?: (name: string) => void;
};

export type Retention = {
  /** Removes what is old enough now; resolves when that is removed, or retention has stopped. */
  run(): Promise<void>;
  /** Waits for the batch in progress. */
  stop(): Promise<void>;
};
