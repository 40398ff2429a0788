import { lookup } from "node:dns";
import type { Logger } from "pino";
import type { DomainClock } from "../domain/clock.ts";
import type { Database } from "../storage/database.ts";
import { DELIVERIES_CHANNEL } from "../storage/deliveries.ts";
import {
  type Attempt,
  type AttemptResult,
  beginAttempts,
  type EndedAttempt,
  recordAttempts,
  releaseClaim,
} from "../storage/delivery-attempts.ts";
import { type Claim, freeLeases } from "../storage/delivery-claims.ts";
import { endSomeDeliveries } from "../storage/subscriptions.ts";
import { makeAttempt } from "./attempt.ts";
import { createBatches } from "./batches.ts";
import { createConnections } from "./connections.ts";
import { createTurns, createWake, dispatch } from "./dispatcher.ts";
import type { Resolve } from "./lookup.ts";
import { createPlaces } from "./places.ts";
import { startQueue } from "./queue.ts";
import type { Limits } from "./shares.ts";
import type { TargetPolicy } from "./target.ts";

/** What tests and operators may want otherwise. Times in milliseconds of real time. */
export type WebhookSettings = {
  /** How long an attempt has before another server may take its delivery; more than `timeoutMs`. */
  readonly leaseMs: number;
  readonly timeoutMs: number;
  /** How long attempts under way may take when the server stops. */
  readonly drainMs: number;
  readonly limits: Limits;
  readonly resolve: Resolve;
  /** Certificate authorities to trust instead of the usual ones, as PEM. */
  readonly authorities: string | undefined;
  /** From 0 up to 1. */
  readonly random: () => number;
};

const PLACES = 256;
/** Of what waits for a subscription that its receiver has ended, so much is ended at once: less than a tenth of a second. */
const PIECE = 5_000;

const DEFAULTS: WebhookSettings = {
  leaseMs: 30_000,
  timeoutMs: 15_000,
  drainMs: 7_000,
  limits: { perSubscription: 16, perMerchant: 64, waiting: PLACES },
  resolve: lookup,
  authorities: undefined,
  random: Math.random,
};

export type WebhookParts = {
  readonly database: Database;
  readonly clock: DomainClock;
  readonly encryptionKeys: readonly Buffer[];
  readonly policy: TargetPolicy;
  readonly logger: Logger;
  /** Told of each attempt whose result was recorded. */
  readonly onAttempt?: ((result: AttemptResult) => void) | undefined;
  readonly settings?: Partial<WebhookSettings> | undefined;
};

export type Webhooks = {
  /** Claims what is due now; resolves when it is on its way to the workers, and never waits for receivers. */
  dispatch(): Promise<void>;
  /** Lets attempts under way end, gives back what has not begun, and lets go of everything. */
  stop(): Promise<void>;
};

/** Sends the deliveries that are written into the store, until stopped. */
export async function startWebhooks(parts: WebhookParts): Promise<Webhooks> {
  const { database, clock, logger } = parts;
  const { db, background, embedded, connection } = database;
  const settings = { ...DEFAULTS, ...parts.settings };
  const { leaseMs, limits, drainMs } = settings;
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const places = createPlaces(PLACES);
  const connections = createConnections();

  // Nobody else is at work on the embedded store: whatever was in hand belongs to a process that is gone.
  if (embedded) await freeLeases(background, { all: true });
  const queue = await startQueue(database, logger);
  const takeTurn = createTurns(async () => {
    if (!stopping.signal.aborted) await dispatch({ db: background, clock, queue, limits, leaseMs });
  });
  const { wake, stop: stopWaking } = createWake(takeTurn, (error) =>
    logger.error({ err: error }, "can't dispatch webhooks"),
  );

  // Attempts that end while others are being written are written together: most of what one costs is the statement.
  const recordTogether = createBatches((attempts: EndedAttempt[]) => recordAttempts(db, attempts));
  const record = async (attempt: EndedAttempt) => (await recordTogether(attempt)).has(attempt.webhookId);

  async function endWaiting({ subscriptionKey }: Attempt): Promise<void> {
    const piece = { subscriptionKey, atMost: PIECE };
    try {
      while ((await endSomeDeliveries(background, piece)) === PIECE && !stopping.signal.aborted);
    } catch (error) {
      // What is left is ended one by one, when it comes due.
      logger.error({ err: error, subscriptionKey }, "can't end what waits for a subscription that has ended");
    }
  }

  async function deliver(attempt: Attempt): Promise<void> {
    try {
      const result = await makeAttempt(attempt, {
        ...settings,
        policy: parts.policy,
        encryptionKeys: parts.encryptionKeys,
        realNow: clock.realNow,
        connections,
        signal: abandoned.signal,
      });
      if (abandoned.signal.aborted && result.status === null) await releaseClaim(db, attempt);
      else if (await record({ ...attempt, ...result, endedAt: clock.realNow() })) {
        parts.onAttempt?.(result);
        if (result.verdict.kind === "ended") await endWaiting(attempt);
      }
    } catch (error) {
      // The lease runs out, and the delivery is sent again: at least once, never lost.
      logger.error({ err: error, webhookId: attempt.webhookId }, "can't record a webhook attempt");
    }
    wake();
  }

  async function work(claims: Claim[]): Promise<void> {
    await places.free();
    if (stopping.signal.aborted) {
      await Promise.all(claims.map((claim) => releaseClaim(db, claim)));
      return;
    }
    for (const attempt of await beginAttempts(db, { claims, leaseMs })) {
      places.run(() => deliver(attempt));
    }
  }

  async function listen() {
    try {
      await queue.work(work);
      return await connection.listen(DELIVERIES_CHANNEL, wake, wake);
    } catch (error) {
      await queue.stop();
      throw error;
    }
  }
  const listening = await listen();

  return {
    async dispatch() {
      await freeLeases(background);
      await takeTurn();
    },
    async stop() {
      stopping.abort();
      stopWaking();
      const timer = setTimeout(() => abandoned.abort(), drainMs);
      const steps = [listening.close, queue.stopWork, places.empty, connections.close, takeTurn, queue.stop];
      for (const step of steps) {
        // Without a database some steps fail; those after it let go of other things.
        await step().catch((error: unknown) => logger.warn({ err: error }, "webhooks did not stop in order"));
      }
      clearTimeout(timer);
    },
  };
}
