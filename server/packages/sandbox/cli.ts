#!/usr/bin/env node
import { runListen } from "../../../scripts/lib/listen-command.ts";
import { defineSandbox, settingsOf } from "../../command-line.ts";
import { IN_MEMORY } from "../../config/store-settings.ts";
import { runServer } from "../../run.ts";

const NAME = "npx @refund-contract/sandbox";

const LISTEN_HELP = `
Data are in memory, and gone at the end, unless there is a folder for them.
\`${NAME} listen\` shows the events of a running sandbox as they are delivered.`;

const [first, ...rest] = process.argv.slice(2);
if (first === "listen") await runListen(`${NAME} listen`, rest);
else await runSandbox();

/** The settings of the environment count, except `MODE`: this is never a production server. */
async function runSandbox(): Promise<void> {
  const command = defineSandbox(NAME, "Starts a sandbox of refunds and webhooks, with docs and a console.");
  command.addHelpText("after", LISTEN_HELP).parse();
  await runServer({ DATA_DIR: IN_MEMORY, ...process.env, ...settingsOf(command), MODE: "sandbox" });
}
