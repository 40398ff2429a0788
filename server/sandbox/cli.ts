#!/usr/bin/env node
import { isPackaged } from "../config/command-names.ts";
import { IN_MEMORY } from "../config/store-settings.ts";
import { defineSandbox, settingsOf } from "../process/command-line.ts";
import { runServer } from "../run.ts";
import { runCoverage } from "./coverage/coverage-command.ts";
import { runListen } from "./listen/listen-command.ts";

const NAME = "npx @refund-contract/sandbox";

const LISTEN_HELP = `
Data are in memory, and gone at the end, unless there is a folder for them.
\`${NAME} listen\` shows the events of a running sandbox as they are delivered.
\`${NAME} coverage\` prints how much of the contract a test suite met in it.
\`${NAME} mcp\` gives AI assistants its tools.`;

/** As people type it: from the package, or in a clone. */
const LISTEN = isPackaged ? `${NAME} listen` : "npm run listen --";

const [first, ...rest] = process.argv.slice(2);
if (first === "listen") await runListen(LISTEN, rest);
else if (first === "coverage") await runCoverage(`${NAME} coverage`, rest);
else if (first === "mcp") {
  // Loaded when it is asked for: a sandbox that starts needs none of it.
  const { runMcp } = await import("./mcp/mcp-command.ts");
  await runMcp(`${NAME} mcp`, rest);
} else await runSandbox();

/** The settings of the environment count, except `MODE`: this is never a production server. */
async function runSandbox(): Promise<void> {
  const command = defineSandbox(NAME, "Starts a sandbox of refunds and webhooks, with docs and a console.");
  command.addHelpText("after", LISTEN_HELP).parse();
  await runServer({ DATA_DIR: IN_MEMORY, ...process.env, ...settingsOf(command), MODE: "sandbox" });
}
