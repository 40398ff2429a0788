import type { Report } from "../../reporting/report.ts";
import { chooseChecks, type Listener, runChecks } from "../../reporting/run-checks.ts";
import type { CallerOptions } from "../options.ts";
import { callerChecks } from "./checks.ts";
import { openCallerKit } from "./kit.ts";

export { callerChecks };

/**
 * Examines the program that issues refunds.
 *
 * @throws CannotRun when no check is selected
 */
export async function examineCaller(options: CallerOptions, listener: Listener = {}): Promise<Report> {
  const startedAt = new Date();
  const checks = chooseChecks(callerChecks, options);
  await using kit = await openCallerKit(options);
  const results = await runChecks(checks, { options, tools: kit, listener });
  const seconds = (Date.now() - startedAt.getTime()) / 1000;
  return { url: kit.sandbox.url, startedAt, seconds, results };
}
