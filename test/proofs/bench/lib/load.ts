import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { Client, type Dispatcher, Pool } from "undici";
import { options } from "./options.ts";

/** Seconds of each measurement. */
export const SECONDS: number = options.seconds ?? 3;

const PATH = "/v1/refunds";

export type Target = {
  url: string;
  token?: string;
  /** The body of the next request. */
  body: () => string;
};

export type LoadOptions = {
  connections?: number;
  seconds?: number;
};

export type LoadResult = {
  /** Successful responses a second. */
  rate: number;
  /** Milliseconds that each of them took. */
  latencies: number[];
};

export type OfferResult = {
  /** Milliseconds that each refund took. */
  made: number[];
  /** Milliseconds that each refusal took. */
  refused: number[];
  /** Calls a second that were begun. */
  offered: number;
  /** From the first call to the last response. */
  tookSeconds: number;
  /** How late the callers' own event loop was (p99, in milliseconds), which the latencies include. */
  lateMs: number;
};

export function headersOf(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json",
  };
}

/** Sends the next call as soon as a response arrives, on the given number of connections. */
export async function load(
  target: Target,
  { connections = 32, seconds = SECONDS }: LoadOptions = {},
): Promise<LoadResult> {
  const { url, token = "sandbox_acme", body } = target;
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = headersOf(token);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  async function caller(): Promise<void> {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      const response = await pool.request({ path: PATH, method: "POST", headers, body: body() });
      await response.body.dump();
      if (response.statusCode < 300) latencies.push(performance.now() - sentAt);
      else throw new Error(`a call got ${response.statusCode}`);
    }
  }
  await Promise.all(Array.from({ length: connections }, caller));
  const tookSeconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { rate: latencies.length / tookSeconds, latencies };
}

/**
 * Makes a fixed number of calls a second to the targets in turn, however long the responses take, as independent callers would, on
 * as many connections at most; a call waits for a free one before it is sent. They share the cores with the server, so a call has to cost them little: undici's client without a stream for the body, and a list of free
 * connections, because a pool looks through all its connections for a free one.
 */
export async function offer(
  targets: readonly Target[],
  { callsPerSecond, connections }: { callsPerSecond: number; connections: number },
): Promise<OfferResult> {
  const callers = targets.map(({ url, token = "sandbox_acme", body }) => ({
    connections: createConnections(url, connections / targets.length),
    request: () => ({ path: PATH, method: "POST" as const, headers: headersOf(token), body: body() }),
  }));
  const made: number[] = [];
  const refused: number[] = [];
  const calls: Promise<void>[] = [];
  const call = async (caller = callers[0]) => {
    if (!caller) throw new Error("there is no target");
    const { connections, request } = caller;
    const client = await connections.take();
    const sentAt = performance.now();
    const status = await statusOf(client, request());
    connections.give(client);
    if (status !== 201 && status !== 503) throw new Error(`a call got ${status}`);
    (status === 201 ? made : refused).push(performance.now() - sentAt);
  };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const startedAt = performance.now();
  while (performance.now() < startedAt + SECONDS * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * callsPerSecond;
    while (calls.length < due) calls.push(call(callers[calls.length % callers.length]));
    await setTimeout(5);
  }
  const offered = calls.length / ((performance.now() - startedAt) / 1000);
  await Promise.all(calls);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  delay.disable();
  await Promise.all(callers.map(({ connections }) => connections.close()));
  return { made, refused, offered, tookSeconds, lateMs: delay.percentile(99) / 1e6 };
}

function createConnections(url: string, atMost: number) {
  const all: Client[] = [];
  const free: Client[] = [];
  const waiting: ((client: Client) => void)[] = [];
  return {
    take(): Client | Promise<Client> {
      const client = free.pop();
      if (client) return client;
      if (all.length >= atMost) return new Promise((resolve) => waiting.push(resolve));
      const opened = new Client(url);
      all.push(opened);
      return opened;
    },
    give(client: Client): void {
      const next = waiting.shift();
      if (next) next(client);
      else free.push(client);
    },
    close: () => Promise.all(all.map((client) => client.close())),
  };
}

/** Makes a call, and resolves with its status when its response is complete. */
function statusOf(client: Client, request: Dispatcher.DispatchOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    client.dispatch(request, {
      onRequestStart() {}, // undici tells by it which kind of handler this is
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData() {},
      onResponseEnd: () => resolve(status),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}

/** The rate of loads at the same time. */
export async function rateOf(targets: readonly Target[], options?: LoadOptions): Promise<number> {
  const loads = await Promise.all(targets.map((target) => load(target, options)));
  return loads.reduce((sum, { rate }) => sum + rate, 0);
}

/** Bodies of refunds of a cent, of these payments in turn. */
export function refundsOf(paymentIds: readonly string[]): () => string {
  let next = 0;
  return () => {
    next += 1;
    return JSON.stringify({
      paymentId: paymentIds[next % paymentIds.length],
      amount: { currency: "USD", value: 0.01 },
      clientReferenceId: "order-1042",
      requestKey: randomUUID(),
    });
  };
}
