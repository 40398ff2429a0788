import { readConfig } from "../config/config.ts";
import { IN_MEMORY } from "../config/database-and-retention.ts";
import { createLogger } from "../observability/logger.ts";
import { startServer } from "../process/start-server.ts";
import {
  ACCESS_TOKEN,
  createCalls,
  OTHER_ACCESS_TOKEN,
  type Sandbox,
  type SandboxOptions,
} from "./sandbox-client.ts";
import { readTomorrowSeed } from "./sandbox-settings.ts";
import { type SandboxShape, wrapInSandbox } from "./wrap-in-sandbox.ts";

/** Starts a sandbox, as the package's `startSandbox` does, or one of another shape. */
export async function startSandbox(
  options: SandboxOptions,
  shape: SandboxShape = { tomorrowSeed: readTomorrowSeed({ ...options.settings }) },
): Promise<Sandbox> {
  const { port = 0, host = "", dataDir = IN_MEMORY, settings, log } = options;
  const config = readConfig({
    ...settings,
    MODE: "sandbox",
    PORT: String(port),
    HOST: host,
    DATA_DIR: dataDir,
  });
  const logger = createLogger(log ? config.logLevel : "silent", { write: (line) => log?.(line.trimEnd()) });
  const { url, close } = await startServer(config, { logger }, (core) => wrapInSandbox(core, shape));
  return {
    ...createCalls(url, ACCESS_TOKEN),
    url,
    accessToken: ACCESS_TOKEN,
    otherAccessToken: OTHER_ACCESS_TOKEN,
    as: (accessToken) => createCalls(url, accessToken),
    close,
    [Symbol.asyncDispose]: close,
  };
}
