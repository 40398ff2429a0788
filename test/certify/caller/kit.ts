import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox, SandboxCalls } from "../../../server/sandbox/index.ts";
import { CheckFailure, NotRun } from "../../reporting/exchange.ts";
import { printed } from "../hooks.ts";
import type { CallerOptions } from "../options.ts";
import { fail, type Order, type Outcome } from "./outcome.ts";

/** The tools of a situation: a sandbox that misbehaves by plan, for one of its merchants. */
export type Kit = ReturnType<typeof createKit>;

/** The tools of a check. `beside` belongs to another merchant, whose calls meet no fault, for what can go on meanwhile. */
export type CallerKit = Kit & { readonly beside: Kit };

/** At least this many requests are expected within this time; before that, a pause is not the end. */
export type Due = { readonly requests: number; readonly ms: number };

type Way = {
  readonly url?: string;
  readonly due?: Due;
  readonly withinMs?: number;
};

const NOTHING_DUE: Due = { requests: 0, ms: 0 };

export type NewPayment = Parameters<Sandbox["payments"]["create"]>[0];

const PAGE = 100;
const POLL_MS = 100;
/** A command that only hands a refund over to another program ends within this time. */
const ENDING_MS = 500;

export function createCallerKit(options: CallerOptions, sandbox: Sandbox): CallerKit {
  printed.length = 0;
  const { url, otherAccessToken: accessToken } = sandbox;
  const beside = createKit(options, { ...sandbox.as(accessToken), url, accessToken });
  return { ...createKit(options, sandbox), beside };
}

function createKit(options: CallerOptions, sandbox: SandboxCalls & Pick<Sandbox, "url" | "accessToken">) {
  const shared = new Map<string, Promise<unknown>>();

  /** What has become of an order by now. */
  async function look(order: Order, problem?: string): Promise<Outcome> {
    const [requests, refunds] = await Promise.all([
      sandbox.requests.list({ search: order.paymentId, limit: PAGE }),
      sandbox.payments.list({ originalPaymentId: order.paymentId, kind: "REFUND", limit: PAGE }),
    ]);
    // They are recorded when they end.
    const arrivals = requests.items.map(({ at, milliseconds, requestKey, status }) => ({
      at: Date.parse(at) - milliseconds,
      requestKey,
      status,
    }));
    const sorted = arrivals.toSorted((one, other) => one.at - other.at);
    const start = sorted[0]?.at ?? 0;
    return {
      order,
      problem,
      requests: sorted.map((request) => ({ ...request, at: request.at - start })),
      refunds: refunds.items,
    };
  }

  /** Waits until no request has come for as long as the system may take. */
  async function untilQuiet(order: Order, due: Due): Promise<void> {
    const { settleMs, timeoutMs } = options;
    const limitMs = timeoutMs + settleMs + due.ms;
    let [count, since] = [-1, performance.now()];
    for (const end = since + limitMs; performance.now() < end; await pause(Math.max(POLL_MS, settleMs / 5))) {
      const { requests } = await look(order);
      if (requests.length !== count) [count, since] = [requests.length, performance.now()];
      if (performance.now() - since >= settleMs + (count < due.requests ? due.ms : 0)) return;
    }
    throw new CheckFailure("the requests for one refund to end", {
      received: `they went on for ${limitMs / 1000} s`,
    });
  }

  /** Begins a run of the merchant's system. */
  function begin(order: Order, url: string) {
    const end = new AbortController();
    const ended = options.run({ url, token: sandbox.accessToken, ...order }, end.signal);
    return {
      ended,
      kill() {
        end.abort();
        return ended;
      },
      /** Whether the run has ended, or this has happened to its order, within this time. */
      async until(hasHappened: (outcome: Outcome) => boolean, ms = Number.POSITIVE_INFINITY) {
        for (const late = performance.now() + ms; performance.now() < late; ) {
          if ((await Promise.race([ended, pause(POLL_MS)])) || hasHappened(await look(order))) return true;
        }
        return false;
      },
    };
  }

  return {
    options,
    sandbox,
    /** Creates an original payment that is large enough for the amount. */
    async newOrder(amount: string, payment?: NewPayment): Promise<Order> {
      const large = { amount: { currency: "USD", value: 200_000 } } as const;
      const created = await sandbox.payments.create(payment ?? large);
      return { paymentId: created.paymentId, amount, reference: `certify-${randomUUID()}` };
    },
    /**
     * Has the merchant's system issue the refund, at `url` or else at the sandbox. With `withinMs`, fails unless the system repeats
     * its request within that time.
     */
    async trigger(order: Order, { url = sandbox.url, due = NOTHING_DUE, withinMs }: Way = {}) {
      const startedAt = performance.now();
      const run = begin(order, url);
      const isRepeated = ({ requests }: Outcome) => requests.length > 1;
      if (withinMs !== undefined && !(await run.until(isRepeated, withinMs))) {
        void run.kill(); // what a URL has triggered can go on
        const seconds = withinMs / 1000;
        fail(
          await look(order),
          `that a request without a response is given up within ${seconds} s, and repeated`,
        );
      }
      const { problem, timedOut } = await run.ended;
      const ranMs = performance.now() - startedAt;
      if (timedOut) fail(await look(order, problem), "that the run ends");
      await untilQuiet(order, due);
      return { ...(await look(order, problem)), ranMs };
    },
    /** The same, but kills the run once the refund is made, while a fault holds the response back. */
    async triggerAndKill(order: Order, { due = NOTHING_DUE }: Way = {}) {
      const run = begin(order, sandbox.url);
      await run.until(({ refunds }) => refunds.length > 0);
      const result = await Promise.race([run.ended, pause(ENDING_MS)]);
      if (!result) await run.kill();
      await untilQuiet(order, result ? due : NOTHING_DUE);
      const outcome = await look(order, result?.problem);
      if (!result) return outcome;
      if (outcome.refunds.length === 0) fail(outcome, "a refund while the command of --run runs");
      throw new NotRun("the command of --run does not wait for the response, so there is nothing to kill");
    },
    look,
    /** Creates something that several checks share, once. */
    share<Thing>(name: string, make: () => Promise<Thing>) {
      const made = (shared.get(name) ?? make()) as Promise<Thing>; // each name is used by one maker
      shared.set(name, made);
      return made;
    },
  };
}
