/** The situations in which the exam runs a merchant's program that issues a refund, such as a lost response. Each returns the outcome. */
import { createClient } from "../../../client/src/index.ts";
import type { RequestBody } from "../../../server/sandbox/index.ts";
import type { CallerKit, Due, Kit, NewPayment } from "./kit.ts";
import { fail, type Order, type Outcome } from "./outcome.ts";
import { startPassing } from "./proxies.ts";

type Fault = RequestBody<"armFault">;

/** An amount that neither 32 bits nor a conversion to cents change. */
const PLAIN = "12.50";

/** Enough calls to show a storm, and more calls than any program makes for one refund. */
const [SOME_CALLS, ALL_CALLS] = [6, 100];

/** Far longer than it takes to see the refund and to kill. */
const UNTIL_KILLED_MS = 3_000;

/** How many runs begin at the same moment, and how long each response is held. */
const [RUNS_AT_ONCE, HELD_MS] = [4, 500];

const HUNDRED_DOLLARS = { currency: "USD", value: 100 } as const;

/** The payment that nobody has. */
const UNKNOWN_PAYMENT = "pay_of_nobody";

type Run = (kit: Kit) => Promise<Outcome>;

const SITUATIONS = {
  plain: issuing(PLAIN),
  cent: issuing("131072.01"),
  truncation: issuing("19.99"),
  invalid: issuing("10.005"),
  failedPayment: issuing(PLAIN, async () => ({ amount: HUNDRED_DOLLARS, status: "FAILED" })),
  exceeding: issuing(PLAIN, async () => ({ amount: { currency: "USD", value: 10 } })),
  pending: issuing(PLAIN, async ({ sandbox }) => {
    const { now } = await sandbox.clock.read();
    return { amount: HUNDRED_DOLLARS, settledAt: now };
  }),
  unknownPayment: async (kit) => kit.trigger({ ...(await kit.newOrder(PLAIN)), paymentId: UNKNOWN_PAYMENT }),

  lostAfter: during(() => ({ kind: "CLOSED_AFTER" })),
  cut: during(() => ({ kind: "TRUNCATED" })),
  slow: during(({ options }) => ({ kind: "SLOW", delayMs: options.slowMs })),
  unavailable: during(() => ({ kind: "UNAVAILABLE", retryAfter: 2 })),
  rateLimited: during(() => ({ kind: "RATE_LIMITED", retryAfter: 2 })),
  badGateway: during(() => ({ kind: "BAD_GATEWAY" })),
  outage: during(() => ({ kind: "CLOSED_BEFORE", times: 3 })),

  /** The first run gets some 500s, and may leave the refund to a second run. */
  internalError: during(() => ({ kind: "INTERNAL_ERROR", times: SOME_CALLS }), { twice: true }),
  /** No response reaches the first run, which gives up; the second run gets all. */
  unfinished: during(() => ({ kind: "CLOSED_AFTER", times: ALL_CALLS }), { twice: true }),
  /** The same, but the first run is refused when it asks again, as with a token that has expired meanwhile. */
  refused: during(() => ({ kind: "CLOSED_AFTER" }), {
    twice: true,
    next: { kind: "REFUNDS_HELD", times: ALL_CALLS },
  }),
  /** The first run is killed when its refund has been made. */
  killed: during(() => ({ kind: "SLOW", delayMs: UNTIL_KILLED_MS }), { by: "triggerAndKill", twice: true }),

  /** Several runs at the same moment, as of two clicks, or of two workers with one job. */
  atOnce: async (kit) => {
    const order = await kit.newOrder(PLAIN);
    const slow = { kind: "SLOW", delayMs: HELD_MS, times: RUNS_AT_ONCE } as const;
    await kit.sandbox.faults.arm({ operation: "issueRefund", ...slow });
    const run = () => kit.trigger(order, { due: dueAfter(slow) });
    const runs = Array.from({ length: RUNS_AT_ONCE }, run);
    await Promise.all(runs).finally(() => kit.sandbox.faults.clear());
    return kit.look(order);
  },
  /** The first response never comes, although the refund was made. */
  silent: async (kit) => {
    const order = await kit.newOrder(PLAIN);
    const hold = async (isFirst: boolean) => isFirst && new Promise(() => {});
    await using front = await startPassing(kit.sandbox.url, { hold });
    return await kit.trigger(order, { url: front.url, withinMs: kit.options.silentMs });
  },

  /** Another refund, which differs in one field only, takes the requestKey of the order's first request before that arrives. */
  foreignPayment: foreign((_order, other) => ({ paymentId: other.paymentId })),
  foreignAmount: foreign(() => ({ amount: "12.51" })),
  foreignReference: foreign(({ reference }) => ({ clientReferenceId: `${reference}-2` })),
  foreignNoReference: foreign(() => ({ clientReferenceId: undefined })),
} as const satisfies Record<string, Run>;

export type Situation = keyof typeof SITUATIONS;

export const FOREIGN = ["foreignPayment", "foreignAmount", "foreignReference", "foreignNoReference"] as const;

/**
 * The outcome of an order in a situation. Each situation happens once, and several checks may look at its outcome. Fails when no
 * refund was requested: a program that does nothing would otherwise pass the checks that forbid something.
 */
export async function outcomeOf(kit: CallerKit, situation: Situation): Promise<Outcome> {
  const outcome = await kit.share(situation, () =>
    SITUATIONS[situation](BESIDE.includes(situation) ? kit.beside : kit),
  );
  if (situation === "slow") startBeside(kit, outcome, await outcomeOf(kit, "plain"));
  if (outcome.requests.length === 0 && situation !== "invalid")
    fail(outcome, "a request at the address that the run was given");
  return outcome;
}

/** Situations without a fault, which can go on beside those with one. */
const BESIDE: readonly Situation[] = ["silent", "unknownPayment", ...FOREIGN];

/** Only if the command waits for its response. Behind it there may otherwise be a queue, which the silent response would block. */
function startBeside(kit: CallerKit, slow: Outcome, plain: Outcome): void {
  const { canKill, slowMs } = kit.options;
  if (!canKill || (slow.ranMs ?? 0) - (plain.ranMs ?? 0) < slowMs / 2) return;
  for (const situation of BESIDE) outcomeOf(kit, situation).catch(() => {}); // its check gets the error
}

/** Lets another refund, with these fields changed, take the key of the order's first request. */
function foreign(differs: (order: Order, other: Order) => object): Run {
  return async (kit) => {
    const { url: baseUrl, accessToken } = kit.sandbox;
    const [order, other] = [await kit.newOrder(PLAIN), await kit.newOrder(PLAIN)];
    const client = createClient({ baseUrl, accessToken });
    const { paymentId, amount, reference: clientReferenceId } = order;
    const prepare = async (body: string) => {
      const refund = { paymentId, amount, clientReferenceId, ...differs(order, other) };
      await client.refunds.issue({ ...refund, requestKey: JSON.parse(body).requestKey });
    };
    await using front = await startPassing(baseUrl, { prepare });
    return await kit.trigger(order, { url: front.url }); // before the front is closed
  };
}

/** Has the system issue one refund. */
function issuing(amount: string, payment?: (kit: Kit) => Promise<NewPayment>): Run {
  return async (kit) => kit.trigger(await kit.newOrder(amount, await payment?.(kit)));
}

type Way = { readonly by?: "trigger" | "triggerAndKill"; readonly twice?: boolean; readonly next?: Fault };

/** Has the system issue one refund during a fault; `twice`: and then again without one, for the same decision to refund. */
function during(toFault: (kit: Kit) => Fault, { by = "trigger", twice = false, next }: Way = {}): Run {
  return async (kit) => {
    const { faults } = kit.sandbox;
    const order = await kit.newOrder(PLAIN);
    const fault = toFault(kit);
    try {
      for (const one of next ? [fault, next] : [fault])
        await faults.arm({ operation: "issueRefund", ...one });
      const outcome = await kit[by](order, { due: dueAfter(fault) });
      if (!twice) return outcome;
    } finally {
      await faults.clear(); // or it would happen to the next checks
    }
    return kit.trigger(order);
  };
}

/** A request is recorded when its response ends, and comes again when `Retry-After` says. */
function dueAfter({ delayMs = 0, retryAfter = 0 }: Fault): Due {
  return { requests: retryAfter > 0 ? 2 : 1, ms: delayMs + 1000 * retryAfter };
}
