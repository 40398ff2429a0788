import { type Sandbox, startSandbox } from "../../../server/sandbox/index.ts";
import { chooseChecks, type Listener, runChecks } from "../../reporting/run-checks.ts";
import type { CallerOptions } from "../options.ts";
import { callerChecks } from "./checks.ts";
import { createCallerKit } from "./kit.ts";

/**
 * Examines the program that issues refunds.
 * @param given a sandbox for this exam alone; without one, the exam starts and closes its own
 * @throws CannotRun when no check is selected
 */
export async function examineCaller(options: CallerOptions, listener: Listener = {}, given?: Sandbox) {
  const checks = chooseChecks(callerChecks, options);
  const sandbox = given ?? (await startSandbox({ settings: { SERVE_DOCS: "false" } }));
  try {
    const tools = createCallerKit(options, sandbox);
    return { url: sandbox.url, ...(await runChecks(checks, { options, tools, listener })) };
  } finally {
    if (!given) await sandbox.close();
  }
}
