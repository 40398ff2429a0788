import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Pool } from "undici";

/** Seconds of each measurement; `BENCH_SECONDS` shortens a trial. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

/** Connections of callers that don't wait for each other: enough that none waits for one. */
const MAX_CONNECTIONS = 2_000;

export interface Target {
  url: string;
  path?: string;
  token?: string;
  /** The body of the next request. */
  body: () => string;
}

export interface LoadOptions {
  connections?: number;
  seconds?: number;
}

export interface LoadResult {
  /** Responses a second with a status below 300. */
  rate: number;
  /** Milliseconds that each of them took. */
  latencies: number[];
  /** How many responses had each status. */
  statuses: Map<number, number>;
}

export interface OfferResult {
  /** Milliseconds that each response took, by its status. */
  latencies: Map<number, number[]>;
  /** Calls a second that were begun. */
  offered: number;
  /** From the first call to the last response. */
  tookSeconds: number;
}

function headersOf(token: string) {
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
  const { url, path = "/v1/refunds", token = "sandbox_acme", body } = target;
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = headersOf(token);
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  async function caller(): Promise<void> {
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      const response = await pool.request({ path, method: "POST", headers, body: body() });
      await response.body.dump();
      if (response.statusCode < 300) latencies.push(performance.now() - sentAt);
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
    }
  }
  await Promise.all(Array.from({ length: connections }, caller));
  const tookSeconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { rate: latencies.length / tookSeconds, latencies, statuses };
}

/** Makes a fixed number of calls a second, however long the responses take, as independent callers would. */
export async function offer(
  { url, path = "/v1/refunds", token = "sandbox_acme", body }: Target,
  { callsPerSecond, seconds = SECONDS }: { callsPerSecond: number; seconds?: number },
): Promise<OfferResult> {
  const pool = new Pool(url, { connections: MAX_CONNECTIONS, pipelining: 1 });
  const headers = headersOf(token);
  const latencies = new Map<number, number[]>();
  const calls: Promise<void>[] = [];
  const call = async () => {
    const sentAt = performance.now();
    const response = await pool.request({ path, method: "POST", headers, body: body() });
    await response.body.dump();
    const ofStatus = latencies.get(response.statusCode) ?? [];
    ofStatus.push(performance.now() - sentAt);
    latencies.set(response.statusCode, ofStatus);
  };
  const startedAt = performance.now();
  while (performance.now() < startedAt + seconds * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * callsPerSecond;
    while (calls.length < due) calls.push(call());
    await setTimeout(5);
  }
  const offered = calls.length / ((performance.now() - startedAt) / 1000);
  await Promise.all(calls);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { latencies, offered, tookSeconds };
}

/** The rate of a load in which every call must succeed. */
export async function rateOf(target: Target, options?: LoadOptions): Promise<number> {
  const { rate, statuses } = await load(target, options);
  const failed = [...statuses].filter(([status]) => status >= 300);
  if (failed.length > 0)
    throw new Error(`calls failed: ${failed.map(([status, count]) => `${count} × ${status}`)}`);
  return rate;
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
