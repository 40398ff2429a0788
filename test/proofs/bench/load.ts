import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import { options } from "./bench.ts";

/** An address, whose token is acme's by default, and the body of the next request. */
export type Target = { readonly url: string; readonly token?: string; readonly body: () => string };

/** Makes refunds on at most that many connections; each call resolves with its status when its response is complete. */
function createCaller({ url, token = "sandbox_acme", body }: Target, connections: number) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const type = "application/json";
  const headers = { authorization: `Bearer ${token}`, "content-type": type, accept: type };
  return {
    async call(): Promise<number> {
      const response = await pool.request({ path: "/v1/refunds", method: "POST", headers, body: body() });
      await response.body.dump();
      return response.statusCode;
    },
    close: () => pool.close(),
  };
}

/** Refunds a second, when each of the callers sends its next call as soon as a response arrives. */
export async function load(target: Target, connections = 32): Promise<{ made: number; rate: number }> {
  const caller = createCaller(target, connections);
  const startedAt = performance.now();
  const endsAt = startedAt + options.seconds * 1000;
  let made = 0;
  const loop = async () => {
    while (performance.now() < endsAt) {
      const status = await caller.call();
      if (status >= 300) throw new Error(`a call got ${status}`);
      made += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  await caller.close();
  return { made, rate: made / ((performance.now() - startedAt) / 1000) };
}

/** The rate of loads at the same time. */
export async function rateOf(targets: readonly Target[], connections?: number): Promise<number> {
  const loads = await Promise.all(targets.map((target) => load(target, connections)));
  return loads.reduce((sum, { rate }) => sum + rate, 0);
}

/**
 * Makes a fixed number of calls a second to the targets in turn, however long the responses take, as independent callers would whose
 * connections are open; a call waits for a free one. Resolves with the milliseconds of each refund and refusal, and the seconds of all.
 */
export async function offer(
  targets: readonly Target[],
  { callsPerSecond, connections }: { callsPerSecond: number; connections: number },
) {
  const ofEach = Math.floor(connections / targets.length);
  const callers = targets.map((target) => createCaller(target, ofEach));
  await Promise.all(callers.flatMap(({ call }) => Array.from({ length: ofEach }, call)));
  const made: number[] = [];
  const refused: number[] = [];
  const calls: Promise<void>[] = [];
  const call = async (index: number) => {
    const sentAt = performance.now();
    const status = await callers[index % callers.length]?.call();
    if (status !== 201 && status !== 503) throw new Error(`a call got ${status}`);
    (status === 201 ? made : refused).push(performance.now() - sentAt);
  };
  const startedAt = performance.now();
  while (performance.now() < startedAt + options.seconds * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * callsPerSecond;
    while (calls.length < due) calls.push(call(calls.length));
    await pause(5);
  }
  await Promise.all(calls);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  await Promise.all(callers.map(({ close }) => close()));
  return { made, refused, tookSeconds };
}

/** Bodies of refunds of a cent, of these payments in turn. */
export function refundsOf(paymentIds: readonly string[]): () => string {
  let next = 0;
  return () => {
    next += 1;
    const [paymentId, amount] = [paymentIds[next % paymentIds.length], { currency: "USD", value: 0.01 }];
    return JSON.stringify({ paymentId, amount, clientReferenceId: "order-1042", requestKey: randomUUID() });
  };
}
