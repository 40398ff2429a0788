import { type Contract, readContract } from "../../../openapi/document/read-contract.ts";
import type { Check } from "../../reporting/check.ts";
import type { Report } from "../../reporting/json-junit-html.ts";
import { chooseChecks, type Listener, runChecks } from "../../reporting/run-checks.ts";
import type { ReceiverOptions } from "../options.ts";
import { createReceiverKit, type ReceiverKit } from "./kit.ts";
import { lastChecks, responseChecks } from "./response-checks.ts";
import { stateChecks } from "./state-checks.ts";

/** All checks of the receiver, in their order. */
export function receiverChecks(contract: Contract): Check<ReceiverOptions, ReceiverKit>[] {
  return [...responseChecks(contract), ...stateChecks, ...lastChecks];
}

/** Holds the exam of a receiver. Throws `CannotRun` when it can't be reached, or no check is selected. */
export async function examineReceiver(options: ReceiverOptions, listener: Listener = {}): Promise<Report> {
  const contract = readContract("openapi");
  const checks = chooseChecks(receiverChecks(contract), options);
  const kit = createReceiverKit(options, contract);
  try {
    await kit.requireReceiver();
    const run = await runChecks(checks, { options, tools: kit, listener, examined: "the receiver" });
    return { url: options.url, ...run, warnings: kit.warnings() };
  } finally {
    kit.close();
  }
}
