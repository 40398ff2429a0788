import { ConfigError } from "./config/read.ts";
import { readConfig } from "./config.ts";
import { openLog, type ProcessLog } from "./logger.ts";
import { SANDBOX_MERCHANTS } from "./sandbox/fixtures.ts";
import type { RunningServer } from "./start.ts";
import { DataDirLockedError, DataDirUnusableError } from "./storage/lock.ts";

/** How long a stop may take, in milliseconds: more than calls and attempts in flight are given. */
const STOP_LIMIT_MS = 9_800;

/** What to change when the system refuses something at the start, by what it refused. */
const REMEDIES: Readonly<Record<string, string>> = {
  listen: "Stop what listens there, or choose another address with HOST, PORT or METRICS_PORT.",
  getaddrinfo: "Choose another address with HOST or DATABASE_URL.",
  connect: "Start what should listen there, or choose another database with DATABASE_URL.",
  mkdir: "Choose a folder that can be written with DATA_DIR.",
  open: "Choose a folder that can be written with DATA_DIR.",
};

await main();

async function main(): Promise<void> {
  try {
    const config = readConfig(process.env);
    const log = openLog(config.logLevel);
    const { logger } = log;
    // Loaded when the settings are right: a wrong one is told at once.
    const { startServer } = await import("./start.ts");
    const server = await startServer(config, { logger });
    stopOnSignals(server, log);
    if (config.mode === "sandbox") process.stdout.write(welcome(server.url));
    else logger.info({ url: server.url, metricsUrl: server.metricsUrl }, "listening");
    if (config.mode === "sandbox" && !isLoopback(config.host)) {
      logger.warn(
        `The sandbox's access tokens are public knowledge, and HOST=${config.host} is open to others.`,
      );
    }
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = 1;
  }
}

function isLoopback(host: string): boolean {
  return ["127.0.0.1", "localhost", "::1"].includes(host);
}

/** A fault of the set-up is told in a sentence; anything else with its stack. */
function explain(error: unknown): string {
  for (const told of [ConfigError, DataDirLockedError, DataDirUnusableError]) {
    if (error instanceof told) return error.message;
  }
  if (!(error instanceof Error)) return String(error);
  const remedy = "syscall" in error ? REMEDIES[String(error.syscall)] : undefined;
  return remedy ? `${error.message}. ${remedy}` : (error.stack ?? error.message);
}

function stopOnSignals(server: RunningServer, log: ProcessLog): void {
  // An exit would wait for a log that nobody reads.
  const end = () => process.kill(process.pid, "SIGKILL");
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      // Unreferenced: it only ends a process that something in flight still holds open.
      setTimeout(end, STOP_LIMIT_MS).unref();
      await server.close();
      if (!(await log.close())) end();
    });
  }
}

function welcome(url: string): string {
  const [merchant] = SANDBOX_MERCHANTS;
  const body = `{"paymentId":"pay_settled","amount":{"currency":"USD","value":1.00},"requestKey":"${crypto.randomUUID()}"}`;
  return `
Sandbox ready.

  API           ${url}/v1
  Docs          ${url}/docs
  Contract      ${url}/openapi.json  ${url}/openapi.yaml
  Health        ${url}/healthz  ${url}/readyz
  Access token  sandbox_${merchant}

Issue a refund:

  curl -s ${url}/v1/refunds -H 'Authorization: Bearer sandbox_${merchant}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '${body}'

`;
}
