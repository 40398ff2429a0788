import { type Command, Option } from "@commander-js/extra-typings";

/** Adds to a command the options that say which sandbox, and which merchant there. */
export function withSandboxOptions(command: Command, whose: string) {
  return command
    .addOption(
      new Option("--url <url>", "where the sandbox is").env("SANDBOX_URL").default("http://127.0.0.1:3000"),
    )
    .addOption(new Option("--token <token>", whose).env("SANDBOX_TOKEN").default("sandbox_acme"));
}
