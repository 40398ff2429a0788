/** The options of the command `conformance`. */
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { defineProgram, wholeNumber } from "../../scripts/shared/define-command.ts";
import {
  CannotRun,
  readIds,
  readReportFile,
  readRequired,
  readUrl,
  secondsFrom,
  secretOption,
} from "../reporting/option-readers.ts";
import type { Choice } from "../reporting/run-checks.ts";

/** The states of a payment that decide the first status of its refund. */
export const PAYMENT_KINDS = ["settled", "recent", "processing", "failed", "covered", "refund"] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

/** The options of a run. Checks that need a missing option are not run, and the report names them. */
export type ConformOptions = Choice & {
  /** The address of the service: the part before `/v1`, without a trailing slash. */
  readonly url: string;
  readonly token?: string | undefined;
  /** A token of another merchant. */
  readonly otherToken?: string | undefined;
  /** A second token of the merchant that `token` belongs to. */
  readonly secondToken?: string | undefined;
  /** A token of the merchant with neither of the two scopes. */
  readonly unscopedToken?: string | undefined;
  /** Ids of payments of the merchant that `token` belongs to, by their state. */
  readonly payments: Readonly<Partial<Record<PaymentKind, string>>>;
  /** The requestKey of the settled payment itself. */
  readonly paymentKey?: string | undefined;
  /** The address at which the service reaches this machine; port 0 chooses a free port. */
  readonly receiver?: string | undefined;
  /** The address on which the receiver listens, when it differs from the port in `receiver`. */
  readonly receiverPort?: number | undefined;
  /** The most requests to send in order to exceed the rate limit; 0, the default, skips this check. */
  readonly burst: number;
  /** The number of requests for each constraint, spread evenly over all of them; all, some 1,200, by default. */
  readonly sample: number;
  /** Milliseconds that a response or a delivery may take; 10,000 by default. */
  readonly timeoutMs: number;
};

/** More than any constraint has. */
export const MAX_SAMPLE = 100_000;

/** The options of the command: those of a run, and the files for the reports. */
export type CommandOptions = ConformOptions & {
  readonly junit?: string | undefined;
  readonly json?: string | undefined;
};

const PAYMENTS_HELP = `payments of that merchant, by kind:
settled: before the waiting period
recent: settled within the waiting period
processing: not settled yet
failed: its debit failed
covered: fell into the service's cover
refund: is itself a refund`;

const NOTES = `
Each run issues refunds of at most 0.10 and makes a few subscriptions; a merchant can have 100. With --receiver the checks of
deliveries end theirs.
Exit code: 0 every check that ran has passed, 1 one has failed, 2 the run could not be made. Ctrl-C ends the run after
the check under way, with 130 and the report of what ran.`;

/** The defaults, for the command and for programs. */
export const DEFAULTS: Required<
  Pick<ConformOptions, "payments" | "burst" | "sample" | "timeoutMs" | "only">
> = { payments: {}, burst: 0, sample: MAX_SAMPLE, timeoutMs: 10_000, only: [] };

const token = <Flags extends string>(flags: Flags, description: string, variable: string) =>
  secretOption(flags, description, readToken).env(variable);

const defineConform = (name: string) =>
  defineProgram(
    name,
    "Tests a server against the contract from the outside. Checks without their options are reported as not run.",
  )
    .addOption(
      secretOption("--url <url>", "the address of the service, without /v1", readUrl).env("CONFORM_URL"),
    )
    .addOption(token("--token <token>", "an access token with both scopes", "CONFORM_TOKEN"))
    .option("--payments <kind=id,...>", PAYMENTS_HELP, readPayments)
    .option("--payment-key <key>", "the requestKey of the settled payment itself")
    .addOption(token("--other-token <token>", "a token of another merchant", "CONFORM_OTHER_TOKEN"))
    .addOption(token("--second-token <token>", "a second token of the same merchant", "CONFORM_SECOND_TOKEN"))
    .addOption(
      token(
        "--unscoped-token <token>",
        "a token of the same merchant without scopes",
        "CONFORM_UNSCOPED_TOKEN",
      ),
    )
    .addOption(
      secretOption(
        "--receiver <url>",
        "where the service can send events to this machine; port 0 uses a free one, https needs a proxy that ends TLS",
        readUrl,
      ),
    )
    .option("--receiver-port <port>", "the port to listen on, if it is another one", wholeNumber(1, 65_535))
    .option(
      "--burst <n>",
      "send up to n requests, 50 at once, to exceed the rate limit",
      wholeNumber(0, 100_000),
      DEFAULTS.burst,
    )
    .option(
      "--sample <n>",
      "n requests for each constraint of the document, not all of some 1,200",
      wholeNumber(1, MAX_SAMPLE),
    )
    .option("--only <id,...>", "run only the checks whose ids begin like this", readIds)
    .option("--require <all|id,...>", "fail if any of these checks is not run", readRequired)
    .option(
      "--timeout <seconds>",
      "for each response and each delivery",
      secondsFrom(0.05, 600),
      DEFAULTS.timeoutMs / 1000,
    )
    .option("--junit <file>", "the report as JUnit XML", readReportFile)
    .option("--json <file>", "the report as JSON", readReportFile)
    .addHelpText("after", NOTES)
    .exitOverride();

/**
 * Reads the command line. Tokens are better set in the environment, where other users of the machine don't see them.
 * @param name how the command is run
 * @throws CommanderError when an option is wrong or missing, or on request for the help: it has been printed
 * @throws CannotRun when an address or a token is wrong, which are not repeated
 */
export function readOptions(args: readonly string[], name = "npm run conform --"): CommandOptions {
  const command = defineConform(name).parse(args, { from: "user" });
  const { url, timeout, ...options } = command.opts();
  // Not mandatory options: Commander would report them as missing rather than an unknown option, such as a misspelt --url.
  if (!url) return command.error("Say where the service is: --url https://payments.example.com");
  if (!options.token) return command.error("Give an access token: --token … (or CONFORM_TOKEN).");
  return { ...DEFAULTS, ...options, url, timeoutMs: 1000 * timeout };
}

/** Refuses characters that a header can't contain: they would make every request fail. Never prints the token. */
export function readToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CannotRun(`${name} is empty, or holds characters that no header can carry.`);
}

function readPayments(text: string, before: ConformOptions["payments"] = {}): ConformOptions["payments"] {
  const pairs = text.split(",").map((pair) => {
    const [kind = "", id = ""] = pair.split(/=(.*)/s);
    if (PAYMENT_KINDS.some((known) => known === kind) && id !== "") return [kind, id];
    throw new InvalidArgumentError(`It must be KIND=ID, with one of ${PAYMENT_KINDS.join(", ")}.`);
  });
  return { ...before, ...Object.fromEntries(pairs) };
}
