import { randomBytes } from "node:crypto";
import { readCommandLine } from "./lib/command-line.ts";
import { ListenError, type Listening, listen } from "./lib/listen.ts";

/*
 * Shows the events of a sandbox as they are delivered, until it is interrupted. Another merchant's events need another
 * token; a sandbox delivers to this machine only when it runs on it.
 */
const USAGE = `npm run listen -- [--url http://127.0.0.1:3000] [--token sandbox_acme] [--events refund.authorized,…]

  --url     where the sandbox is (SANDBOX_URL)
  --token   whose events to show (SANDBOX_TOKEN)
  --events  names of events or of categories, with commas between; every event when left out (SANDBOX_EVENTS)
`;

try {
  await run(readOptions());
} catch (error) {
  if (!(error instanceof ListenError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

function readOptions() {
  const { SANDBOX_URL, SANDBOX_TOKEN, SANDBOX_EVENTS } = process.env;
  const text = (value: string) => ({ type: "string", default: value }) as const;
  const options = {
    url: text(SANDBOX_URL ?? "http://127.0.0.1:3000"),
    token: text(SANDBOX_TOKEN ?? "sandbox_acme"),
    events: text(SANDBOX_EVENTS ?? ""),
  };
  return readCommandLine(USAGE, { options }).values;
}

async function run({
  url,
  token,
  events: names,
}: {
  url: string;
  token: string;
  events: string;
}): Promise<void> {
  const events = names.split(",").flatMap((name) => name.trim() || []);
  const secretKey = `whsec_${randomBytes(32).toString("base64")}`;
  // From here on, so that an interruption while it subscribes leaves no subscription behind.
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

/** Resolves when the command is told to end, or when nobody reads what it prints any more. */
function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    // Once: a second signal ends a command that hangs.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
    process.stdout.on("error", () => resolve());
  });
}

async function stop(listening: Listening): Promise<void> {
  await listening.stop();
  process.stdout.write(`\nEnded the subscription ${listening.subscriptionKey}.\n`);
}
