/** Callers that issue refunds all the time, and remember the responses that they got. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Schemas } from "../../../../server/contract/contract-document.ts";
import {
  dollars,
  type Refund,
  refundOf,
  type Subscription,
  subscriptionTo,
} from "../../../helpers/factories.ts";

export type RefundRequest = ReturnType<typeof refundOf>;

/** The callers' knowledge: every request they made, and its outcome. */
export type Ledger = Readonly<ReturnType<typeof createLedger>>;

export function createLedger(paymentId: string, token = ACME) {
  const outcomes: Record<Outcome, number> = { served: 0, refused: 0, lost: 0 };
  return {
    paymentId,
    /** The token of the calling merchant. */
    token,
    /** By requestKey: 201, or 409 with the caller's own record after a response was lost. */
    acknowledged: new Map<string, Refund>(),
    /** By requestKey: no response, or 5xx, which does not say whether the refund exists (D08). */
    unknown: new Map<string, RefundRequest>(),
    subscriptions: new Set<string>(),
    /** Outcomes that no fault excuses: any other response, or none within the time limit. */
    wrong: [] as string[],
    /** How many calls had which outcome, those to subscribe included. */
    outcomes,
    /** The statuses of the calls that were refused. */
    refusals: new Set<number>(),
  };
}

export const ACME = "sandbox_acme";

/** Longer than any call may take, whatever has happened to the server. */
const CALL_LIMIT_MS = 20_000;
const CALLERS = 8;
/** One call in this many is a subscription instead of a refund; the first call is one, so that each round has one. */
const SUBSCRIBE_EVERY = 25;

export type Received<Body> = { readonly status: number; readonly body: Body };

/** A request's response, or undefined when the connection was lost before it came. A request that hangs fails. */
export async function send<Body>(
  url: string,
  path: string,
  body: unknown,
  token = ACME,
): Promise<Received<Body> | undefined> {
  const signal = AbortSignal.timeout(CALL_LIMIT_MS);
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        Authorization: `Bearer ${token}`,
      },
      body: JSON.stringify(body),
      signal,
    });
    return { status: response.status, body: (await response.json()) as Body };
  } catch (error) {
    if (signal.aborted) throw new Error(`${path} got no response within ${CALL_LIMIT_MS} ms`);
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export type CallOptions = {
  readonly stopped: () => boolean;
  readonly persistent?: boolean;
  readonly callers?: number;
  /** The least time from one call of a caller to its next one; by default it calls again at once. */
  readonly everyMs?: number;
  /** Called after each call. */
  readonly onCall?: (milliseconds: number, outcome: Outcome) => void;
};

/**
 * Calls a server from several callers at once until `stopped`, and records the outcomes. A caller whose connection is lost
 * ends, unless it is `persistent`: then it continues a moment later with another call.
 */
export async function callUntil(
  url: string,
  ledger: Ledger,
  { stopped, persistent = false, callers = CALLERS, everyMs = 0, onCall = () => {} }: CallOptions,
): Promise<void> {
  let calls = 0;
  async function caller(): Promise<void> {
    while (!stopped()) {
      calls += 1;
      const call = calls % SUBSCRIBE_EVERY === 1 ? subscribe : refund;
      const startedMs = performance.now();
      const outcome = await call(url, ledger);
      ledger.outcomes[outcome] += 1;
      onCall(performance.now() - startedMs, outcome);
      if (outcome === "lost" && !persistent) return;
      if (outcome !== "served") await setTimeout(Math.max(20, everyMs));
      else await setTimeout(Math.max(0, startedMs + everyMs - performance.now()));
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Calls servers until it is stopped. */
export function startLoad(
  servers: readonly { readonly url: string }[],
  ledger: Ledger,
  { persistent = false } = {},
): { stop(): Promise<void> } {
  let stopped = false;
  const options = { stopped: () => stopped, persistent };
  const calls = Promise.all(servers.map(({ url }) => callUntil(url, ledger, options)));
  return {
    async stop() {
      stopped = true;
      await calls;
    },
  };
}

export type Outcome = "served" | "refused" | "lost";

async function refund(url: string, ledger: Ledger): Promise<Outcome> {
  const request = refundOf(ledger.paymentId, { amount: dollars(0.01) });
  // Recorded before it is sent, so that requests without a response are checked as well.
  ledger.unknown.set(request.requestKey, request);
  const response = await send<Refund>(url, "/v1/refunds", request, ledger.token);
  if (response?.status === 201) {
    ledger.unknown.delete(request.requestKey);
    ledger.acknowledged.set(request.requestKey, response.body);
  }
  return outcomeOf(response, 201, ledger);
}

async function subscribe(url: string, ledger: Ledger): Promise<Outcome> {
  // To an event that never happens, because only the subscription's existence matters. Every mode accepts https with a
  // public host.
  const subscriptionDetails = { type: "EVENT", details: ["account.linked"] };
  const body = subscriptionTo(`https://merchant.example.com/${randomUUID()}`, { subscriptionDetails });
  const response = await send<Subscription>(url, "/v1/webhook/subscribe", body, ledger.token);
  if (response?.status === 200) ledger.subscriptions.add(response.body.subscriptionKey);
  // A merchant can have so many (D26) that only the leftovers of many rounds can reach the limit.
  return response?.status === 409 ? "served" : outcomeOf(response, 200, ledger);
}

function outcomeOf(response: Received<unknown> | undefined, success: number, ledger: Ledger): Outcome {
  if (!response) return "lost";
  if (response.status === success) return "served";
  const { errorDetails } = response.body as Schemas["InternalErrorProblem"];
  const refused = [500, 503].includes(response.status) && errorDetails;
  if (!refused) ledger.wrong.push(`${response.status} ${JSON.stringify(response.body)}`);
  ledger.refusals.add(response.status);
  return "refused";
}
