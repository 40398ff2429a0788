import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { isPackaged } from "../config/environment.ts";

/**
 * Begins the definition of a command, such as `npx --no-install @refund-contract/sandbox`. Its help comes from the definition: `--help`
 * prints it and exits with 0; an unknown option, a missing value or a bad one prints the error and the help, and exits with 2.
 */
export function defineProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(VERSION)
    .configureHelp({ helpWidth: 120 })
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Of the package that has this module, or of the clone. */
const MANIFEST = new URL(isPackaged ? "../../../package.json" : "../../package.json", import.meta.url);

/** Such as `1.0.0`; each command prints it for `--version`. */
export const VERSION: string = JSON.parse(readFileSync(MANIFEST, "utf8")).version;

/**
 * Defines a command that starts a server.
 * @param name how it is run, such as `npm start --`
 */
export function defineServe(name: string, description: string, settingName = (setting: string) => setting) {
  return defineProgram(name, description)
    .option(
      "--port <number>",
      `the port to listen on; 0 uses any free port (${settingName("PORT")})`,
      portNumber,
    )
    .option("--host <address>", `the address of this machine to listen on (${settingName("HOST")})`)
    .addHelpText("after", "\nEvery setting can be given in the environment; see the README.");
}

/** What the parsed command line of {@link defineServe} says, as settings that replace those of the environment. */
export function settingsOf(command: { opts(): { port?: string | undefined; host?: string | undefined } }) {
  const { port, host } = command.opts();
  return { ...(port !== undefined && { PORT: port }), ...(host !== undefined && { HOST: host }) };
}

function portNumber(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
