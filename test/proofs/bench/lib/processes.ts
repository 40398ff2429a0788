import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVER, type ServerProcessOptions, startServerProcess } from "../../../helpers/process.ts";

export interface Running {
  url: string;
  /** Milliseconds from its start until it was ready. */
  startedInMs: number;
  /** Resident memory now, in MB. */
  memoryMb(): number;
  /** Seconds of a processor that it has used so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Starts a program, and resolves when it has printed its address. */
export async function run(options: ServerProcessOptions): Promise<Running> {
  const { url, pid, startedInMs, ignoreOutput, ...program } = await startServerProcess(options);
  ignoreOutput(); // but read it, because a log that is not read would block its writer
  return {
    url,
    startedInMs,
    memoryMb: () => residentMb(pid),
    cpuSeconds: () => usedSeconds(pid),
    async stop() {
      await program.stop();
      await program[Symbol.asyncDispose]();
    },
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

/** The server as operators run it, with a data folder of its own unless one is given. Embedded without a database. */
export async function runServer(
  options: {
    databaseUrl?: string;
    dataDir?: string;
    logLevel?: string;
    retentionDays?: string;
    /** The folder of another release, when it is not the server of this one. */
    release?: string;
  } = {},
): Promise<Running> {
  return run({
    command: [...SERVER.slice(0, -1), join(options.release ?? "", "server/main.ts")],
    env: {
      ...(options.dataDir && { DATA_DIR: options.dataDir }),
      LOG_LEVEL: options.logLevel ?? "error",
      ...(options.retentionDays && { RETENTION_DAYS: options.retentionDays }),
      ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl, ENCRYPTION_KEY: KEY }),
    },
  });
}

/**
 * The mock, which responds to every call as the contract says and stores nothing; with its log, as its command starts it.
 */
export function runMock(): Promise<Running> {
  const prism = "node_modules/@stoplight/prism-cli/dist/index.js";
  return run({
    command: [process.execPath, prism, "mock", "--port", "0", "openapi/generated/openapi.json"],
    ready: /http:.*\n/,
  });
}

/** The same for all servers of a run, so that replicas can read each other's secrets. */
const KEY = randomBytes(32).toString("base64");

/** Original payments with enough to refund for a whole run. */
export async function makePayments({ url }: { url: string }, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const response = await fetch(`${url}/sandbox/payments`, {
        method: "POST",
        headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
        body: JSON.stringify({ amount: { currency: "USD", value: 9_999_999 } }),
      });
      const { paymentId } = (await response.json()) as { paymentId: string };
      return paymentId;
    }),
  );
}
