/** The options of the command `certify`. */
import { InvalidArgumentError, type Command as Program } from "@commander-js/extra-typings";
import { defineProgram, VERSION } from "../../server/process/command-line.ts";
import {
  CannotRun,
  readAddress,
  readIds,
  readReportFile,
  readRequired,
  secondsFrom,
  secretOption,
} from "../reporting/option-readers.ts";
import type { Choice } from "../reporting/run-checks.ts";
import { commandHook, type Hook, urlHook } from "./hooks.ts";

/** What both parts of the exam take. Checks that need a missing hook are not run, and the report names the option. */
export type ExamOptions = Choice & {
  /** Says what the merchant's system believes about a refund. */
  readonly state?: Hook | undefined;
  /** Milliseconds that a response may take. */
  readonly timeoutMs: number;
  /** Milliseconds that the system may take to work on an event, or on a refund, after it has responded. */
  readonly settleMs: number;
};

export type ReceiverOptions = ExamOptions & {
  readonly url: string;
  readonly secret: string;
  /** Restarts the receiver, and ends when it has been started. */
  readonly restart?: Hook | undefined;
  /** Tells the system of a refund, as if the system had issued it. */
  readonly prepare?: Hook | undefined;
};

export type CallerOptions = ExamOptions & {
  /** Makes the system issue a refund. */
  readonly run: Hook;
  /** Whether `run` can be killed, as a command can. */
  readonly canKill: boolean;
  /** Milliseconds for which a slow response is held. */
  readonly slowMs: number;
  /** Milliseconds after which a program that still waits for its first response waits for ever. */
  readonly silentMs: number;
  /** The receiver to which the sandbox of the exam sends its events. */
  readonly url?: string | undefined;
  readonly secret?: string | undefined;
};

/** What the command line asks for. */
export type Command = {
  readonly junit?: string | undefined;
  readonly json?: string | undefined;
  readonly html?: string | undefined;
  readonly without?: readonly string[] | undefined;
} & (
  | { readonly part: "receiver"; readonly options: ReceiverOptions }
  | { readonly part: "caller"; readonly options: CallerOptions }
);

/** How long an attempt to deliver may take (D23). */
const ATTEMPT_SECONDS = 15;
const RUN_SECONDS = 60;
/** A little less than the limit of the whole exam, so that a command that still runs can be ended. */
const LIMIT_MS = 285_000;
/** Commands may have to start whole programs. */
const LEAST_HOOK_MS = 60_000;

const toNotes = (facts: string) => `
${facts} What --state
prints must contain PENDING, AUTHORIZED or TERMINAL_FAILED when your system believes that there is a refund: the present one alone,
without earlier ones. It may contain more, such as what has been booked.

Exit code: 0 every check has passed, 1 one has failed, 2 the exam could not be held, 3 some were not run for want of an option that
--without does not name.`;

const RECEIVER_NOTES =
  toNotes(`Commands get CERTIFY_REFUND_ID, CERTIFY_REQUEST_KEY, CERTIFY_PAYMENT_ID, CERTIFY_AMOUNT
and CERTIFY_REFERENCE. URLs get refundId, requestKey, paymentId, amount and reference.`);

const CALLER_NOTES =
  toNotes(`Commands get CERTIFY_URL and CERTIFY_TOKEN (of the service to call), CERTIFY_PAYMENT_ID, CERTIFY_AMOUNT (such as
19.99) and CERTIFY_REFERENCE (the clientReferenceId of this refund). URLs get url, token, paymentId, amount and reference. One check
kills the command of --run; what --trigger-url triggers can't be killed.`);

/**
 * Reads the command line.
 *
 * @param name how the command is run
 * @throws CommanderError when an option is wrong or missing, or on request for the help: it has been printed
 * @throws CannotRun when an address or the secret is wrong, which are not repeated
 */
export function readCommand(args: readonly string[], name: string): Command {
  let command: Command | undefined;
  const take = (read: Command) => {
    command = read;
  };
  const program = defineProgram(name, "Examines a merchant's system before it goes live.").exitOverride();
  defineReceiver(program.command("receiver"), take);
  defineCaller(program.command("caller"), take);
  program.parse(args, { from: "user" });
  if (!command) throw new Error("neither command of the exam was given");
  return command;
}

function defineReceiver(command: Program, take: (read: Command) => void): void {
  withExam(command)
    .description("Sends events to your receiver of webhooks, and requires the right response to each.")
    .addOption(secretOption("--url <url>", "the address of your receiver", readAddress))
    .addOption(keyOption("the secretKey with which the receiver verifies"))
    .option("--prepare <command>", "tells your system of a refund, as if it had issued it", readShell)
    .addOption(urlOption("--prepare-url <url>", "the same, by a POST", "prepare"))
    .option("--restart <command>", "restarts the receiver, and ends when it was started", readShell)
    .addOption(urlOption("--restart-url <url>", "the same, by a POST", "restart"))
    .option("--timeout <seconds>", "for each response", readSeconds, ATTEMPT_SECONDS)
    .addHelpText("after", RECEIVER_NOTES)
    .action(({ url, secret = "", ...given }, self) => {
      if (!url) return self.error("Say where the receiver is: --url https://localhost:8080/webhooks");
      if (secret === "") return self.error("Give the receiver's secret: --secret … (or CERTIFY_SECRET).");
      const hooks = {
        prepare: toHook(given.prepare, given.prepareUrl, given),
        restart: toHook(given.restart, given.restartUrl, given),
      };
      const options = { ...toExam(given), ...hooks, url: url.href, secret };
      take({ ...given, part: "receiver", options });
    });
}

function defineCaller(command: Program, take: (read: Command) => void): void {
  withExam(command)
    .description("Has your system issue refunds to a service in trouble, and requires one refund of each.")
    .option("--run <command>", "issues the refund that its environment names, and then ends", readShell)
    .addOption(urlOption("--trigger-url <url>", "the same, by a POST", "run"))
    .option("--timeout <seconds>", "for each refund", readSeconds, RUN_SECONDS)
    .option("--slow <seconds>", "how long a slow response takes", readWait, 5)
    .option("--silent <seconds>", "the longest that your system may wait for a response", readWait, 45)
    .addOption(secretOption("--url <url>", "your receiver, to get the events of these refunds", readAddress))
    .addOption(keyOption("the secretKey with which it verifies"))
    .addHelpText("after", CALLER_NOTES)
    .action(({ url, secret, slow, silent, ...given }, self) => {
      const run = toHook(given.run, given.triggerUrl, given);
      if (!run)
        return self.error("Say how your system issues a refund: --run 'COMMAND' or --trigger-url URL.");
      if (url && secret === undefined)
        return self.error("Give the receiver's secret, too: --secret … (or CERTIFY_SECRET).");
      const times = { slowMs: 1000 * slow, silentMs: 1000 * silent, canKill: given.run !== undefined };
      const options = { ...toExam(given), ...times, run, url: url?.href, secret };
      take({ ...given, part: "caller", options });
    });
}

const readWithout = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(",").map((name) => `--${name.replace(/^--/, "")}`),
];

const readSeconds = secondsFrom(0.05, 600);
const readWait = secondsFrom(0.05, 100);

const keyOption = (description: string) =>
  secretOption("--secret <secret>", description, readSecret).env("CERTIFY_SECRET");

/** A URL in place of a command; only one of them can be given. */
const urlOption = <Flags extends string>(
  flags: Flags,
  description: string,
  command: "state" | "prepare" | "restart" | "run",
) => secretOption(flags, description, readAddress).conflicts(command);

/** Adds the options that both parts have. */
function withExam(command: Program) {
  return command
    .version(VERSION)
    .option("--state <command>", "prints what your system believes about a refund", readShell)
    .addOption(urlOption("--state-url <url>", "the same, by a GET", "state"))
    .option(
      "--settle <seconds>",
      "how long your system may go on working after it has responded",
      secondsFrom(0, 600),
      1,
    )
    .option("--only <id,...>", "run only the checks whose ids begin like this", readIds)
    .option("--require <all|id,...>", "fail if any of these checks is not run", readRequired)
    .option("--without <option,...>", "what your system can't offer, such as restart", readWithout)
    .option("--junit <file>", "the report as JUnit XML", readReportFile)
    .option("--json <file>", "the report as JSON", readReportFile)
    .option("--html <file>", "the report as one page, to print or to send", readReportFile);
}

type Given = Partial<Choice> & {
  readonly timeout: number;
  readonly settle: number;
  readonly state?: string | undefined;
  readonly stateUrl?: URL | undefined;
};

function toExam({ only = [], require = [], timeout, settle, ...given }: Given): ExamOptions {
  const state = toHook(given.state, given.stateUrl, { timeout }, "GET");
  return { only, require, timeoutMs: 1000 * timeout, settleMs: 1000 * settle, state, limitMs: LIMIT_MS };
}

/** The hook that a command or a URL gives. */
function toHook(
  command: string | undefined,
  url: URL | undefined,
  { timeout }: Pick<Given, "timeout">,
  method: "GET" | "POST" = "POST",
): Hook | undefined {
  const timeoutMs = Math.max(1000 * timeout, LEAST_HOOK_MS);
  return command === undefined ? url && urlHook(url, method, timeoutMs) : commandHook(command, timeoutMs);
}

function readShell(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must be a command.");
}

/** Never prints the secret. */
function readSecret(secret: string, name: string): string {
  if (secret.length >= 1 && secret.length <= 256) return secret;
  throw new CannotRun(`${name} must have 1 to 256 characters, like the secretKey of a subscription.`);
}
