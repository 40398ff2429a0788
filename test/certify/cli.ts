#!/usr/bin/env node
import { readContract } from "../../openapi/document/contract.ts";
import { isPackaged } from "../../server/config/environment.ts";
import { runCommand, writeReports } from "../reporting/command.ts";
import { toHtml, toJson, toJunit } from "../reporting/report.ts";
import { chooseChecks } from "../reporting/run-checks.ts";
import { createTerminal } from "../reporting/terminal.ts";
import { endHooks } from "./hooks.ts";
import { type Command, readCommand } from "./options.ts";
import { examineReceiver, receiverChecks } from "./receiver/examine-receiver.ts";

const NAME = isPackaged ? "npx --no @refund-contract/certify" : "npm run proof -- certify";

/** Only when it is used: with the sandbox it loads a whole server. */
const importCaller = () => import("./caller/examine-caller.ts");

await runCommand((signal) => run(readCommand(process.argv.slice(2), NAME), signal));

async function run(command: Command, signal: AbortSignal): Promise<void> {
  const { part, options, list, junit, json, html, without } = command;
  if (list) {
    const checks: readonly { id: string; name: string }[] =
      part === "receiver" ? receiverChecks(readContract("openapi")) : (await importCaller()).callerChecks;
    for (const { id, name } of chooseChecks(checks, options)) {
      process.stdout.write(`${id.padEnd(32)} ${name}\n`);
    }
    return;
  }
  signal.addEventListener("abort", endHooks);
  const terminal = createTerminal(process.stdout);
  const report =
    command.part === "receiver"
      ? await examineReceiver({ ...command.options, signal }, terminal)
      : await (await importCaller()).examineCaller({ ...command.options, signal }, terminal);
  const title = `Exam of the ${part}`;
  terminal.end(report, [`${title} in ${report.seconds.toFixed(1)} s`]);
  const reports = {
    "--junit": { file: junit, toText: () => toJunit(report, `certify.${part}`) },
    "--json": { file: json, toText: () => toJson(report) },
    "--html": { file: html, toText: () => toHtml(report, title) },
  };
  await writeReports(report, reports, without);
}
