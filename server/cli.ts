#!/usr/bin/env node
import { defineServe, settingsOf } from "./process/command-line.ts";
import { runServer } from "./run.ts";

const NAME = "npx @refund-contract/server";

const HELP = `
Commands:
  serve     starts the server; the same as no command
  migrate   brings the tables of the database to this release, as a role that may create them
  admin     works on the database; \`${NAME} admin help\` lists what it does`;

const [first, ...rest] = process.argv.slice(2);
if (first === "admin" || first === "migrate") {
  // The commands of an operator read the arguments of the process.
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...(first === "migrate" ? ["migrate"] : []), ...rest);
  await import("./admin/main.ts");
} else {
  const command = defineServe(NAME, "Starts the server of production on DATABASE_URL.");
  command
    .addHelpText("after", HELP)
    .parse(first === "serve" ? rest : process.argv.slice(2), { from: "user" });
  await runServer({ ...process.env, ...settingsOf(command), MODE: "production" });
}
