#!/usr/bin/env node
import { isPackaged } from "./config/environment.ts";
import { defineProgram, defineServe, settingsOf } from "./process/command-line.ts";
import { runServer } from "./process/run-server.ts";

/* The command line of production: `serve`, `migrate` and `admin`. */

const NAME = isPackaged ? "npx --no-install @refund-contract/server" : "npm run start:production --";

const program = defineServing(NAME, "Starts the server of production on DATABASE_URL.")
  .enablePositionalOptions()
  .helpCommand(false);
program.addCommand(defineServing("serve", "Starts the server; the same as no command."));
program.addCommand(
  defineAdmin(
    "migrate",
    "Brings the tables of the database to this release, as a role that may create them.",
    ["migrate"],
  ),
);
program.addCommand(defineAdmin("admin", `Works on the database; \`${NAME} admin help\` lists what it does.`));
await program.parseAsync();

function defineServing(name: string, description: string) {
  const command = defineServe(name, description);
  command.action(() => runServer(() => ({ ...process.env, ...settingsOf(command), MODE: "production" })));
  return command;
}

/** A command of an operator, which parses what stands after its name, `--help` included. */
function defineAdmin(name: string, description: string, before: readonly string[] = []) {
  return defineProgram(name, description)
    .helpOption(false)
    .passThroughOptions()
    .allowUnknownOption()
    .argument("[args...]")
    .action(async (args) => {
      const { runAdminProcess } = await import("./operators/run-command.ts");
      await runAdminProcess([...before, ...args]);
    });
}
