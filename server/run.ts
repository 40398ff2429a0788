import { enableCompileCache } from "node:module";
import { type Config, readConfig } from "./config/config.ts";
import type { Environment } from "./config/environment.ts";
import { IN_MEMORY } from "./config/store-settings.ts";
import { openLog, type ProcessLog } from "./log/logger.ts";
import { toReadableLine } from "./log/readable-log.ts";
import { refuseInspector } from "./process/no-inspector.ts";
import { removeOwner, writeOwner } from "./process/owner.ts";
import { explainStartFailure } from "./process/start-failure.ts";
import { onStopSignal } from "./process/stop-signals.ts";
import { SANDBOX_MERCHANTS } from "./sandbox/fixtures.ts";
import type { RunningServer } from "./start.ts";
import { StoreStartError } from "./storage/database/start-error.ts";

/** Milliseconds that a stop may take in total; more than requests and webhook attempts in flight are given. */
const STOP_LIMIT_MS = 9_800;

/** Milliseconds that the process has after a stop to end by itself; a pending lookup can keep it alive. */
const LEFT_OVER_MS = 100;

/** Runs a server until a signal stops it. Sets the exit code of the process, and prints why when it can't start. */
export async function runServer(env: Environment): Promise<void> {
  let log: ProcessLog | undefined;
  let config: Config | undefined;
  try {
    config = readConfig(env);
    if (config.mode === "production") refuseInspector();
    log = openLog(config.logLevel, config.logFormat === "text" ? toReadableLine : undefined);
    const { logger } = log;
    // Halves the time to load the server. Not in production, where nobody else may write what a process executes.
    if (config.mode === "sandbox") enableCompileCache();
    // Loaded after the settings were read, so that a wrong setting is reported without delay.
    const { startServer } = await import("./start.ts");
    const server = await leaveWord(await startServer(config, { logger }), config);
    const print = config.mode === "sandbox" ? log.print : undefined;
    stopOnSignal(server, { log, print });
    if (config.mode === "sandbox") process.stdout.write(welcome(server.url));
    else logger.info({ url: server.url, metricsUrl: server.metricsUrl }, "listening");
    if (config.mode === "sandbox" && !isLoopback(config.host)) {
      logger.warn(
        `The sandbox's access tokens are public knowledge, and HOST=${config.host} is open to others.`,
      );
    }
  } catch (error) {
    process.stderr.write(`${await explainStartFailure(error, config)}\n`);
    process.exitCode = 1;
    if (error instanceof StoreStartError) log?.logger.fatal({ err: error }, "can't start");
    await log?.close();
  }
}

/** Keeps a note in the data folder that names the process that has it open. */
async function leaveWord(server: RunningServer, { databaseUrl, dataDir }: Config): Promise<RunningServer> {
  if (databaseUrl !== undefined || dataDir === IN_MEMORY) return server;
  await writeOwner(dataDir, { pid: process.pid, url: server.url });
  // Before the folder is unlocked, because the next process then writes its own note.
  const close = () => removeOwner(dataDir).then(() => server.close());
  return { ...server, close };
}

function isLoopback(host: string): boolean {
  return ["127.0.0.1", "localhost", "::1"].includes(host);
}

/** @param print for a sandbox: writes log lines as text for people, where production logs JSON */
function stopOnSignal(
  server: RunningServer,
  { log, print }: { log: ProcessLog; print: ((text: string) => void) | undefined },
): void {
  // process.exit() would wait until the log is read.
  const kill = () => process.kill(process.pid, "SIGKILL");
  onStopSignal(async (cause) => {
    // Unreferenced, so it fires only if something in flight still keeps the process alive.
    setTimeout(kill, STOP_LIMIT_MS).unref();
    if (print) print(`Stopping (${cause}).\n`);
    else log.logger.info({ cause }, "stopping");
    await server.close();
    if (print) print("Stopped.\n");
    else log.logger.info("stopped");
    if (!(await log.close())) kill();
    // Unreferenced as well: only a lookup without a response from its nameserver can still be pending.
    setTimeout(endWithoutThreads, LEFT_OVER_MS).unref();
  });
}

/**
 * Ends the process with code 0 by replacing it with an empty program. `process.exit()` would wait for the threads of
 * lookups, which can't be cancelled.
 */
function endWithoutThreads(): void {
  process.execve?.(process.execPath, [process.execPath, "--eval", ""], {});
}

function welcome(url: string): string {
  const [merchant] = SANDBOX_MERCHANTS;
  const body = `{"paymentId":"pay_settled","amount":{"currency":"USD","value":1.00},"requestKey":"${crypto.randomUUID()}"}`;
  return `
Sandbox ready.

  API           ${url}/v1
  Console       ${url}/console
  Docs          ${url}/docs
  Contract      ${url}/openapi.json  ${url}/openapi.yaml  (OpenAPI 3.0: ${url}/openapi-3.0.json)
  Health        ${url}/healthz  ${url}/readyz
  Access token  sandbox_${merchant}

Issue a refund:

  curl -s -w '\\n' ${url}/v1/refunds -H 'Authorization: Bearer sandbox_${merchant}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '${body}'

`;
}
