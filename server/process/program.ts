import { Command } from "@commander-js/extra-typings";

/**
 * Begins the definition of a command, such as `npx @refund-contract/sandbox`. Its help comes from the definition: `--help`
 * prints it and exits with 0; an unknown option, a missing value or a bad one prints the error and the help, and exits with 2.
 */
export function defineProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .configureHelp({ helpWidth: 120 })
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}
