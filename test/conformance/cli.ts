#!/usr/bin/env node
/** The command `conformance`: tests any service against the contract. */
import { toJson, toJunit } from "../reporting/json-junit-html.ts";
import { runCommand, writeReports } from "../reporting/run-command.ts";
import { createTerminal } from "../reporting/terminal.ts";
import { type CommandOptions, readOptions } from "./options.ts";
import { type ConformReport, runConformance } from "./run-conformance.ts";

/** How the help says that the command is run. */
const NAME =
  process.env.npm_lifecycle_event === "conform"
    ? "npm run conform --"
    : "npx --no-install @refund-contract/conformance";

// Ends with 0 when nothing failed, 1 when something failed, and 2 when it can't run.
await runCommand((signal) => run({ ...readOptions(process.argv.slice(2), NAME), signal }));

async function run({ junit, json, ...options }: CommandOptions): Promise<void> {
  const terminal = createTerminal(process.stdout);
  const report = await runConformance(options, terminal);
  terminal.end(report, summaryOf(report, options));
  await writeReports(report, {
    "--junit": { file: junit, toText: () => toJunit(report, "conform") },
    "--json": { file: json, toText: () => toJson(report) },
  });
}

function summaryOf(
  { url, calls, seconds, subscriptionsMade, subscriptionsEnded }: ConformReport,
  { receiver }: Pick<CommandOptions, "receiver">,
): string[] {
  const left = subscriptionsMade - subscriptionsEnded;
  const why = receiver ? "No event came that a 410 could refuse" : "With --receiver, the run ends them";
  return [
    ...(left > 0
      ? [`Subscriptions that this run leaves behind: ${left}. A merchant can have 100. ${why}.`]
      : []),
    `${calls} calls to ${url} in ${seconds.toFixed(1)} s`,
  ];
}
