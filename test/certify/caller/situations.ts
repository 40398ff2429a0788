import { createClient } from "../../../client/src/index.ts";
import type { RequestBody } from "../../../server/sandbox/index.ts";
import { startPassing } from "./front.ts";
import type { CallerKit, Outcome } from "./kit.ts";

type Fault = RequestBody<"armFault">;
type NewPayment = RequestBody<"createPayment">;

/** An amount that neither 32 bits nor a conversion to cents change. */
const PLAIN = "12.50";

/** More calls than any program makes for one refund. */
const ALL_CALLS = 100;

/** The payment that nobody has. */
const UNKNOWN_PAYMENT = "pay_of_nobody";

type Happening = (kit: CallerKit) => Promise<Outcome>;

const SITUATIONS = {
  plain: issuing(PLAIN),
  cent: issuing("131072.01"),
  truncation: issuing("19.99"),
  invalid: issuing("10.005"),
  failedPayment: issuing(PLAIN, async () => ({ amount: dollars(100), status: "FAILED" })),
  pending: issuing(PLAIN, async ({ sandbox }) => {
    const { now } = await sandbox.clock.read();
    return { amount: dollars(100), settledAt: now };
  }),
  unknownPayment: async (kit) => kit.trigger({ ...(await kit.newOrder(PLAIN)), paymentId: UNKNOWN_PAYMENT }),

  lostAfter: during(() => ({ kind: "CLOSED_AFTER" })),
  lostBefore: during(() => ({ kind: "CLOSED_BEFORE" })),
  cut: during(() => ({ kind: "TRUNCATED" })),
  slow: during(({ options }) => ({ kind: "SLOW", delayMs: options.slowMs })),
  unavailable: during(() => ({ kind: "UNAVAILABLE", retryAfter: 1 })),
  rateLimited: during(() => ({ kind: "RATE_LIMITED", retryAfter: 2 })),
  badGateway: during(() => ({ kind: "BAD_GATEWAY" })),
  outage: during(() => ({ kind: "CLOSED_BEFORE", times: 3 })),

  /** The first run gets a 500, and may leave the refund to a second run. */
  internalError: during(() => ({ kind: "INTERNAL_ERROR" }), { twice: true }),
  /** No response reaches the first run, as if it had crashed; the second run gets all. */
  crash: during(() => ({ kind: "CLOSED_AFTER", times: ALL_CALLS }), { twice: true }),

  /** Before its first request arrives, another refund has got its requestKey. */
  foreignKey: async (kit) => {
    const { url: baseUrl, accessToken } = kit.sandbox;
    const [order, other] = [await kit.newOrder(PLAIN), await kit.newOrder("1.00")];
    const client = createClient({ baseUrl, accessToken });
    let isTaken = false;
    await using front = await startPassing(baseUrl, async (body) => {
      if (isTaken) return;
      isTaken = true;
      const { requestKey } = JSON.parse(body);
      await client.refunds.issue({ paymentId: other.paymentId, amount: other.amount, requestKey });
    });
    return await kit.trigger(order, front.url); // before the front is closed
  },
} as const satisfies Record<string, Happening>;

export type Situation = keyof typeof SITUATIONS;

/** What becomes of an order in a situation, which happens once: several checks may look at the outcome. */
export function outcomeOf(kit: CallerKit, situation: Situation): Promise<Outcome> {
  return kit.share(situation, () => SITUATIONS[situation](kit));
}

/** The parts of a check that its situation does not define. */
export type CheckParts = {
  readonly id: string;
  readonly name: string;
  readonly sources: readonly string[];
  readonly guide?: string;
};

function dollars(value: number) {
  return { currency: "USD", value } as const;
}

/** Has the system issue one refund. */
function issuing(amount: string, payment?: (kit: CallerKit) => Promise<NewPayment>): Happening {
  return async (kit) => kit.trigger(await kit.newOrder(amount, await payment?.(kit)));
}

/** Arms a fault before that. Twice: then has it issue the refund without a fault, as the same decision to refund. */
function during(toFault: (kit: CallerKit) => Fault, { twice = false } = {}): Happening {
  return async (kit) => {
    const { faults } = kit.sandbox;
    const order = await kit.newOrder(PLAIN);
    await faults.arm({ operation: "issueRefund", ...toFault(kit) });
    const outcome = await kit.trigger(order);
    await faults.clear();
    return twice ? kit.trigger(order) : outcome;
  };
}
