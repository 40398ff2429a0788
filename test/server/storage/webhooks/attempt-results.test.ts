import { describe, expect, test } from "vitest";
import {
  type Circumstance,
  type NextDelivery,
  nextDelivery,
  type Outcome,
} from "../../../../server/domain/delivery-outcome.ts";
import type { Attempt } from "../../../../server/storage/webhooks/claim-deliveries.ts";
import { redeliver } from "../../../../server/storage/webhooks/deliveries.ts";
import { recordAttempts } from "../../../../server/storage/webhooks/record-attempts.ts";
import { endSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  claim,
  createEvent,
  createSubscription,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";

const RESULT = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok", endedAt: NOW };
const OUTCOMES: readonly Outcome[] = [
  { kind: "delivered" },
  { kind: "retry", afterMs: 5_000 },
  { kind: "exhausted" },
  { kind: "ended" },
];

describe.each(engines)("the result of an attempt on %s", (engine) => {
  const database = useDatabase(engine);

  const begin = async (of: Pick<Attempt, "merchant" | "subscriptionKey">): Promise<Attempt> => {
    const [attempt] = await claim(database.db, of);
    if (!attempt) throw new Error("no attempt has begun");
    return attempt;
  };

  async function createAttempt(): Promise<Attempt> {
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(database.db, merchant);
    await createEvent(database.db, merchant);
    return begin({ merchant, subscriptionKey });
  }

  /** What happens to an attempt; resolves with the one that follows it, if one does. */
  type Step = (attempt: Attempt) => Promise<Attempt | undefined>;
  const end: Step = async (attempt) => {
    await endSubscription(database.db, { ...attempt, now: NOW });
    return undefined;
  };
  const redeliverUnfinished: Step = async (attempt) => {
    await redeliver(database.db, { ...attempt, now: NOW });
    return undefined;
  };
  const redeliverFinished: Step = async (attempt) => {
    await recordAttempts(database.db, [{ ...attempt, ...RESULT, outcome: { kind: "delivered" } }]);
    await redeliverUnfinished(attempt);
    return begin(attempt);
  };

  test.each<[text: string, circumstance: Circumstance, steps: readonly Step[]]>([
    ["without a disturbance", "undisturbed", []],
    ["of a delivery to be sent again", "redelivery", [redeliverUnfinished]],
    ["of an ended subscription", "subscription-ended", [end]],
    [
      "of a delivery to be sent again and a subscription that ended then",
      "redelivery",
      [redeliverUnfinished, end],
    ],
    ["of a delivery that is sent again after it was finished", "only-once", [redeliverFinished]],
    [
      "of a delivery that is sent again after it was finished, and of a subscription that ended then",
      "subscription-ended",
      [redeliverFinished, end],
    ],
  ])("%s gives the delivery the state that the domain decides", async (_, circumstance, steps) => {
    for (const outcome of OUTCOMES) {
      let attempt = await createAttempt();
      for (const step of steps) attempt = (await step(attempt)) ?? attempt;

      await recordAttempts(database.db, [{ ...attempt, ...RESULT, outcome }]);

      const { onlyOnce, ...next } = nextDelivery(outcome, attempt.earlierAttempts + 1, circumstance);
      expect(await stored(attempt)).toMatchObject(onlyOnce ? { ...next, only_once: true } : next);
    }
  });

  async function stored({
    webhookId,
  }: Attempt): Promise<Omit<NextDelivery, "onlyOnce"> & { only_once: boolean }> {
    const row = await database.db
      .selectFrom("deliveries")
      .select(["state", "attempts", "due_at", "only_once"])
      .where("webhook_id", "=", webhookId)
      .$castTo<Pick<NextDelivery, "state" | "attempts"> & { due_at: Date | null; only_once: boolean }>()
      .executeTakeFirstOrThrow();
    const dueAfterMs = row.due_at && row.due_at.getTime() - NOW.getTime();
    return { state: row.state, attempts: row.attempts, dueAfterMs, only_once: row.only_once };
  }
});
