import { createClient } from "../../../client/src/index.ts";
import type { RequestBody } from "../../../server/sandbox/index.ts";
import { startPassing } from "./front.ts";
import type { CallerKit, Outcome } from "./kit.ts";

type Fault = RequestBody<"armFault">;

/** An amount that neither 32 bits nor a conversion to cents change. */
const PLAIN = "12.50";

/** More calls than any program makes for one refund. */
const ALL_CALLS = 100;

/** The payment that nobody has. */
const UNKNOWN_PAYMENT = "pay_of_nobody";

/** What happens to an order; several checks may look at the outcome of one. */
export const SITUATIONS = {
  plain: (kit: CallerKit) => happen(kit, "plain"),
  lostAfter: (kit: CallerKit) => happen(kit, "lostAfter", [{ kind: "CLOSED_AFTER" }]),
  lostBefore: (kit: CallerKit) => happen(kit, "lostBefore", [{ kind: "CLOSED_BEFORE" }]),
  cut: (kit: CallerKit) => happen(kit, "cut", [{ kind: "TRUNCATED" }]),
  slow: (kit: CallerKit) => happen(kit, "slow", [{ kind: "SLOW", delayMs: kit.options.slowMs }]),
  unavailable: (kit: CallerKit) => happen(kit, "unavailable", [{ kind: "UNAVAILABLE", retryAfter: 1 }]),
  rateLimited: (kit: CallerKit) => happen(kit, "rateLimited", [{ kind: "RATE_LIMITED", retryAfter: 2 }]),
  badGateway: (kit: CallerKit) => happen(kit, "badGateway", [{ kind: "BAD_GATEWAY" }]),
  outage: (kit: CallerKit) => happen(kit, "outage", [{ kind: "CLOSED_BEFORE", times: 3 }]),

  /** The first run gets a 500, and may leave the refund to a second run. */
  internalError: (kit: CallerKit) => happenTwice(kit, "internalError", [{ kind: "INTERNAL_ERROR" }]),
  /** No response reaches the first run, as if it had crashed; the second run gets all. */
  crash: (kit: CallerKit) => happenTwice(kit, "crash", [{ kind: "CLOSED_AFTER", times: ALL_CALLS }]),

  cent: (kit: CallerKit) => kit.share("cent", async () => kit.trigger(await kit.newOrder("131072.01"))),
  truncation: (kit: CallerKit) =>
    kit.share("truncation", async () => kit.trigger(await kit.newOrder("19.99"))),
  invalid: (kit: CallerKit) => kit.share("invalid", async () => kit.trigger(await kit.newOrder("10.005"))),
  unknownPayment: (kit: CallerKit) =>
    kit.share("unknownPayment", async () =>
      kit.trigger({ ...(await kit.newOrder(PLAIN)), paymentId: UNKNOWN_PAYMENT }),
    ),
  failedPayment: (kit: CallerKit) =>
    kit.share("failedPayment", async () =>
      kit.trigger(await kit.newOrder(PLAIN, { amount: { currency: "USD", value: 100 }, status: "FAILED" })),
    ),
  pending: (kit: CallerKit) =>
    kit.share("pending", async () => {
      const { now } = await kit.sandbox.clock.read();
      const amount = { currency: "USD", value: 100 } as const;
      return kit.trigger(await kit.newOrder(PLAIN, { amount, settledAt: now }));
    }),
  /** Before its first request arrives, another refund has got its requestKey. */
  foreignKey: (kit: CallerKit) =>
    kit.share("foreignKey", async () => {
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
    }),
} as const satisfies Record<string, (kit: CallerKit) => Promise<Outcome>>;

export type Situation = keyof typeof SITUATIONS;

/** The parts of a check that its situation does not define. */
export type CheckParts = {
  readonly id: string;
  readonly name: string;
  readonly sources: readonly string[];
  readonly guide: string;
};

/** Arms faults, and has the system issue one refund. */
function happen(kit: CallerKit, name: string, faults: readonly Fault[] = []): Promise<Outcome> {
  return kit.share(name, async () => {
    const order = await kit.newOrder(PLAIN);
    await arm(kit, faults);
    const outcome = await kit.trigger(order);
    await kit.sandbox.faults.clear();
    return outcome;
  });
}

/** The same, and then has it issue the refund again, as the same decision to refund. */
function happenTwice(kit: CallerKit, name: string, faults: readonly Fault[]): Promise<Outcome> {
  return kit.share(name, async () => {
    const order = await kit.newOrder(PLAIN);
    await arm(kit, faults);
    await kit.trigger(order);
    await kit.sandbox.faults.clear();
    return kit.trigger(order);
  });
}

async function arm({ sandbox }: CallerKit, faults: readonly Fault[]): Promise<void> {
  for (const fault of faults) await sandbox.faults.arm({ operation: "issueRefund", ...fault });
}
