import { readContract } from "../../openapi/document/contract.ts";
import { runCommand, writeReports } from "../reporting/command.ts";
import { type Report, toJson, toJunit } from "../reporting/report.ts";
import { chooseChecks } from "../reporting/run-checks.ts";
import { createTerminal } from "../reporting/terminal.ts";
import { endHooks } from "./hooks.ts";
import { toHtml } from "./html.ts";
import { type Command, readCommand } from "./options.ts";
import { examineReceiver, receiverChecks } from "./receiver/examine-receiver.ts";

/**
 * Runs the command that examines a merchant's system. The exit code of the process is 0 when nothing failed, 1 when something
 * failed, and 2 when it can't run.
 *
 * @param name how it is run, such as `npx @refund-contract/certify`
 */
export function runCertify(name: string): Promise<void> {
  return runCommand((signal) => run(readCommand(process.argv.slice(2), name), signal));
}

async function run(command: Command, signal: AbortSignal): Promise<void> {
  if (command.part === "list") return list(command);
  signal.addEventListener("abort", endHooks);
  const terminal = createTerminal(process.stdout);
  const report =
    command.part === "receiver"
      ? await examineReceiver({ ...command.options, signal }, terminal)
      : await (await importCaller()).examineCaller({ ...command.options, signal }, terminal);
  terminal.end(report, [`${TITLES[command.part]} in ${report.seconds.toFixed(1)} s`]);
  await write(report, command);
}

/** Only when it is used: with the sandbox it loads a whole server. */
const importCaller = () => import("./caller/examine-caller.ts");

const TITLES = { receiver: "Exam of the receiver", caller: "Exam of the caller" } as const;

async function write(
  report: Report,
  { part, files, without }: Extract<Command, { files: unknown }>,
): Promise<void> {
  const reports = {
    "--junit": { file: files.junit, toText: () => toJunit(report, `certify.${part}`) },
    "--json": { file: files.json, toText: () => toJson(report) },
    "--html": { file: files.html, toText: () => toHtml(report, TITLES[part]) },
  };
  await writeReports(report, reports, without);
}

async function list({ of, only }: Extract<Command, { part: "list" }>): Promise<void> {
  const all =
    of === "receiver" ? receiverChecks(readContract("openapi")) : (await importCaller()).callerChecks;
  for (const { id, name } of chooseChecks<{ id: string; name: string }>(all, { only })) {
    process.stdout.write(`${id.padEnd(32)} ${name}\n`);
  }
}
