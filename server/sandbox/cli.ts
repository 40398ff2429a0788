#!/usr/bin/env node
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { IN_MEMORY } from "../config/database-and-retention.ts";
import { type Environment, isPackaged } from "../config/environment.ts";
import { defineServe, settingsOf } from "../process/command-line.ts";
import { runServer, type Wrapper } from "../process/run-server.ts";
import { defineDiff } from "./commands/diff-command.ts";
import { defineExec } from "./commands/exec-command.ts";
import { defineListen } from "./commands/listen-command.ts";
import { greet } from "./greeting.ts";
import { nameSettings, readOwnEnvironment, readTomorrowSeed, settingName } from "./sandbox-settings.ts";

/* The command line of the sandbox: starts one, or runs `listen`, `diff` or `exec`. */

const program = defineServe(
  isPackaged ? "npx --no-install @refund-contract/sandbox" : "npm start --",
  "Starts a sandbox of refunds and webhooks, with docs and a console.",
  settingName,
)
  .option("--data-dir <folder>", `where data is kept, or ${IN_MEMORY} (${settingName("DATA_DIR")})`)
  .option(
    "--tomorrow",
    `adds a merchant that gets a later version of the contract (${settingName("TOMORROW")})`,
  )
  .option("--seed <number>", "the seed of that version, to get the same one again; implies --tomorrow", seed)
  .addHelpText("after", "Data are in memory, and gone at the end, unless there is a folder for them.")
  .enablePositionalOptions()
  .helpCommand(false)
  .action(({ dataDir, tomorrow, seed }) => {
    const readEnvironment = () => {
      const env = readOwnEnvironment(process.env);
      const TOMORROW = seed ?? (tomorrow ? "drawn" : env.TOMORROW);
      const DATA_DIR = dataDir ?? (env.DATA_DIR || IN_MEMORY);
      // Never a production server, whatever the environment says.
      return { ...env, DATA_DIR, TOMORROW, ...settingsOf(program), MODE: "sandbox" };
    };
    return runServer(readEnvironment, createWrapper, nameSettings);
  });
program.addCommand(defineListen());
program.addCommand(defineDiff());
program.addCommand(
  defineExec(async (shape) => {
    const { startSandbox } = await import("./start-sandbox.ts");
    return startSandbox({ settings: { SERVE_DOCS: "false" } }, shape);
  }),
);
await program.parseAsync();

function createWrapper(env: Environment): Wrapper {
  const tomorrowSeed = readTomorrowSeed(env);
  return {
    async createHooks(core) {
      const { wrapInSandbox } = await import("./wrap-in-sandbox.ts");
      return wrapInSandbox(core, { tomorrowSeed });
    },
    greet: (server, config, logger) => greet(server, config, logger, tomorrowSeed),
  };
}

function seed(text: string): string {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return text;
  throw new InvalidArgumentError("It must be a number from 0 to 2147483647.");
}
