import type { Logger } from "pino";
import { type Repeated, repeat } from "../async/repeat.ts";
import type { DomainClock } from "../domain/clock.ts";
import type { BoundStorage } from "../storage/storage.ts";

const EVERY_MS = 1_000;

export type DueScanParts = {
  store: Pick<BoundStorage, "authorizeDue">;
  clock: DomainClock;
  /** Begins the deliveries that are due. */
  dispatch: () => Promise<void>;
  /** Called with the number of refunds that a run has authorized. */
  onAuthorized: (refunds: number) => void;
  logger: Logger;
};

/**
 * Authorizes the refunds whose wait of three business days is over, and then begins the deliveries that are due: every second
 * and on request, as when the sandbox's clock is advanced.
 */
export function startDueScan({ store, clock, dispatch, onAuthorized, logger }: DueScanParts): Repeated {
  async function authorizeDue(): Promise<void> {
    if (clock.isOff()) return;
    const authorized = await store.authorizeDue(await clock.now());
    for (const refund of authorized) logger.info({ ...refund, paymentStatus: "AUTHORIZED" }, "transition");
    if (authorized.length > 0) onAuthorized(authorized.length);
    await dispatch();
  }
  return repeat(authorizeDue, { name: "due scan", everyMs: EVERY_MS, logger });
}
