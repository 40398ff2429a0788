import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

/** Something that was so at a time, and counts for a while; both in nanoseconds of `process.hrtime`. */
export type Sign = { time: BigInt64Array<SharedArrayBuffer>; lifetime: bigint };

export type ProbeThreadData = { host: string; port: number; alive: Sign; ready: Sign };

/*
 * Responds to probes while the main thread accepts a crowd of connections, one in each turn of its event loop. It only reads what
 * the main thread has written: when that falls silent, the server is not ready, and later not alive.
 */
const { host, port, alive, ready } = workerData as ProbeThreadData;

const PROBES: Readonly<Record<string, { sign: Sign; good: string }>> = {
  "/healthz": { sign: alive, good: "ok" },
  "/readyz": { sign: ready, good: "ready" },
};

const server = createServer(({ method = "", url = "" }, response) => {
  const probe = PROBES[url];
  if (!probe) return void response.writeHead(404).end();
  if (!["GET", "HEAD"].includes(method)) return void response.writeHead(405, { Allow: "GET, HEAD" }).end();
  const isGood = process.hrtime.bigint() - Atomics.load(probe.sign.time, 0) < probe.sign.lifetime;
  const body = JSON.stringify({ status: isGood ? probe.good : "unavailable" });
  response.writeHead(isGood ? 200 : 503, { "Content-Type": "application/json" }).end(body);
});
server.listen({ host, port }, () => {
  const address = server.address() as AddressInfo; // a server that listens on a port has no other kind of address
  parentPort?.postMessage(address.port);
});
