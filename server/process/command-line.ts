import { InvalidArgumentError } from "@commander-js/extra-typings";
import { IN_MEMORY } from "../config/store-settings.ts";
import { defineProgram } from "./program.ts";

/** What the command line of a server says, as settings that replace those of the environment. */
export type ServeSettings = { PORT?: string; HOST?: string; DATA_DIR?: string; TOMORROW?: string };

type ServeOptions = {
  port?: string | undefined;
  host?: string | undefined;
  dataDir?: string | undefined;
  tomorrow?: true | undefined;
  seed?: string | undefined;
};

/**
 * Defines a command that starts a server. The server of production has no data folder.
 *
 * @param name how it is run, such as `npm start --`
 */
export function defineServe(name: string, description: string) {
  return defineProgram(name, description)
    .option("--port <number>", "the port to listen on; 0 uses any free port (PORT)", portNumber)
    .option("--host <address>", "the address of this machine to listen on (HOST)")
    .addHelpText("after", "\nEvery setting can be given in the environment; see the README.");
}

/** The same for a sandbox, which may have a data folder. */
export function defineSandbox(name: string, description: string) {
  return defineServe(name, description)
    .option("--data-dir <folder>", `where data is kept, or ${IN_MEMORY} (DATA_DIR)`)
    .option("--tomorrow", "adds a merchant that gets a later version of the contract (TOMORROW)")
    .option(
      "--seed <number>",
      "the seed of that version, to get the same one again; implies --tomorrow",
      seed,
    );
}

/** The settings that the parsed command line of {@link defineServe} gives. */
export function settingsOf(command: { opts(): ServeOptions }): ServeSettings {
  const { port, host, dataDir, tomorrow, seed } = command.opts();
  return {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    ...((tomorrow || seed !== undefined) && { TOMORROW: seed ?? "drawn" }),
  };
}

function seed(text: string): string {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return text;
  throw new InvalidArgumentError("It must be a number from 0 to 2147483647.");
}

function portNumber(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
