import { type Contract, readContract } from "../../../openapi/document/contract.ts";
import { type Check, defineGroup, given } from "../../reporting/check.ts";
import type { Report } from "../../reporting/report.ts";
import { chooseChecks, type Listener, runChecks } from "../../reporting/run-checks.ts";
import { expectNoSecrets } from "../hooks.ts";
import type { ReceiverOptions } from "../options.ts";
import { createReceiverKit, type ReceiverKit } from "./kit.ts";
import { loadChecks, responseChecks } from "./responses.ts";
import { storyChecks } from "./stories.ts";

/** All checks of the receiver, in their order. */
export function receiverChecks(contract: Contract): Check<ReceiverOptions, ReceiverKit>[] {
  const secrets = defineGroup<ReceiverOptions, ReceiverKit>("Secrets", { preconditions: [given("state")] }, [
    {
      id: "output.secret",
      name: "prints no secret",
      sources: ["10.2", "D22"],
      guide: "receiving-webhooks.md#choose-a-secret",
      run: ({ options: { secret } }) => expectNoSecrets([secret]),
    },
  ]);
  return [...responseChecks(contract), ...storyChecks, ...loadChecks, ...secrets];
}

/**
 * Examines a receiver.
 *
 * @throws CannotRun when it can't be reached, or no check is selected
 */
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
