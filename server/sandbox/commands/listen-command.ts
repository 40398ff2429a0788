import { randomBytes } from "node:crypto";
import { Option } from "@commander-js/extra-typings";
import { isPackaged } from "../../config/environment.ts";
import { defineProgram } from "../../process/command-line.ts";
import { onStopSignal } from "../../process/shutdown-signals.ts";
import { ACCESS_TOKEN } from "../sandbox-client.ts";
import { ListenError, type Listening, listen } from "./listen.ts";

/** Defines the command that shows a sandbox's events until it is interrupted. */
export function defineListen() {
  const command = defineProgram(
    "listen",
    "Shows the events of a sandbox on this machine as they are delivered, until it is interrupted.",
  );
  // In a clone, people type the command of npm.
  if (!isPackaged)
    command.configureHelp({ helpWidth: 120, commandUsage: () => "npm run listen -- [options]" });
  return command
    .addOption(
      new Option("--url <url>", "where the sandbox is")
        .env("REFUNDS_SANDBOX_URL")
        .default("http://127.0.0.1:3000"),
    )
    .addOption(
      new Option("--token <token>", "whose events to show")
        .env("REFUNDS_SANDBOX_TOKEN")
        .default(ACCESS_TOKEN),
    )
    .addOption(
      new Option(
        "--events <names>",
        "events or categories, with commas between; every event when left out",
      ).env("REFUNDS_SANDBOX_EVENTS"),
    )
    .action(runListen);
}

type Choice = { url: string; token: string; events?: string | undefined };

async function runListen(choice: Choice): Promise<void> {
  try {
    await run(choice);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** How long a sandbox has to respond when the command is interrupted while it subscribes. */
const RESPONSE_MS = 1_000;

async function run({ url, token, events: names = "" }: Choice): Promise<void> {
  const events = names.split(",").flatMap((name) => name.trim() || []);
  const secretKey = `whsec_${randomBytes(32).toString("base64")}`;
  // Registered now, so that an interruption during the subscription leaves none behind, unless the sandbox is silent.
  const interrupted = untilInterrupted();
  const silent = new AbortController();
  interrupted.then(() => setTimeout(() => silent.abort(), RESPONSE_MS).unref());
  const { signal } = silent;
  const listening = await listen({ url, token, events, secretKey, out: process.stdout, signal });
  const { subscriptionKey, receiverUrl } = listening;
  process.stdout.write(
    `Subscribed to ${events.join(", ") || "every event"} of ${url} as ${subscriptionKey}.\n` +
      `Deliveries come to ${receiverUrl}. Ctrl+C ends the subscription.\n\n`,
  );
  await interrupted;
  await stop(listening);
}

/** Resolves when the command should end, or when its output is no longer read. */
function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    onStopSignal(() => resolve());
    process.stdout.on("error", () => resolve());
  });
}

async function stop(listening: Listening): Promise<void> {
  process.stdout.write("\nStopping.\n");
  process.stdout.write(`${await listening.stop()}\nStopped.\n`);
}
