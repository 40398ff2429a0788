import { enableCompileCache } from "node:module";
import type { Logger } from "pino";
import { type Config, readConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { openLog, type ProcessLog } from "../observability/logger.ts";
import { toReadableLine } from "../observability/readable-log.ts";
import { StoreStartError } from "../storage/database/start-error.ts";
import { closeOnSignal } from "./shutdown-signals.ts";
import { explainStartFailure } from "./start-failure.ts";
import type { CreateHooks, RunningServer } from "./start-server.ts";

/**
 * Runs a server until a signal stops it. Sets the exit code of the process, and prints why when it can't start.
 * @param wrap makes the program that wraps the server, from its own settings
 * @param nameSettings changes a message to the names that the environment has
 */
export async function runServer(
  readEnvironment: () => Environment,
  wrap?: (env: Environment) => Wrapper,
  nameSettings = (message: string) => message,
): Promise<void> {
  let log: ProcessLog | undefined;
  let config: Config | undefined;
  try {
    const env = readEnvironment();
    config = readConfig(env);
    const wrapper = wrap?.(env);
    log = openLog(config.logLevel, config.logFormat === "text" ? toReadableLine : undefined);
    const { logger, print } = log;
    // Halves the time to load the server. Not in production, where others who can write to the cache could change what runs.
    if (config.mode === "sandbox") enableCompileCache();
    // Loaded after the settings were read, so that a wrong setting is reported without delay.
    const { startServer } = await import("./start-server.ts");
    const server = await startServer(config, { logger }, wrapper?.createHooks);
    const { url, probeUrl, metricsUrl, close } = server;
    closeOnSignal(close, { log, print: wrapper && print, delaySeconds: config.stopDelaySeconds });
    if (wrapper) wrapper.greet(server, config, logger);
    else logger.info({ url, probeUrl, metricsUrl }, "listening");
  } catch (error) {
    process.stderr.write(`${nameSettings(explainStartFailure(error, config))}\n`);
    process.exitCode = 1;
    if (error instanceof StoreStartError) log?.logger.fatal({ err: error }, "can't start");
    await log?.close();
  }
}

/** A program around the server that people use at a terminal. */
export type Wrapper = {
  createHooks: CreateHooks;
  /** Prints its address, and how to begin. */
  greet(server: RunningServer, config: Config, logger: Logger): void;
};
