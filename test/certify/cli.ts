#!/usr/bin/env node
/** The command `certify`: examines a merchant's program that issues refunds, or a receiver of webhooks. */
import { isPackaged } from "../../server/config/environment.ts";
import { toHtml, toJson, toJunit } from "../reporting/json-junit-html.ts";
import { runCommand, writeReports } from "../reporting/run-command.ts";
import { createTerminal } from "../reporting/terminal.ts";
import { endHooks } from "./hooks.ts";
import { type Command, readCommand } from "./options.ts";
import { examineReceiver } from "./receiver/examine-receiver.ts";

const NAME = isPackaged ? "npx --no-install @refund-contract/certify" : "npm run proof -- certify";

await runCommand((signal) => run(readCommand(process.argv.slice(2), NAME), signal));

async function run(command: Command, signal: AbortSignal): Promise<void> {
  const { part, junit, json, html, without = [] } = command;
  signal.addEventListener("abort", endHooks);
  const terminal = createTerminal(process.stdout);
  const examine = async () => {
    if (command.part === "receiver") return examineReceiver({ ...command.options, signal }, terminal);
    // Only when it is used: with the sandbox it loads a whole server.
    const { examineCaller } = await import("./caller/examine-caller.ts");
    return examineCaller({ ...command.options, signal }, terminal);
  };
  const report = await examine();
  const title = `Exam of the ${part}`;
  terminal.end(report, [`${title} in ${report.seconds.toFixed(1)} s`]);
  const reports = {
    "--junit": { file: junit, toText: () => toJunit(report, `certify.${part}`) },
    "--json": { file: json, toText: () => toJson(report) },
    "--html": { file: html, toText: () => toHtml(report, title) },
  };
  await writeReports(report, reports, without);
}
