import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "../../../client/src/index.ts";
import { defineGroup, given } from "../../reporting/check.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import { askState, describeBelief } from "../beliefs.ts";
import type { CallerOptions } from "../options.ts";
import { expectAgreement } from "./expect.ts";
import type { CallerKit } from "./kit.ts";
import { type CheckParts, outcomeOf, type Situation } from "./situations.ts";

const STEPS = "refunds-step-by-step.md";
const READ = `${STEPS}#3-read-the-response`;
const POLL_MS = 50;
const REPEAT = `${STEPS}#4-repeat-a-request-without-a-response`;

/** A check that the system believes, after a situation, what the service does. */
const agreement = (situation: Situation, parts: CheckParts) => ({
  ...parts,
  run: async (kit: CallerKit) => expectAgreement(kit, await outcomeOf(kit, situation)),
});

const BELIEFS = { preconditions: [given<CallerOptions>("state")], guide: READ };

/** Checks that ask the merchant's system what it believes. */
export const beliefChecks = defineGroup<CallerOptions, CallerKit>("What the system believes", BELIEFS, [
  agreement("lostAfter", {
    id: "state.lost",
    name: "takes the 409 with its own refund for this refund",
    sources: ["D09", "7.5"],
    guide: REPEAT,
  }),
  agreement("unfinished", {
    id: "state.unfinished",
    name: "knows its refund when it is run again for one that it did not finish",
    sources: ["D09"],
    guide: REPEAT,
  }),
  agreement("foreignKey", {
    id: "state.foreign",
    name: "does not take the refund of a 409 that is not its own for this refund",
    sources: ["D09"],
    guide: REPEAT,
  }),
  agreement("unknownPayment", {
    id: "state.404",
    name: "believes in no refund after a 404",
    sources: ["D08"],
  }),
  agreement("failedPayment", {
    id: "state.failed",
    name: "does not take each 201 for a success",
    sources: ["6.5", "11.1"],
  }),
  agreement("pending", {
    id: "state.pending",
    name: "does not take a waiting refund for a final success",
    sources: ["6.3"],
  }),
  {
    id: "state.fails-later",
    name: "notices by an event that a waiting refund fails",
    sources: ["6.7", "D20"],
    guide: `${STEPS}#5-follow-the-refund`,
    preconditions: [given("url"), given("secret")],
    async run(kit) {
      const outcome = await outcomeOf(kit, "pending");
      const { paymentId } = outcome.order;
      await subscribe(kit);
      // Two business days later the refund still waits; that its payment fails is due on the third.
      await kit.sandbox.clock.advance({ businessDays: 2 });
      const before = await askState(kit.options, outcome.order);
      if (before.status === "TERMINAL_FAILED")
        throw new CheckFailure("that the refund still waits", { received: describeBelief(before) });
      await kit.sandbox.payments.fail(paymentId);
      await kit.sandbox.clock.advance({ businessDays: 1 });
      await untilAttempted(kit);
      await expectAgreement(kit, outcome);
    },
  },
]);

/** Only now: events would tell the system what the other checks find out whether it has learned from responses. */
async function subscribe({ sandbox, options: { url = "", secret = "" } }: CallerKit): Promise<void> {
  const client = createClient({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });
  const subscriptionDetails = { type: "ALL" } as const;
  await client.webhooks.subscribe({ url, secretKey: secret, subscriptionDetails });
}

/** Waits until each event was sent: only then begins the time that the system may take. */
async function untilAttempted({ sandbox, options: { timeoutMs } }: CallerKit): Promise<void> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await pause(POLL_MS)) {
    const { items } = await sandbox.deliveries.list();
    if (items.length > 0 && items.every(({ attempts }) => attempts.length > 0)) return;
  }
}
