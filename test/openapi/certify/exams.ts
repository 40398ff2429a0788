import { examineCaller } from "../../certify/caller/run.ts";
import { readCommand } from "../../certify/options.ts";
import { examineReceiver } from "../../certify/receiver/run.ts";
import type { Report } from "../../reporting/report.ts";
import { SECRET } from "./merchant.ts";

/** Far shorter than what real systems may take; merchants in this process are faster. */
const QUICK = ["--settle", "0.15"];

/** Holds the exam by the options of the command. */
export async function hold(...args: readonly string[]): Promise<Report> {
  const command = readCommand(args, "certify");
  if (command.part === "receiver") return examineReceiver(command.options);
  if (command.part === "caller") return examineCaller(command.options);
  throw new Error(`no exam: ${command.part}`);
}

/** Examines the receiver of a merchant of these tests with every option. */
export function holdReceiver(url: string, ...args: readonly string[]): Promise<Report> {
  return hold(
    "receiver",
    "--url",
    `${url}/webhooks`,
    "--timeout",
    "1",
    ...shared(url),
    "--restart-url",
    `${url}/restart`,
    ...args,
  );
}

/** Has a merchant of these tests issue refunds, with every option. */
export function holdCaller(url: string, ...args: readonly string[]): Promise<Report> {
  return hold(
    "caller",
    "--trigger-url",
    `${url}/refund`,
    "--url",
    `${url}/webhooks`,
    "--slow",
    "0.3",
    ...shared(url),
    ...args,
  );
}

const shared = (url: string) => ["--secret", SECRET, "--state-url", `${url}/state`, ...QUICK];

export function outcomes({ results }: Report) {
  const ids = (outcome: string) => results.filter((result) => result.outcome === outcome).map(({ id }) => id);
  return { failed: ids("failed"), notRun: ids("not run") };
}
