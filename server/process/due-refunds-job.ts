import type { Logger } from "pino";
import { type Repeated, repeat } from "../async/repeat.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import { traceIdOf } from "../domain/trace-context.ts";
import type { Store } from "../storage/open-store.ts";

/**
 * Authorizes the refunds whose wait is over: every second and on request, as when the sandbox's clock is
 * advanced. A run rejects with the first error after it has authorized all others.
 */
export function startDueScan({
  store,
  clock,
  onAuthorized,
  onSkipped,
  onRun,
  logger,
}: DueScanParts): Repeated {
  async function authorizeDue(): Promise<void> {
    if (clock.isWrong()) return;
    const { skipped, errors } = await store.authorizeDue(await clock.now(), {
      onAuthorized(refunds) {
        for (const { paymentId, merchant, trace } of refunds) {
          const ids = { paymentId, merchant, trace_id: traceIdOf(trace), span_id: undefined };
          logger.info({ ...ids, paymentStatus: "AUTHORIZED" }, "transition");
        }
        onAuthorized(refunds.length);
      },
    });
    if (skipped > 0) onSkipped(skipped);
    if (errors.length > 0) throw errors[0];
  }
  return repeat(authorizeDue, { name: "due scan", everyMs: EVERY_MS, logger, onRun });
}

const EVERY_MS = 1_000;

export type DueScanParts = {
  store: Pick<Store, "authorizeDue">;
  clock: DomainClock;
  /** Called with the number of refunds that a transaction has authorized. */
  onAuthorized: (refunds: number) => void;
  /** Called with the number of due refunds that a run has left to the next one, because another transaction has locked them. */
  onSkipped: (refunds: number) => void;
  /** Called after each run without an error. */
  onRun?: (name: string) => void;
  logger: Logger;
};
