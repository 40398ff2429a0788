import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, parse } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { readConfig } from "../../../../server/config/config.ts";
import { wrapInSandbox } from "../../../../server/sandbox/sandbox.ts";
import { type RunningServer, type StartOptions, startServer } from "../../../../server/start.ts";
import { type Database, openDatabase } from "../../../../server/storage/database.ts";
import { serveLocally } from "../../../helpers/network/local-server.ts";
import { type PostgresServer, runStatement, startPostgres } from "../../../helpers/postgres.ts";
import {
  commandOf,
  type ServerProcessOptions,
  type Settings,
  startServerProcess,
} from "../../../helpers/process.ts";
import { makeTempDir } from "../../../helpers/temp-dir.ts";
import { progress, record } from "./compare.ts";
import type { Figure } from "./figure.ts";

export type Engine = "PostgreSQL" | "embedded";
export type Result = { readonly figures: readonly Figure[]; readonly notes?: readonly string[] };

/** What the present measurement has started. Its end closes it all, the last one first. */
let started = new AsyncDisposableStack();

/**
 * Runs the benchmark of a file on each engine in turn, and records its figures under the file's name. What it starts by the
 * functions of this module ends with each measurement.
 */
export async function bench(
  measure: (engine: Engine) => Promise<Result>,
  engines: readonly Engine[] = ["PostgreSQL"],
): Promise<void> {
  const results: Result[] = [];
  for (const engine of engines) {
    started = new AsyncDisposableStack();
    try {
      results.push(await measure(engine));
    } finally {
      progress.clear();
      await started.disposeAsync();
    }
  }
  const { name } = parse(process.argv[1] ?? "");
  await record(
    name,
    results.flatMap(({ figures }) => figures),
    results.flatMap(({ notes = [] }) => notes),
  );
  process.exit(); // idle connections of callers would keep it alive
}

/** Has this done at the end of the measurement. */
export function atEnd(close: () => unknown): void {
  started.defer(async () => void (await close()));
}

/** Ends a server with the measurement. */
export function keepUntilEnd<Started extends AsyncDisposable>(server: Started): Started {
  return started.use(server);
}

/** A new, durable store; a server of a benchmark starts on its settings. */
export type Store = { readonly env: Settings; open(): Promise<Database> };

/** The same for all servers of a run, so that one can read the secrets that another has stored. */
const ENCRYPTION_KEY = randomBytes(32).toString("base64");
/** Statements that fill a store take minutes. */
const limits = { backgroundMs: 600_000 };

export async function createStore(engine: Engine): Promise<Store> {
  if (engine === "PostgreSQL") return createDatabase(await createPostgres());
  const dataDir = await makeTempDir();
  atEnd(() => rm(dataDir, { recursive: true, force: true }));
  return { env: { DATA_DIR: dataDir }, open: () => openDatabase({ dataDir, limits }) };
}

/** A PostgreSQL server that writes commits to disk, as in production. */
export async function createPostgres(): Promise<PostgresServer> {
  const postgres = await startPostgres({ durable: true });
  atEnd(() => postgres.stop());
  return postgres;
}

/** Databases on one server share its memory and its disk. */
export async function createDatabase(postgres: PostgresServer): Promise<Store> {
  const name = `bench_${randomBytes(4).toString("hex")}`;
  await runStatement(postgres.urlOf("postgres"), `create database ${name}`);
  const databaseUrl = postgres.urlOf(name);
  return {
    env: { DATABASE_URL: databaseUrl, ENCRYPTION_KEY },
    open: () => openDatabase({ databaseUrl, dataDir: "unused", limits }),
  };
}

/** Calls as acme, or with another token; rejects when the response is not a success. */
export type Call = <Body>(path: string, body?: object, token?: string) => Promise<Body>;

/** A program that serves callers. */
export type Running = {
  readonly url: string;
  /** Milliseconds from its start until it was ready. */
  readonly startedInMs: number;
  readonly call: Call;
  /** Resident memory now, in MB. */
  memoryMb(): number;
  /** Seconds of a processor that it has used so far. */
  cpuSeconds(): number;
  /** Stops it before the end of the measurement. */
  stop(): Promise<unknown>;
};

/** Without what makes the programs of tests start faster. */
export const OPERATOR_ENV = { NODE_OPTIONS: "", NODE_COMPILE_CACHE: "" };

export async function start(options: ServerProcessOptions): Promise<Running> {
  const program = await startServerProcess({ ...options, env: { ...OPERATOR_ENV, ...options.env } });
  program.ignoreOutput(); // but read it, because a log that is not read would block its writer
  keepUntilEnd(program);
  return {
    url: program.url,
    startedInMs: program.startedInMs,
    call: callerOf(program),
    memoryMb: () => residentMb(program.pid),
    cpuSeconds: () => usedSeconds(program.pid),
    stop: () => program.stop(),
  };
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function usedSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100; // user and system time, in ticks of 10 ms
}

/**
 * The server as operators run it, with few logs unless `env` says otherwise.
 *
 * @param release the folder of another release, when it is not the server of this one
 */
export function serve(store: Pick<Store, "env">, env: Settings = {}, release = ""): Promise<Running> {
  const [node = "", program = ""] = commandOf({ ...store.env, ...env });
  const command = [node, join(release, program)];
  return start({ command, env: { LOG_LEVEL: "error", ...store.env, ...env } });
}

/** The mock, which responds to every call as the contract says and stores nothing; with its log, as its command starts it. */
export function startMock(): Promise<Running> {
  const prism = "node_modules/@stoplight/prism-cli/dist/index.js";
  const command = [process.execPath, prism, "mock", "--port", "0", "openapi/generated/openapi.yaml"];
  return start({ command, ready: /http:.*\n/ });
}

/** A server inside this process, without a log. */
export async function serveHere(
  store: Pick<Store, "env">,
  options: Partial<StartOptions> = {},
): Promise<RunningServer & { call: Call }> {
  const config = readConfig({ PORT: "0", ...store.env });
  const server = await startServer(config, { logger: pino({ level: "silent" }), ...options }, (core) =>
    wrapInSandbox(core, undefined),
  );
  atEnd(() => server.close());
  return { ...server, call: callerOf(server) };
}

function callerOf({ url }: { readonly url: string }): Call {
  return async <Body>(path: string, body?: object, token = "sandbox_acme") => {
    const response = await fetch(url + path, {
      method: body === undefined ? "DELETE" : "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const received = await response.text();
    if (!response.ok) throw new Error(`${path} responded ${response.status}: ${received}`);
    return (received && JSON.parse(received)) as Body;
  };
}

/** Original payments with enough to refund for a whole run. */
export function makePayments({ call }: { call: Call }, count = 64, token?: string): Promise<string[]> {
  const amount = { currency: "USD", value: 9_999_999 };
  return Promise.all(
    Array.from({ length: count }, async () => {
      return (await call<{ paymentId: string }>("/sandbox/payments", { amount }, token)).paymentId;
    }),
  );
}

export function subscribe({ call }: { call: Call }, url: string, token?: string): Promise<unknown> {
  const secretKey = "9f2c1b7ae04d5386c1f7a2b9d0e43c58";
  const subscriptionDetails = { type: "ALL" };
  return call("/v1/webhook/subscribe", { url, secretKey, subscriptionDetails }, token);
}

/** A merchant's server that takes deliveries. */
export async function receive(
  onDelivery: (body: string, request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const receiver = await serveLocally(async (request, response) => {
    onDelivery(await text(request), request, response);
  });
  return keepUntilEnd(receiver).url;
}
