#!/usr/bin/env node
import { IN_MEMORY } from "../config/store-settings.ts";
import { defineSandbox, settingsOf } from "../process/command-line.ts";
import { runServer } from "../run.ts";
import { defineCoverage } from "./commands/coverage-command.ts";
import { defineDiff } from "./commands/diff-command.ts";
import { defineListen } from "./commands/listen-command.ts";
import { defineMcp } from "./commands/mcp-command.ts";

const program = defineSandbox(
  "npx @refund-contract/sandbox",
  "Starts a sandbox of refunds and webhooks, with docs and a console.",
)
  .addHelpText("after", "Data are in memory, and gone at the end, unless there is a folder for them.")
  .enablePositionalOptions()
  .helpCommand(false)
  // The settings of the environment count, except `MODE`: this is never a production server.
  .action(() => {
    const DATA_DIR = process.env.DATA_DIR || IN_MEMORY;
    return runServer({ ...process.env, DATA_DIR, ...settingsOf(program), MODE: "sandbox" });
  });
program.addCommand(defineListen());
program.addCommand(defineCoverage());
program.addCommand(defineDiff());
program.addCommand(defineMcp());
await program.parseAsync();
