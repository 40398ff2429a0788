/** The exam's checks that the merchant's system knows, after a situation, the same status of the refund as the service. */
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "../../../client/src/index.ts";
import { type CheckParts, defineGroup, given } from "../../reporting/check.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import { askState, askUntil, describeAnswer } from "../ask-state.ts";
import type { CallerOptions } from "../options.ts";
import type { CallerKit } from "./kit.ts";
import { expectOneRefund, fail, type Outcome } from "./outcome.ts";
import { startPassing } from "./proxies.ts";
import { FOREIGN, outcomeOf, type Situation } from "./situations.ts";

export const STEPS = "refunds-step-by-step.md";
export const READ = `${STEPS}#3-read-the-response`;
export const REPEAT = `${STEPS}#4-repeat-a-request-without-a-response`;

export type Parts = Omit<CheckParts<CallerOptions, CallerKit>, "run">;

/** A check that the system believes, after a situation, the status that the service has. */
const agreement = (situation: Situation, parts: Parts) => ({
  ...parts,
  run: async (kit: CallerKit) => expectAgreement(kit, await outcomeOf(kit, situation)),
});

const WITH_STATE = {
  preconditions: [given<CallerOptions>("state")],
  guide: READ,
  after: ["refund.issued", "refund.key", "lost.after"],
};

export const stateChecks = defineGroup<CallerOptions, CallerKit>("What the system believes", WITH_STATE, [
  agreement("lostAfter", {
    id: "state.lost",
    after: ["refund.reference", "busy.503", "busy.outage"],
    name: "recognizes its own refund in a 409",
    sources: ["D09", "7.5"],
    guide: REPEAT,
  }),
  agreement("unfinished", {
    id: "state.unfinished",
    after: ["refund.reference", "state.lost", "lost.unfinished"],
    cases: ["own-pay/OwnPay#222"],
    name: "knows its refund when an unfinished run is repeated",
    sources: ["D09"],
    guide: REPEAT,
  }),
  agreement("refused", {
    id: "state.refused",
    after: ["refund.reference", "state.lost", "lost.unfinished", "state.unfinished"],
    name: "does not conclude from a refusal after a lost response that there is no refund",
    sources: ["D34", "D09"],
    guide: REPEAT,
  }),
  {
    id: "state.foreign",
    name: "takes no refund of a 409 for its own when the payment, the amount or the reference differs",
    sources: ["D09"],
    guide: REPEAT,
    async run(kit) {
      for (const situation of FOREIGN) {
        const outcome = await outcomeOf(kit, situation);
        const answer = await askState(kit.options, outcome.order);
        if (answer.status === undefined || answer.status === "TERMINAL_FAILED") continue;
        const differs = situation.slice("foreign".length).replace("No", "no ").toLowerCase();
        const expected = `that your system knows of no refund, because the 409 names another one, which differs in ${differs}`;
        fail(outcome, expected, [describeAnswer(answer)]);
      }
    },
  },
  {
    id: "state.failed",
    name: "does not take every 201 for a success, and knows every reason of a failure",
    sources: ["6.5", "11.1", "D11"],
    async run(kit) {
      for (const situation of ["failedPayment", "exceeding"] as const)
        await expectAgreement(kit, await outcomeOf(kit, situation));
    },
  },
  agreement("pending", {
    id: "state.pending",
    name: "does not take a waiting refund for a final success",
    sources: ["6.3"],
  }),
  {
    id: "state.fails-later",
    after: ["state.pending"],
    name: "notices by an event that a waiting refund fails",
    sources: ["6.7", "D20"],
    guide: `${STEPS}#5-follow-the-refund`,
    preconditions: [given("url"), given("secret")],
    async run(kit) {
      const outcome = await outcomeOf(kit, "pending");
      const { paymentId } = outcome.order;
      await kit.share("subscribed", () => subscribe(kit));
      // Two business days later the refund still waits; that its payment fails is due on the third.
      await kit.sandbox.clock.advance({ businessDays: 2 });
      const before = await askState(kit.options, outcome.order);
      if (before.status === "TERMINAL_FAILED")
        throw new CheckFailure("that the refund still waits", { received: describeAnswer(before) });
      await kit.sandbox.payments.fail(paymentId);
      await kit.sandbox.clock.advance({ businessDays: 1 });
      await kit.sandbox.delivered({ timeoutMs: kit.options.timeoutMs });
      await expectAgreement(kit, outcome);
    },
  },
  {
    id: "state.overtaken",
    after: ["lost.slow", "state.pending", "state.fails-later"],
    cases: ["Automattic/woocommerce-payments#3520"],
    name: "keeps the status of an event that comes before the response",
    sources: ["D21", "D20"],
    guide: `${STEPS}#5-follow-the-refund`,
    preconditions: [given("url"), given("secret")],
    async run(kit) {
      await kit.share("subscribed", () => subscribe(kit));
      const order = await kit.newOrder("12.50");
      // The refund fails, and its event is delivered, while the response to the call is on its way.
      const overtake = async () => {
        await kit.sandbox.payments.fail(order.paymentId);
        await kit.sandbox.delivered({ timeoutMs: kit.options.timeoutMs });
        await pause(Math.min(kit.options.settleMs, OVERTAKEN_MS));
      };
      const hold = () => kit.share("overtaken", overtake);
      await using front = await startPassing(kit.sandbox.url, { hold });
      await expectAgreement(kit, await kit.trigger(order, { url: front.url }));
    },
  },
]);

/** How long a response is held back: long enough to store an event, too short to give up on the response. */
const OVERTAKEN_MS = 1_000;

/** Fails unless the merchant's system comes to believe the status that the service has now. */
async function expectAgreement(kit: CallerKit, outcome: Outcome): Promise<void> {
  const { order } = outcome;
  const { refunds } = await kit.look(order);
  expectOneRefund({ ...outcome, refunds }, "you decided on one");
  const status = refunds[0]?.status;
  const answer = await askUntil(kit.options, order, (answer) => answer.status === status);
  if (answer.status !== status)
    fail(outcome, `that your system believes ${status}, as the service does`, [describeAnswer(answer)]);
}

/** Subscribes this late because the checks before want to see whether the system learns from responses alone. */
async function subscribe({ sandbox, options: { url = "", secret = "" } }: CallerKit): Promise<void> {
  const client = createClient({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });
  const subscriptionDetails = { type: "ALL" } as const;
  await client.webhooks.subscribe({ url, secretKey: secret, subscriptionDetails });
}
