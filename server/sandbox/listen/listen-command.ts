import { randomBytes } from "node:crypto";
import { Option } from "@commander-js/extra-typings";
import { defineProgram } from "../../process/program.ts";
import { onStopSignal } from "../../process/stop-signals.ts";
import { ListenError, type Listening, listen } from "./listen.ts";

/**
 * Runs the command that shows a sandbox's events until it is interrupted.
 *
 * @param name how it is run, such as `npm run listen --`
 * @param args what stands after the name
 */
export async function runListen(name: string, args: readonly string[]): Promise<void> {
  try {
    await run(readOptions(name, args));
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

function readOptions(name: string, args: readonly string[]) {
  return defineProgram(
    name,
    "Shows the events of a sandbox on this machine as they are delivered, until it is interrupted.",
  )
    .addOption(
      new Option("--url <url>", "where the sandbox is").env("SANDBOX_URL").default("http://127.0.0.1:3000"),
    )
    .addOption(
      new Option("--token <token>", "whose events to show").env("SANDBOX_TOKEN").default("sandbox_acme"),
    )
    .addOption(
      new Option(
        "--events <names>",
        "events or categories, with commas between; every event when left out",
      ).env("SANDBOX_EVENTS"),
    )
    .parse(args, { from: "user" })
    .opts();
}

async function run({ url, token, events: names = "" }: ReturnType<typeof readOptions>): Promise<void> {
  const events = names.split(",").flatMap((name) => name.trim() || []);
  const secretKey = `whsec_${randomBytes(32).toString("base64")}`;
  // Registered now, so that an interruption during the subscription leaves none behind.
  const interrupted = untilInterrupted();
  const listening = await listen({ url, token, events, secretKey, out: process.stdout });
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
  await listening.stop();
  process.stdout.write(`Ended the subscription ${listening.subscriptionKey}.\nStopped.\n`);
}
