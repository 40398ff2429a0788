/** Publishes payouts in the feed that the payment system reads, every second. */
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { Observer } from "../observability/observer.ts";
import type { Store } from "../storage/open-store.ts";
import type { RestoreWatch } from "./restore-detection.ts";

const EVERY_MS = 1_000;
/** The feed stands still when no run has ended for this long, in milliseconds. */
const FEED_LIMIT_MS = 10_000;

type PayoutsParts = {
  readonly store: Store;
  readonly clock: DomainClock;
  readonly restoreWatch: RestoreWatch | undefined;
  readonly logger: Logger;
  readonly onRun: Observer["noteRun"];
};

export function startPayouts({ store, clock, restoreWatch, logger, onRun }: PayoutsParts) {
  const server = randomUUID();
  let knownCursor = 0;
  let publishedAtMs = performance.now();
  const publish = async () => {
    await restoreWatch?.check();
    if (clock.isWrong()) return;
    for (;;) {
      const published = await store.publishPayouts({ server, known: knownCursor });
      const isLost = published.lost !== null;
      const lastCursor = isLost ? 0 : published.last;
      if (published.lost !== null) await restoreWatch?.onLost(published.lost);
      else if (lastCursor !== knownCursor) await restoreWatch?.onPublished(lastCursor);
      if (lastCursor === knownCursor) break;
      // A payout is shown only when the next statement says that this server knows it.
      knownCursor = lastCursor;
      if (isLost) break;
    }
    publishedAtMs = performance.now();
  };
  const payouts = repeat(publish, { name: "payouts", everyMs: EVERY_MS, logger, onRun });
  return {
    run: payouts.run,
    stop: () => payouts.stop().then(() => store.leaveFeed(server)),
    /** Rejects while the feed stands still. */
    async check() {
      if (performance.now() - publishedAtMs > FEED_LIMIT_MS) throw new Error("the payout feed stands still");
    },
  };
}
