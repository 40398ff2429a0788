import type { Sandbox, SandboxOptions } from "./sandbox-client.ts";

export {
  type Query,
  type RequestBody,
  type Result,
  SandboxCallError,
  type SandboxCalls,
} from "./sandbox-client.ts";
export type { Sandbox, SandboxOptions };

/**
 * Starts a sandbox inside this process: the real server, on a free port, with nothing stored on disk. Several may run at a
 * time.
 * @throws ConfigError for a wrong setting, and the error of the system when it can't listen
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  // Loaded only now: where Node is too old, importing the package has to work, so that it can say which Node it needs.
  const { startSandbox: start } = await import("./start-sandbox.ts");
  return start(options);
}
