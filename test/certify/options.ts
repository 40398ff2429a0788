import type { Command as Program } from "@commander-js/extra-typings";
import { defineProgram } from "../../scripts/command/command.ts";
import {
  CannotRun,
  numberIn,
  OptionError,
  option,
  parseOptions,
  readAddress,
  readIds,
  readReportFile,
  readRequired,
  readSeconds,
  usageError,
} from "../reporting/options.ts";
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
  /** Tells the system of a refund that it is to believe it has issued. */
  readonly prepare?: Hook | undefined;
};

export type CallerOptions = ExamOptions & {
  /** Makes the system issue a refund. */
  readonly run: Hook;
  /** Milliseconds for which a slow response is held. */
  readonly slowMs: number;
  /** The receiver to which the sandbox of the exam sends its events. */
  readonly url?: string | undefined;
  readonly secret?: string | undefined;
};

type Files = {
  readonly junit?: string | undefined;
  readonly json?: string | undefined;
  readonly html?: string | undefined;
};

/** What the command line asks for. */
export type Command =
  | { readonly part: "help" }
  | { readonly part: "list"; readonly of: "receiver" | "caller"; readonly only: readonly string[] }
  | { readonly part: "receiver"; readonly options: ReceiverOptions; readonly files: Files }
  | { readonly part: "caller"; readonly options: CallerOptions; readonly files: Files };

/** D23. */
const ATTEMPT_SECONDS = 15;
const RUN_SECONDS = 120;
/** Commands may have to start whole programs. */
const LEAST_HOOK_MS = 60_000;

const EXIT_CODES = `
Exit code: 0 every check that ran has passed, 1 one has failed, 2 the exam could not be held.`;

const RECEIVER_NOTES = `
Commands get REFUND in the environment: CERTIFY_REFUND_ID, CERTIFY_REQUEST_KEY, CERTIFY_PAYMENT_ID, CERTIFY_AMOUNT and
CERTIFY_REFERENCE. URLs get refundId, requestKey, paymentId, amount and reference. What --state prints must contain PENDING,
AUTHORIZED or TERMINAL_FAILED when your system knows the refund, and may contain more, such as what it has booked.
${EXIT_CODES}`;

const CALLER_NOTES = `
Commands get CERTIFY_URL and CERTIFY_TOKEN (of the service to call), CERTIFY_PAYMENT_ID, CERTIFY_AMOUNT (such as 19.99) and
CERTIFY_REFERENCE (the clientReferenceId of this refund). URLs get url, token, paymentId, amount and reference. What --state
prints must contain PENDING, AUTHORIZED or TERMINAL_FAILED when your system believes that there is a refund.
${EXIT_CODES}`;

/**
 * Reads the command line.
 *
 * @param name how the command is run
 * @throws CannotRun when an option is wrong or missing
 */
export function readCommand(args: readonly string[], name: string): Command {
  const [part, ...rest] = args;
  if (part === "receiver") return readReceiver(rest, `${name} receiver`);
  if (part === "caller") return readCaller(rest, `${name} caller`);
  const program = defineProgram(name, "Examines a merchant's system before it goes live.");
  program.command("receiver").description("sends events to your receiver of webhooks, good and bad ones");
  program.command("caller").description("has your system issue refunds to a service that misbehaves");
  program.addHelpText("after", `\n${name} receiver --help and ${name} caller --help list the options.`);
  if (part === undefined) throw new CannotRun(program.helpInformation().trimEnd());
  if (parseOptions(program, args, name)) return { part: "help" };
  throw usageError(`Say what to examine: receiver or caller, not "${part}".`, name);
}

function readReceiver(args: readonly string[], name: string): Command {
  const command = withExam(
    defineProgram(name, "Sends events to your receiver of webhooks, and requires the right response to each.")
      .addOption(option("--url <url>", "the address of the receiver, as in your subscription", readAddress))
      .addOption(secretOption("the secretKey with which the receiver verifies"))
      .option("--prepare <command>", "tells your system of a refund, as if it had issued it")
      .addOption(option("--prepare-url <url>", "the same, by a POST", readAddress))
      .option("--restart <command>", "restarts the receiver, and ends when it has been started")
      .addOption(option("--restart-url <url>", "the same, by a POST", readAddress))
      .addOption(option("--timeout <seconds>", "for each response", readSeconds).default(ATTEMPT_SECONDS)),
  ).addHelpText("after", RECEIVER_NOTES);
  if (parseOptions(command, args, name)) return { part: "help" };
  const { url, secret, list, ...rest } = command.opts();
  if (list) return { part: "list", of: "receiver", only: rest.only ?? [] };
  if (!url) throw usageError("Say where the receiver is: --url https://localhost:8080/webhooks", name);
  if (secret === undefined)
    throw usageError("Give the receiver's secret: --secret … (or CERTIFY_SECRET).", name);
  const exam = toExam(rest, name);
  const options = {
    ...exam,
    url: url.href,
    secret,
    prepare: toHook(rest, "prepare", name),
    restart: toHook(rest, "restart", name),
  };
  return { part: "receiver", options, files: rest };
}

function readCaller(args: readonly string[], name: string): Command {
  const command = withExam(
    defineProgram(
      name,
      "Has your system issue refunds to a service that misbehaves, and requires one refund of each.",
    )
      .option(
        "--run <command>",
        "issues the refund that its environment says, and ends when it is done with it",
      )
      .addOption(option("--trigger-url <url>", "the same, by a POST", readAddress))
      .addOption(option("--timeout <seconds>", "for each refund", readSeconds).default(RUN_SECONDS))
      .addOption(
        option(
          "--slow <seconds>",
          "how long a slow response takes",
          numberIn({ from: 0.05, to: 60, fractions: true }),
        ).default(5),
      )
      .addOption(
        option("--url <url>", "your receiver, which then gets the events of these refunds", readAddress),
      )
      .addOption(secretOption("the secretKey with which it verifies")),
  ).addHelpText("after", CALLER_NOTES);
  if (parseOptions(command, args, name)) return { part: "help" };
  const { run, triggerUrl, url, secret, slow, list, ...rest } = command.opts();
  if (list) return { part: "list", of: "caller", only: rest.only ?? [] };
  const trigger = toHook({ ...rest, run, runUrl: triggerUrl }, "run", name, "--trigger-url");
  if (!trigger) {
    throw usageError("Say how your system issues a refund: --run 'COMMAND' or --trigger-url URL.", name);
  }
  if (url && secret === undefined)
    throw usageError("Give the receiver's secret, too: --secret … (or CERTIFY_SECRET).", name);
  const options = { ...toExam(rest, name), run: trigger, slowMs: 1000 * slow, url: url?.href, secret };
  return { part: "caller", options, files: rest };
}

const secretOption = (description: string) =>
  option("--secret <secret>", description, readSecret).env("CERTIFY_SECRET");

/** Adds the options that both parts have. */
function withExam<Args extends unknown[], Opts extends Record<string, unknown>>(
  command: Program<Args, Opts>,
) {
  return command
    .option("--state <command>", "prints what your system believes about a refund")
    .addOption(option("--state-url <url>", "the same, by a GET", readAddress))
    .addOption(
      option(
        "--settle <seconds>",
        "the time that your system takes to work on something after it has responded",
        numberIn({ from: 0, to: 600, fractions: true }),
      ).default(1),
    )
    .addOption(option("--only <id,...>", "run only the checks whose ids begin like this", readIds))
    .addOption(option("--require <all|id,...>", "fail if any of these checks is not run", readRequired))
    .option("--list", "list the checks, and run none")
    .addOption(option("--junit <file>", "the report as JUnit XML", readReportFile))
    .addOption(option("--json <file>", "the report as JSON", readReportFile))
    .addOption(option("--html <file>", "the report as one page, to print or to send", readReportFile));
}

type Given = Readonly<Record<string, unknown>> & {
  readonly timeout: number;
  readonly settle: number;
  readonly only?: readonly string[] | undefined;
  readonly require?: readonly string[] | undefined;
};

function toExam(given: Given, name: string): ExamOptions {
  const { timeout, settle, only = [], require = [] } = given;
  return {
    only,
    require,
    timeoutMs: 1000 * timeout,
    settleMs: 1000 * settle,
    state: toHook(given, "state", name),
  };
}

/** The hook that a command or a URL gives; both would contradict each other. */
function toHook(given: Given, hook: string, name: string, urlFlag = `--${hook}-url`): Hook | undefined {
  const command = given[hook];
  const url = given[`${hook}Url`];
  if (command !== undefined && url !== undefined)
    throw usageError(`Give --${hook} or ${urlFlag}, not both.`, name);
  if (typeof command === "string" && command.trim() === "")
    throw usageError(`--${hook} must be a command, and is empty.`, name);
  const timeoutMs = Math.max(1000 * given.timeout, LEAST_HOOK_MS);
  if (typeof command === "string") return commandHook(command, timeoutMs);
  return url instanceof URL ? urlHook(url, hook === "state" ? "GET" : "POST", timeoutMs) : undefined;
}

/** Never prints the secret. */
function readSecret(secret: string, option: string): string {
  if (secret.length >= 1 && secret.length <= 256) return secret;
  throw new OptionError(`${option} must have 1 to 256 characters, like the secretKey of a subscription.`);
}
