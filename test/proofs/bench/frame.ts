/** What all benchmarks share: a server of its own for each, and figures as a table. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type Database, openDatabase } from "../../../server/storage/database/database.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import {
  commandOf,
  type ServerProcessOptions,
  type Settings,
  startServerProcess,
} from "../../helpers/process.ts";
import { post } from "../../helpers/server.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";

export type Engine = "PostgreSQL" | "embedded";

/** What the present measurement has started. Its end closes it all, the last one first. */
let started = new AsyncDisposableStack();

/** Runs a measurement on each engine in turn. What it starts by the functions of this module ends with it. */
export async function bench(
  measure: (engine: Engine) => Promise<void>,
  engines: readonly Engine[] = ["PostgreSQL"],
): Promise<void> {
  for (const engine of engines) {
    started = new AsyncDisposableStack();
    try {
      await measure(engine);
    } finally {
      await started.disposeAsync();
    }
  }
  process.exit(); // idle connections of callers would keep it alive
}

/** Has this done at the end of the measurement. */
export const atEnd = (close: () => unknown) => started.defer(async () => void (await close()));

/** Ends a server with the measurement. */
export const keepUntilEnd = <Started extends AsyncDisposable>(server: Started) => started.use(server);

/** A new, durable store; a server of a benchmark starts on its settings. */
export async function createStore(engine: Engine): Promise<{ env: Settings; open(): Promise<Database> }> {
  if (engine === "embedded") {
    const dataDir = await makeTempDir();
    atEnd(() => rm(dataDir, { recursive: true, force: true }));
    return { env: { DATA_DIR: dataDir }, open: () => openDatabase({ dataDir }) };
  }
  // It writes commits to disk, as in production.
  const postgres = await startPostgres({ durable: true });
  atEnd(() => postgres.stop());
  const databaseUrl = postgres.urlOf("postgres");
  const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString("base64") };
  return { env, open: () => openDatabase({ databaseUrl, dataDir: "unused" }) };
}

/** A program that serves callers: the milliseconds until it was ready, its memory in MB, and the seconds of a processor it has used. */
export type Running = Awaited<ReturnType<typeof start>>;

/** Without what makes the programs of tests start faster. */
const OPERATOR_ENV = { NODE_OPTIONS: "", NODE_COMPILE_CACHE: "" };

export async function start(options: ServerProcessOptions) {
  const program = await startServerProcess({ ...options, env: { ...OPERATOR_ENV, ...options.env } });
  program.ignoreOutput(); // but read it, because a log that is not read would block its writer
  keepUntilEnd(program);
  return {
    ...{ url: program.url, startedInMs: program.startedInMs },
    memoryMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1]) / 1024,
    cpuSeconds() {
      const [, fields = ""] = readFileSync(`/proc/${program.pid}/stat`, "utf8").split(") ");
      const [user, system] = fields.split(" ").slice(11, 13).map(Number);
      return ((user ?? 0) + (system ?? 0)) / 100; // both in ticks of 10 ms
    },
    stop: () => program.stop(),
  };
}

/** The server as operators run it, with few logs unless `env` says otherwise. */
export const serve = (store: { env: Settings }, env: Settings = {}): Promise<Running> =>
  start({ command: commandOf({ ...store.env, ...env }), env: { LOG_LEVEL: "error", ...store.env, ...env } });

const startOther = (command: string, env: Settings) =>
  start({ command: [process.execPath, ...command.split(" ")], env, ready: /http:.*\n/ });

/** A server of `http-server.ts`. */
export const startKind = (kind: string) => startOther(`test/proofs/bench/http-server.ts ${kind}`, {});

/** The mock of the contract, which responds as it says and stores nothing. */
export const startPrism = (env: Settings = {}) =>
  startOther("node_modules/.bin/prism mock --port 0 openapi/generated/openapi.yaml", env);

/** Original payments with enough to refund for a whole run. */
export function makePayments({ url }: { readonly url: string }): Promise<string[]> {
  const body = { amount: { currency: "USD", value: 9_999_999 } };
  const make = async () => (await post<{ paymentId: string }>(url, "/sandbox/payments", body)).body.paymentId;
  return Promise.all(Array.from({ length: 64 }, make));
}
