import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { ProbeThreadData, Sign } from "./probe-thread.ts";
import { isReady, type ProbeOptions } from "./probes.ts";

/** The time between two reports of readiness to the thread, in milliseconds. */
const EVERY_MS = 500;
/** How long that counts: longer than the checks may take, so that slow ones alone change nothing. */
const READY_MS = 5_000;
/** How long the main thread may be silent before the process counts as dead. */
const ALIVE_MS = 30_000;

export type ProbeServerOptions = ProbeOptions & {
  host: string;
  /** Undefined: probes have no thread of their own. */
  probePort: number | undefined;
  readyMs?: number;
  aliveMs?: number;
};

export type ProbeServer = {
  /** Its address, such as `http://127.0.0.1:9001`; undefined without a port. */
  url: string | undefined;
  stop(): Promise<void>;
};

/**
 * Serves `/healthz` and `/readyz` on a port of their own, by a thread of their own, so that no crowd of callers delays them.
 * Rejects with the system's error when the thread can't listen.
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const { host, probePort: port, readyMs = READY_MS, aliveMs = ALIVE_MS } = options;
  if (port === undefined) return { url: undefined, stop: async () => {} };
  const [alive, ready] = [createSign(aliveMs), createSign(readyMs)];
  const tell = async () => {
    Atomics.store(alive.time, 0, process.hrtime.bigint());
    Atomics.store(ready.time, 0, (await isReady(options)) ? process.hrtime.bigint() : 0n);
  };
  await tell();

  const thread = new Worker(new URL(`./probe-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: { host, port, alive, ready } satisfies ProbeThreadData,
  });
  const [listening] = await once(thread, "message");
  const timer = setInterval(tell, EVERY_MS);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${listening}`,
    async stop() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}

function createSign(lifetimeMs: number): Sign {
  const time = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  return { time, lifetime: BigInt(lifetimeMs) * 1_000_000n };
}
