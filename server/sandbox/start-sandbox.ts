import { readConfig } from "../config/config.ts";
import { IN_MEMORY } from "../config/store-settings.ts";
import { createLogger } from "../observability/logger.ts";
import { startServer } from "../process/start.ts";
import { createCalls, type SandboxCalls } from "./calls.ts";
import { type SandboxShape, wrapInSandbox } from "./sandbox.ts";
import { readTomorrowSeed } from "./settings.ts";

/** All options are optional. */
export type SandboxOptions = {
  /** Without one, a free port. */
  port?: number;
  /** The address to listen on; `127.0.0.1`, which only this machine reaches, when left out. */
  host?: string;
  /** The folder that keeps the data. Without one they are in memory, and gone when the sandbox is closed. */
  dataDir?: string;
  /**
   * Further settings, by the names of the environment variables, such as `{ RATE_LIMIT: "5" }`. The environment itself is not
   * read, so that a test does the same everywhere.
   */
  settings?: Readonly<Record<string, string>>;
  /** Receives the log, one JSON object on each line. Without it, nothing is logged. */
  log?: (line: string) => void;
};

/** A running sandbox, with every call of its contract for the merchant `acme`. */
export type Sandbox = SandboxCalls & {
  /** Its address, such as `http://127.0.0.1:40123`: the base URL of a client. */
  readonly url: string;
  /** The access token of the merchant `acme`, `sandbox_acme`, with both scopes. */
  readonly accessToken: string;
  /** The access token of another merchant, `globex`. */
  readonly otherAccessToken: string;
  /** The calls of another bearer, such as `sandbox.as(sandbox.otherAccessToken)`. */
  as(accessToken: string): SandboxCalls;
  /** Waits for requests in flight, then stops. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const ACCESS_TOKEN = "sandbox_acme";
const OTHER_ACCESS_TOKEN = "sandbox_globex";

/** Starts a sandbox, as the package's `startSandbox` says, unless it is to have another shape. */
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
