import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../../../server/sandbox/index.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import type { CallerOptions } from "../options.ts";

/** A refund that the merchant's system is to issue. */
export type Order = {
  readonly paymentId: string;
  /** In dollars, such as `19.99`. */
  readonly amount: string;
  readonly reference: string;
};

/** A request of the merchant's system for an order, in the order of their arrival. */
export type CallerRequest = {
  /** Milliseconds since the first one. */
  readonly at: number;
  readonly requestKey: string | null;
  /** Null when no response was sent. */
  readonly status: number | null;
};

/** What became of an order: the requests for it, the refunds that were made, and what the run said that was to issue it. */
export type Outcome = {
  readonly order: Order;
  readonly requests: readonly CallerRequest[];
  readonly refunds: readonly {
    readonly amount: number;
    readonly status: string;
    readonly reference: string | null;
  }[];
  readonly problem: string | undefined;
};

/** The tools of a check of the caller: a sandbox that misbehaves by plan. */
export type CallerKit = ReturnType<typeof createCallerKit>;

type NewPayment = Parameters<Sandbox["payments"]["create"]>[0];

const PAGE = 100;
const POLL_MS = 50;

export function createCallerKit(options: CallerOptions, sandbox: Sandbox) {
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
      refunds: refunds.items.map(({ amount, status, clientReferenceId }) => ({
        amount: amount.value,
        status,
        reference: clientReferenceId,
      })),
    };
  }

  /** Waits until no request has come for as long as the system may take. */
  async function untilQuiet(order: Order): Promise<void> {
    let [count, since] = [-1, performance.now()];
    for (const end = since + options.timeoutMs; performance.now() < end; await pause(POLL_MS)) {
      const { requests } = await look(order);
      if (requests.length !== count) [count, since] = [requests.length, performance.now()];
      if (performance.now() - since >= options.settleMs) return;
    }
    throw new CheckFailure("the requests for one refund to end", {
      received: `they went on for ${options.timeoutMs / 1000} s`,
    });
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
    /** Has the merchant's system issue the refund, at another address than the sandbox's if there is one. */
    async trigger(order: Order, url = sandbox.url) {
      const { problem } = await options.run({ url, token: sandbox.accessToken, ...order });
      await untilQuiet(order);
      return look(order, problem);
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
