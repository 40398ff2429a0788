/** Holds the exam with a faulty merchant, and lists which checks failed. */
import type { Sandbox } from "../../../server/sandbox/index.ts";
import { examineCaller } from "../../certify/caller/examine-caller.ts";
import { readCommand } from "../../certify/options.ts";
import { examineReceiver } from "../../certify/receiver/examine-receiver.ts";
import type { Report } from "../../reporting/json-junit-html.ts";
import { SECRET } from "./faulty-merchant.ts";

/** Far shorter than what real systems may take: merchants of tests have done all their work when they respond. */
const QUICK = ["--settle", "0.05"];

/** Holds the exam of a receiver by the options of the command. */
export async function exam(...args: readonly string[]): Promise<Report> {
  const command = readCommand(["receiver", ...args], "certify");
  if (command.part !== "receiver") throw new Error(`no exam: ${command.part}`);
  return examineReceiver(command.options);
}

/** Examines the receiver of a merchant of these tests. */
export function examReceiver(url: string, ...args: readonly string[]): Promise<Report> {
  return exam("--url", `${url}/webhooks`, ...shared(url), ...args);
}

/** Has a merchant of these tests issue refunds. */
export function examCaller(sandbox: Sandbox, url: string, ...args: readonly string[]): Promise<Report> {
  const hooks = ["--trigger-url", `${url}/refund`, "--url", `${url}/webhooks`];
  const times = ["--slow", "0.3", "--silent", "7"];
  return examCallerBy(sandbox, ...hooks, ...times, ...shared(url), ...args);
}

/** Holds the exam of a caller by the options of the command, at a sandbox that is reset before. */
export async function examCallerBy(sandbox: Sandbox, ...args: readonly string[]): Promise<Report> {
  const command = readCommand(["caller", ...QUICK, ...args], "certify");
  if (command.part !== "caller") throw new Error(`no exam: ${command.part}`);
  await sandbox.reset();
  return examineCaller(command.options, {}, sandbox);
}

const shared = (url: string) => ["--secret", SECRET, "--state-url", `${url}/state`, ...QUICK];

export function outcomes({ results }: Report) {
  const ids = (outcome: string) => results.filter((result) => result.outcome === outcome).map(({ id }) => id);
  return { failed: ids("failed"), notRun: ids("not run") };
}
