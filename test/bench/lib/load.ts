import { randomUUID } from "node:crypto";
import { Pool } from "undici";

/** Seconds of each measurement; `BENCH_SECONDS` shortens a trial. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

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
  /** Answers a second with a status below 300. */
  rate: number;
  /** Milliseconds of each of them. */
  latencies: number[];
  /** How many answers there were of each status. */
  statuses: Map<number, number>;
}

/** Calls as fast as the answers come, on so many connections. */
export async function load(
  target: Target,
  { connections = 32, seconds = SECONDS }: LoadOptions = {},
): Promise<LoadResult> {
  const { url, path = "/v1/refunds", token = "sandbox_acme", body } = target;
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json",
  };
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
