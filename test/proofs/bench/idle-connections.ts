import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { SERVER_OPTIONS } from "../../helpers/process.ts";
import { percentile, progress, single, toComparison } from "./lib/compare.ts";
import { bench, createStore, makePayments, type Running, serve, start } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * Resident memory for each idle connection, next to a plain HTTP server of Node, and how long a refund of another caller takes
 * meanwhile. The connections are kept alive after one refund each; others have sent nothing yet, which a server allows for ten
 * seconds.
 */
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 10_000);
/** Connections that are opened at a time. */
const AT_ONCE = 100;
const ROUNDS = 3;
const SETTLE_MS = 2_000;

/** Opens connections, and makes a call on each if there is one to make. */
async function open(url: string, request?: () => string): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const openOne = async () => {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    if (!request) return socket;
    socket.write(request());
    const [response] = await once(socket, "data");
    if (!String(response).startsWith("HTTP/1.1 201 ")) throw new Error(`not 201: ${response}`);
    return socket.pause();
  };
  const sockets: Socket[] = [];
  while (sockets.length < CONNECTIONS) {
    sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, openOne))));
    progress.show(`${sockets.length} connections`);
  }
  return sockets;
}

function toRequest(body: string): string {
  const head = ["POST /v1/refunds HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer sandbox_acme"];
  const json = ["Accept: application/json", "Content-Type: application/json"];
  return [...head, ...json, `Content-Length: ${body.length}`, "", body].join("\r\n");
}

/** Of several measurements, after the last garbage collection that the calls before have caused. */
async function settledMb({ memoryMb }: Running): Promise<number> {
  await setTimeout(SETTLE_MS);
  return memoryMb();
}

/** KB for each connection. Resolves while they are open; the function closes them. */
async function measureMemory(
  server: Running,
  request?: () => string,
): Promise<[kb: number, close: () => void]> {
  const before = await settledMb(server);
  const sockets = await open(server.url, request);
  const kb = (((await settledMb(server)) - before) * 1024) / CONNECTIONS;
  return [
    kb,
    () => {
      for (const socket of sockets) socket.destroy();
    },
  ];
}

await bench(async (engine) => {
  const env = { MAX_CONNECTIONS: `${CONNECTIONS + 1_000}` };
  const startOurs = async () => {
    const server = await serve(await createStore(engine), env);
    const body = refundsOf(await makePayments(server, 256));
    return { server, body };
  };
  const startPlain = async () => {
    const command = [process.execPath, ...SERVER_OPTIONS, "test/proofs/bench/lib/http-server.ts", "plain"];
    return { server: await start({ command, ready: /http:.*\n/ }), body: refundsOf(["pay_settled"]) };
  };
  const count = `${CONNECTIONS.toLocaleString("en")} idle connections`;
  const figures = [];
  for (const [startServer, name] of [
    [startOurs, "the server"],
    [startPlain, "a plain HTTP server of Node"],
  ] as const) {
    const isOurs = startServer === startOurs;
    for (const called of [true, false]) {
      const { server, body } = await startServer();
      const p99 = async () =>
        percentile((await load({ url: server.url, body }, { connections: 8 })).latencies, 0.99);
      const alone: number[] = [];
      for (let round = -1; round < ROUNDS; round += 1) alone.push(await p99());
      alone.shift(); // a warm-up round
      const [kb, close] = await measureMemory(server, called ? () => toRequest(body()) : undefined);
      const kind = called ? "after one call each" : "that have sent nothing";
      figures.push(
        single(`memory for each of ${count} ${kind}, ${name}`, "KB", [kb], isOurs ? 8 : undefined),
      );
      if (isOurs && called) {
        const rounds: [number, number][] = [];
        for (const before of alone) rounds.push([await p99(), before]);
        const sides = {
          name: `p99 of a refund beside ${count}, 8 callers`,
          unit: "ms",
          against: "without them",
        };
        figures.push(toComparison({ ...sides, atMost: 1.2 }, rounds));
      }
      close();
      await server.stop();
    }
  }
  return { figures };
});
