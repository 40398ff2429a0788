import { type Command, Option } from "@commander-js/extra-typings";

const RESPONSE_MS = 10_000;

/** Like `fetch`, but not for ever: a server may accept a call and never respond. */
export const fetchInTime: typeof fetch = (input, init) =>
  fetch(input, { ...init, signal: AbortSignal.timeout(RESPONSE_MS) });

/** Adds to a command the options that say which sandbox, and which merchant there. */
export function withSandboxOptions(command: Command, whose: string) {
  return command
    .addOption(
      new Option("--url <url>", "where the sandbox is")
        .env("REFUNDS_SANDBOX_URL")
        .default("http://127.0.0.1:3000"),
    )
    .addOption(new Option("--token <token>", whose).env("REFUNDS_SANDBOX_TOKEN").default("sandbox_acme"));
}
