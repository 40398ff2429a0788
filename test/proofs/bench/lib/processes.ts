import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { serverOptions } from "../../../helpers/server-options.ts";
import { makeTempDir } from "../../../helpers/temp-dir.ts";

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

/** Runs a program of Node until it prints an address. */
export async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await addressOf(child);
  return {
    url,
    startedInMs: performance.now() - startedAt,
    memoryMb: () => residentMb(child.pid),
    cpuSeconds: () => usedSeconds(child.pid),
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (text: string) => {
      output += text;
      const url = /https?:\/\/[^/\s]+/.exec(output)?.[0];
      if (!url || !output.endsWith("\n")) return;
      child.stdout?.off("data", read).resume(); // a log that is not read would block its writer
      resolve(url);
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.once("exit", (code) => reject(new Error(`it ended with ${code} before it printed its address`)));
  });
}

function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function usedSeconds(pid: number | undefined): number {
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
  const dataDir = options.dataDir ?? (await makeTempDir());
  const server = await run([...serverOptions(), join(options.release ?? "", "server/main.ts")], {
    PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: options.logLevel ?? "error",
    ...(options.retentionDays && { RETENTION_DAYS: options.retentionDays }),
    ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl, ENCRYPTION_KEY: KEY }),
  });
  const stop = async () => {
    await server.stop();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  return { ...server, stop };
}

/**
 * The mock, which responds to every call as the contract says and stores nothing; with its log, as its command starts it.
 */
export function runMock(): Promise<Running> {
  const prism = "node_modules/@stoplight/prism-cli/dist/index.js";
  return run([prism, "mock", "--port", "0", "openapi/generated/openapi.json"]);
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
