import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "../../../server/sandbox/index.ts";
import { CheckFailure, NotRun } from "../../reporting/exchange.ts";
import { printed } from "../hooks.ts";
import type { CallerOptions } from "../options.ts";
import { fail, type Order, type Outcome } from "./outcome.ts";

/** The tools of a check of the caller: a sandbox that misbehaves by plan. */
export type CallerKit = ReturnType<typeof createCallerKit>;

/** Says that fewer than so many requests do not mean that there are no more, before this time has passed as well. */
export type Due = { readonly requests: number; readonly ms: number };

const NOTHING_DUE: Due = { requests: 0, ms: 0 };

type NewPayment = Parameters<Sandbox["payments"]["create"]>[0];

const PAGE = 100;
const POLL_MS = 50;
/** In this time a command ends that only hands a refund over to another program. */
const ENDING_MS = 500;

export function createCallerKit(options: CallerOptions, sandbox: Sandbox) {
  const shared = new Map<string, Promise<unknown>>();
  printed.length = 0;

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
  async function untilQuiet(order: Order, due: Due): Promise<void> {
    const { settleMs, timeoutMs } = options;
    const limitMs = timeoutMs + settleMs + due.ms;
    let [count, since] = [-1, performance.now()];
    for (const end = since + limitMs; performance.now() < end; await pause(POLL_MS)) {
      const { requests } = await look(order);
      if (requests.length !== count) [count, since] = [requests.length, performance.now()];
      if (performance.now() - since >= settleMs + (count < due.requests ? due.ms : 0)) return;
    }
    throw new CheckFailure("the requests for one refund to end", {
      received: `they went on for ${limitMs / 1000} s`,
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
    async trigger(order: Order, { url = sandbox.url, due = NOTHING_DUE } = {}) {
      const { problem, timedOut } = await options.run({ url, token: sandbox.accessToken, ...order });
      if (timedOut) fail(await look(order, problem), "that the run ends");
      await untilQuiet(order, due);
      return look(order, problem);
    },
    /** The same, but for at most this time, after which it fails unless the system has asked again. */
    async triggerWithin(order: Order, ms: number, { url = sandbox.url } = {}) {
      const kill = new AbortController();
      const running = options.run({ url, token: sandbox.accessToken, ...order }, kill.signal);
      for (const end = performance.now() + ms; performance.now() < end; ) {
        const result = await Promise.race([running, pause(POLL_MS)]);
        const outcome = await look(order);
        if (result || outcome.requests.length > 1) {
          await running;
          await untilQuiet(order, NOTHING_DUE);
          return look(order, result?.problem);
        }
      }
      kill.abort();
      return fail(
        await look(order),
        `that a request without a response is given up within ${ms / 1000} s, and repeated`,
      );
    },
    /** The same, but kills the run when there is a refund, whose response has to be held. */
    async triggerAndKill(order: Order, { due = NOTHING_DUE } = {}) {
      const kill = new AbortController();
      const running = options.run({ url: sandbox.url, token: sandbox.accessToken, ...order }, kill.signal);
      const untilEnd = (ms: number) => Promise.race([running, pause(ms)]);
      let result = await untilEnd(POLL_MS);
      while (!result && (await look(order)).refunds.length === 0) result = await untilEnd(POLL_MS);
      result ??= await untilEnd(ENDING_MS);
      if (!result) {
        kill.abort();
        await running;
        await untilQuiet(order, NOTHING_DUE);
        return look(order);
      }
      await untilQuiet(order, due);
      const outcome = await look(order, result.problem);
      if (outcome.refunds.length === 0) fail(outcome, "a refund while the command of --run runs");
      throw new NotRun("the command of --run does not wait for the response, so that nothing can be killed");
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
