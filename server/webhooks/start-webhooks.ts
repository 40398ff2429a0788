import type { SecureContext } from "node:tls";
import type { Logger } from "pino";
import type { Limits } from "../domain/delivery-fairness.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { Database } from "../storage/database/database.ts";
import type { Store } from "../storage/open-store.ts";
import type { Attempt } from "../storage/webhooks/claim-deliveries.ts";
import { DELIVERIES_CHANNEL } from "../storage/webhooks/event-fan-out.ts";
import type { AttemptResult } from "../storage/webhooks/record-attempts.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";
import type { AttemptsOf } from "./delivery-attempt.ts";
import { Dispatcher } from "./delivery-dispatcher.ts";
import { Worker } from "./delivery-worker.ts";
import { createResolver } from "./dns-resolver.ts";
import { describeFailure } from "./send-request.ts";
import { type TargetPolicy, vetHost } from "./target-policy.ts";

/**
 * Sends the deliveries of the store, until stopped. The rows of the deliveries are the queue: the dispatcher of each server
 * claims as many as its worker has room for, under a lease, and the worker sends them and records the results.
 */
export async function startWebhooks(parts: WebhookParts): Promise<Webhooks> {
  const { database, store, clock, encryptionKeys, policy, logger, onAttempt = () => {} } = parts;
  const { embedded } = database;
  const { leaseMs, drainMs, limits, nameservers, ...sending } = { ...DEFAULTS, ...parts.settings };

  // No other process uses the embedded store, so every lease in it belongs to a process that has ended.
  if (embedded) await store.freeLeases({ all: true });
  const resolver = createResolver({ nameservers });
  const worker = new Worker({
    ...{ ...sending, resolver, store, encryptionKeys, policy, logger, onAttempt, attempts: parts.attempts },
    realNow: clock.realNow,
    // Few begin in a turn while a call is under way, but on the embedded store each turn takes as long as a statement.
    attemptsPerTurn: () => (embedded || parts.callsUnderWay() === 0 ? 32 : 8),
    // On the embedded store, claims while results are recorded would only be smaller, so it waits.
    onAccepted: (merchant) => embedded || dispatcher.noteRoom(merchant),
    onRoom: (merchant, accepted) => (accepted && !embedded) || dispatcher.noteRoom(merchant),
  });
  const dispatcher: Dispatcher = new Dispatcher({
    store,
    clock,
    worker,
    limits,
    leaseMs,
    logger,
    random: sending.random,
  });
  const wake = (merchant?: string) => dispatcher.wake(merchant || undefined);
  const listening = await store.listen(DELIVERIES_CHANNEL, wake, wake);

  return {
    async dispatch() {
      if (clock.isWrong()) return;
      await store.freeLeases();
      await dispatcher.dispatch();
    },
    async findObstacle(url, merchant) {
      const resolve = (hostname: string) => resolver.resolve(hostname, merchant);
      return vetHost(new URL(url).hostname, resolve, policy).then(() => undefined, describeFailure);
    },
    async stop() {
      dispatcher.stop();
      worker.stop(drainMs);
      const steps = [
        () => listening.close(),
        () => dispatcher.whenIdle(),
        () => worker.whenIdle(),
        async () => resolver.close(),
      ];
      for (const step of steps) {
        // Without a database some steps fail; the later steps must still close their parts.
        await step().catch((error: unknown) => logger.warn({ err: error }, "webhooks did not stop in order"));
      }
    },
  };
}

/** Settings that tests and operators may change. Times in milliseconds of real time. */
export type WebhookSettings = {
  /** How long an attempt has before another server may take its delivery; more than `timeoutMs`. */
  readonly leaseMs: number;
  readonly timeoutMs: number;
  /** How long attempts under way may take when the server stops. */
  readonly drainMs: number;
  readonly limits: Limits;
  /** Nameservers for the names of receivers, as `address:port`; those of the system when undefined. */
  readonly nameservers: readonly string[] | undefined;
  /** The proxy through which deliveries go, by CONNECT; they go directly when undefined. */
  readonly proxy: URL | undefined;
  /** The certificates that deliveries trust, and the one that they show; the usual authorities, and none, when undefined. */
  readonly secureContext: SecureContext | undefined;
  /** From 0 up to 1. */
  readonly random: () => number;
};

const DEFAULTS: WebhookSettings = {
  leaseMs: 30_000,
  timeoutMs: 15_000,
  drainMs: 7_000,
  limits: { total: 256, unproven: 128, perMerchant: 64, perSubscription: 16 },
  nameservers: undefined,
  proxy: undefined,
  secureContext: undefined,
  random: Math.random,
};

export type WebhookParts = {
  readonly database: Pick<Database, "embedded">;
  readonly store: Store;
  readonly clock: DomainClock;
  readonly encryptionKeys: EncryptionKeys;
  readonly policy: TargetPolicy;
  readonly logger: Logger;
  /** How many calls this server has under way. */
  readonly callsUnderWay: () => number;
  /** Called after each attempt whose result was recorded. */
  readonly onAttempt?: ((result: AttemptResult, attempt: Attempt) => void) | undefined;
  /** Makes attempts instead of the usual ones, as a sandbox does. */
  readonly attempts?: AttemptsOf | undefined;
  readonly settings?: Partial<WebhookSettings> | undefined;
};

export type Webhooks = {
  /** Claims what is due now; resolves when its attempts have begun, without waiting for receivers. */
  dispatch(): Promise<void>;
  /** Why nothing can be delivered to a URL now, by the addresses of its host; undefined when they allow it. */
  findObstacle(url: string, merchant: string): Promise<string | undefined>;
  /** Waits for the attempts under way, gives back the claims whose attempts have not begun, and closes every part. */
  stop(): Promise<void>;
};
