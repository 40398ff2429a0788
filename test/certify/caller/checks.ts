/** The exam's checks of a program that issues refunds. Each looks at the outcome of a situation from situations.ts. */
import { type Check, defineGroup } from "../../reporting/check.ts";
import { expectNoSecrets } from "../hooks.ts";
import type { CallerOptions } from "../options.ts";
import type { CallerKit } from "./kit.ts";
import { expectFew, expectOneRefund, fail } from "./outcome.ts";
import { startRedirect } from "./proxies.ts";
import { outcomeOf, type Situation } from "./situations.ts";
import { type Parts, READ, REPEAT, STEPS, stateChecks } from "./state-checks.ts";

const KEY = `${STEPS}#1-make-the-requestkey-first`;
const AMOUNT = `${STEPS}#2-issue-the-refund`;

/**
 * More requests than `count` within `ms` are a storm. A system that repeats often and never waits exceeds the second bound even on
 * the busiest machine.
 */
const STORMS = [
  { count: 3, ms: 100 },
  { count: 5, ms: 1_000 },
] as const;

/** How far apart two clocks may be, in milliseconds. */
const TOLERANCE_MS = 100;

/** The most requests for a refund that the service refuses for good. */
const MAX_REFUSED = 2;

/** Each is tried, because many programs follow only some of them; after the first three, they send a GET. */
const REDIRECTS = [301, 302, 303, 307, 308] as const;

/** If one of these fails, the checks after it would fail for the same reason. */
const ISSUED = ["refund.issued", "refund.key"];

/** A check that one refund comes out of a situation. */
const oneRefund = (situation: Situation, because: string, parts: Parts) => ({
  ...parts,
  run: async (kit: CallerKit) => expectOneRefund(await outcomeOf(kit, situation), because),
});

const refunds = defineGroup<CallerOptions, CallerKit>("Refunds", { guide: AMOUNT, after: ISSUED }, [
  oneRefund("plain", "you decided on one", {
    id: "refund.issued",
    name: "issues one refund of the right amount",
    sources: ["1.3", "2.1"],
  }),
  {
    id: "refund.key",
    name: "makes another requestKey for another refund of the same payment",
    sources: ["2.8", "D09"],
    guide: KEY,
    async run(kit) {
      const { order, refunds } = await outcomeOf(kit, "plain");
      const outcome = await kit.trigger({ ...order, reference: `${order.reference}-2` });
      if (outcome.refunds.length !== refunds.length + 1)
        fail(outcome, "one more refund, because its CERTIFY_REFERENCE is a new one");
    },
  },
  {
    id: "refund.reference",
    name: "sends its clientReferenceId",
    sources: ["2.5", "D01"],
    async run(kit) {
      const outcome = await outcomeOf(kit, "plain");
      const { reference } = outcome.order;
      if (outcome.refunds[0]?.clientReferenceId !== reference)
        fail(outcome, `the clientReferenceId ${reference}, by which you find the refund in your books`);
    },
  },
  {
    id: "amount.cent",
    name: "does not lose a cent of 131072.01 or 19.99",
    sources: ["D13", "2.4"],
    async run(kit) {
      expectOneRefund(await outcomeOf(kit, "cent"), "a number of 32 bits changes the cents");
      expectOneRefund(await outcomeOf(kit, "truncation"), "19.99 * 100 is less than 1999 in floating point");
    },
  },
  {
    id: "amount.third-digit",
    name: "does not round 10.005, which it can't refund",
    sources: ["12.1", "D13"],
    async run(kit) {
      const outcome = await outcomeOf(kit, "invalid");
      if (outcome.refunds.length > 0) fail(outcome, "no refund, because no amount has three digits");
      expectFew(outcome, MAX_REFUSED, "a 400 stays a 400");
    },
  },
]);

const lost = defineGroup<CallerOptions, CallerKit>(
  "Lost responses",
  { guide: REPEAT, after: [...ISSUED, "lost.after"] },
  [
    oneRefund("lostAfter", "the service had made it when the connection broke", {
      id: "lost.after",
      cases: ["medusajs/medusa#16681"],
      name: "makes no second refund when the response is lost",
      sources: ["D09", "7.5"],
    }),
    oneRefund("cut", "the service had made it when the response broke off", {
      id: "lost.cut",
      cases: ["razorpay/razorpay-mcp-server#128"],
      name: "makes no second refund when the response is cut off",
      sources: ["D09", "7.5"],
    }),
    oneRefund("slow", "a late response is a response", {
      id: "lost.slow",
      cases: ["akash-network/console#3449"],
      name: "makes no second refund when the response is slow",
      sources: ["D09", "7.5"],
    }),
    oneRefund("unfinished", "the second run is for the same refund", {
      id: "lost.unfinished",
      name: "makes no second refund when a run that did not finish is repeated",
      sources: ["D09", "2.8"],
      guide: KEY,
    }),
    oneRefund("atOnce", "all runs are for one decision to refund", {
      id: "lost.at-once",
      after: ["lost.slow", "lost.unfinished"],
      cases: ["openfoodfoundation/openfoodnetwork#6330"],
      name: "makes one refund when it is run several times at the same moment",
      sources: ["D09", "2.8"],
      guide: KEY,
    }),
    {
      ...oneRefund("killed", "the run that was killed had made it", {
        id: "lost.crash",
        after: ["lost.unfinished"],
        cases: ["teesofttech/PayBridge#115"],
        name: "makes no second refund when it is killed before the response, and run again",
        sources: ["D09", "2.8"],
        guide: KEY,
      }),
      preconditions: [{ option: "--run", isMet: ({ canKill }) => canKill }],
    },
  ],
);

const busy = defineGroup<CallerOptions, CallerKit>("A service in trouble", { guide: READ, after: ISSUED }, [
  oneRefund("unavailable", "a 503 passes", {
    id: "busy.503",
    name: "repeats a request that got 503",
    sources: ["D08"],
  }),
  oneRefund("badGateway", "the page of a proxy says nothing about the refund", {
    id: "busy.502",
    after: ["busy.503"],
    name: "repeats a request that got the HTML page of a proxy",
    sources: ["D08"],
  }),
  oneRefund("internalError", "a 500 says nothing about the refund, and both runs are for the same refund", {
    id: "busy.500",
    after: ["lost.after", "lost.unfinished", "busy.502"],
    name: "repeats a request that got 500, at once or when it is run again",
    sources: ["D08"],
  }),
  oneRefund("rateLimited", "the rate limit passes", {
    id: "busy.429",
    after: ["busy.503"],
    name: "repeats a request that got 429",
    sources: ["D27"],
    guide: "refunds-step-by-step.md#rate-limits",
  }),
  {
    id: "busy.retry-after",
    after: ["busy.429", "busy.503"],
    name: "waits for as long as Retry-After says",
    sources: ["D27"],
    guide: "refunds-step-by-step.md#rate-limits",
    async run(kit) {
      for (const situation of ["rateLimited", "unavailable"] as const) {
        const outcome = await outcomeOf(kit, situation);
        const [first, second] = outcome.requests;
        // Between the arrivals: a busy machine can only lengthen that.
        if (!first || !second || second.at - first.at < 2_000 - TOLERANCE_MS)
          fail(outcome, `a second request, at least 2 s after the ${first?.status} with Retry-After: 2`);
      }
    },
  },
  oneRefund("outage", "the fourth request is served", {
    id: "busy.outage",
    after: ["lost.after", "busy.503"],
    cases: ["Adyen/adyen-commercetools#1305"],
    name: "goes on when three requests in a row are lost",
    sources: ["D09"],
    guide: REPEAT,
  }),
  {
    id: "busy.storm",
    name: "waits before it repeats a request that was lost, or got 500",
    sources: ["D27", "D09"],
    guide: REPEAT,
    async run(kit) {
      for (const situation of ["outage", "unfinished", "internalError"] as const) {
        const outcome = await outcomeOf(kit, situation);
        const times = outcome.requests.map(({ at }) => at);
        const storm = STORMS.find(({ count, ms }) =>
          times.some((at, index) => (times[index + count] ?? Number.POSITIVE_INFINITY) - at < ms),
        );
        if (storm) fail(outcome, `at most ${storm.count} requests in ${storm.ms} ms: wait longer after each`);
      }
    },
  },
]);

const refused = defineGroup<CallerOptions, CallerKit>("Refused calls", { guide: READ, after: ISSUED }, [
  {
    id: "refused.call",
    name: "does not repeat a call that gets 404, or the 409 of another refund",
    sources: ["D08", "D09", "11.3"],
    async run(kit) {
      expectFew(await outcomeOf(kit, "unknownPayment"), MAX_REFUSED, "a 404 stays a 404");
      expectFew(await outcomeOf(kit, "foreignPayment"), MAX_REFUSED + 1, "a 409 stays a 409");
    },
  },
  {
    id: "refused.redirect",
    name: "follows no redirect, which could lead anywhere",
    sources: ["9.1", "7.1"],
    async run(kit) {
      const why = "the service sends no redirect, and the request names a refund and a token";
      const redirect = async (status: number) => {
        const seen: boolean[] = [];
        await using front = await startRedirect(status, (isFollowing) => void seen.push(isFollowing));
        const outcome = await kit.trigger(await kit.newOrder("12.50"), { url: front.url });
        if (seen.length === 0) fail(outcome, "a request at the address that the run was given");
        if (seen.includes(true)) fail(outcome, `no request at the address of a ${status}: ${why}`);
      };
      await Promise.all(REDIRECTS.map(redirect));
    },
  },
]);

/** The check of silence comes late, because its long wait goes on beside the other checks. */
const last = defineGroup<CallerOptions, CallerKit>("Silence and secrets", { after: ISSUED }, [
  oneRefund("silent", "the service had made it, although it never responds", {
    id: "lost.silent",
    after: ["lost.after", "lost.slow"],
    cases: ["akash-network/console#3449"],
    name: "does not wait for ever for a response, and makes no second refund",
    sources: ["D34", "D09"],
    guide: REPEAT,
  }),
  {
    id: "output.secret",
    name: "prints neither its access token nor its secret",
    sources: ["9.1", "10.2"],
    guide: "receiving-webhooks.md#choose-a-secret",
    async run(kit) {
      const { order } = await outcomeOf(kit, "plain");
      await kit.options.state?.(order);
      expectNoSecrets([kit.sandbox.accessToken, kit.options.secret]);
    },
  },
]);

/** All checks of the caller, in their order. */
export const callerChecks: readonly Check<CallerOptions, CallerKit>[] = [
  ...refunds,
  ...lost,
  ...busy,
  ...refused,
  ...stateChecks,
  ...last,
];
