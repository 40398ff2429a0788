import { enableCompileCache } from "node:module";
import { type Config, readConfig } from "./config/config.ts";
import type { Environment } from "./config/environment.ts";
import { openLog, type ProcessLog } from "./observability/logger.ts";
import { toReadableLine } from "./observability/readable-log.ts";
import { explainStartFailure } from "./process/start-failure.ts";
import { stopOnSignal } from "./process/stop-signals.ts";
import { greet } from "./sandbox/greeting.ts";
import { StoreStartError } from "./storage/database/start-error.ts";

/** Runs a server until a signal stops it. Sets the exit code of the process, and prints why when it can't start. */
export async function runServer(env: Environment): Promise<void> {
  let log: ProcessLog | undefined;
  let config: Config | undefined;
  try {
    config = readConfig(env);
    log = openLog(config.logLevel, config.logFormat === "text" ? toReadableLine : undefined);
    const { logger } = log;
    // Halves the time to load the server. Not in production, where nobody else may write what a process executes.
    if (config.mode === "sandbox") enableCompileCache();
    // Loaded after the settings were read, so that a wrong setting is reported without delay.
    const { startServer } = await import("./start.ts");
    const server = await startServer(config, { logger });
    const { url, probeUrl, metricsUrl, close } = server;
    const print = config.mode === "sandbox" ? log.print : undefined;
    stopOnSignal(close, { log, print, delaySeconds: config.stopDelaySeconds });
    if (config.mode === "sandbox") greet(server, config, logger);
    else logger.info({ url, probeUrl, metricsUrl }, "listening");
  } catch (error) {
    process.stderr.write(`${explainStartFailure(error, config)}\n`);
    process.exitCode = 1;
    if (error instanceof StoreStartError) log?.logger.fatal({ err: error }, "can't start");
    await log?.close();
  }
}
