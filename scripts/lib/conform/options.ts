import { parseArgs } from "node:util";

/** What a payment is, as far as the first status of its refund depends on it. */
export const PAYMENT_KINDS = ["settled", "recent", "processing", "failed", "covered", "refund"] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

/** Everything that a run is told. What is left out leaves checks out, and the report says which. */
export interface ConformOptions {
  /** Where the service is: what stands before `/v1`, without a slash at its end. */
  readonly url: string;
  readonly token?: string;
  /** A token of another merchant. */
  readonly otherToken?: string;
  /** A second token of the merchant whose `token` is. */
  readonly secondToken?: string;
  /** A token of the merchant with neither of the two scopes. */
  readonly unscopedToken?: string;
  readonly payments: Readonly<Partial<Record<PaymentKind, string>>>;
  /** The requestKey that the settled payment itself holds. */
  readonly paymentKey?: string;
  /** Where the service reaches this machine; with port 0, a free port of it. */
  readonly receiver?: string;
  /** Where the receiver listens, when that differs from the port in `receiver`. */
  readonly receiverPort?: number;
  /** The service also serves the sandbox's calls, and may be reset. */
  readonly sandbox: boolean;
  /** So many calls at most to meet the rate limit; 0 leaves it alone. */
  readonly burst: number;
  /** So many calls for each constraint, spread over those that there are. */
  readonly sample: number;
  /** Milliseconds that an answer may take, and a delivery. */
  readonly timeoutMs: number;
  /** Beginnings of ids of checks; empty for all. */
  readonly only: readonly string[];
}

/** More than there are for any. */
const MAX_SAMPLE = 100_000;

/** What the command is told beside. */
export interface CommandOptions extends ConformOptions {
  readonly junit?: string;
  readonly json?: string;
}

/** The run can't begin, or can't go on; the message says what to do about it. */
export class ConformError extends Error {}

export const USAGE = `npm run conform -- --url https://payments.example.com --token … --payments settled=…,recent=…,…

Holds a server to the contract from outside. What is not given is reported as not run.

  --url URL              the service: what stands before /v1 (CONFORM_URL)
  --token TOKEN          an access token with both scopes (CONFORM_TOKEN)
  --payments KIND=ID,…   payments of that merchant, by kind:
                           settled     three business days ago or more
                           recent      settled less than three business days ago
                           processing  not settled yet
                           failed      its debit failed
                           covered     fell into the service's cover
                           refund      is itself a refund
  --payment-key KEY      the requestKey that the settled payment itself holds
  --other-token TOKEN    a token of another merchant (CONFORM_OTHER_TOKEN)
  --second-token TOKEN   a second token of the same merchant (CONFORM_SECOND_TOKEN)
  --unscoped-token TOKEN a token of the same merchant without scopes (CONFORM_UNSCOPED_TOKEN)
  --receiver URL         where the service reaches this machine, to be sent events; port 0: a free one
  --receiver-port PORT   where to listen for them, when it is another port
  --sandbox              the service has the sandbox's calls: plays the scenarios, which RESETS the merchant's data
  --burst N              up to N calls, 50 at once, to meet the rate limit
  --sample N             N calls for each constraint of the document, not all of some 2,000
  --only ID,…            checks whose ids begin so
  --timeout SECONDS      for each answer and each delivery; 10 when left out
  --junit FILE, --json FILE   the report for machines
  --help

Each run issues refunds of 0.01 and makes a few subscriptions; a merchant can have 100. With --receiver they are ended.
Exit code: 0 every check that ran has passed, 1 one has failed, 2 the run could not be made.
`;

/** Reads the command line; tokens rather from the environment, where other users of the machine don't see them. */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CommandOptions | "help" {
  const values = parse(args);
  if (values.help) return "help";
  const url = values.url ?? env.CONFORM_URL;
  if (!url) throw usageError("Say where the service is: --url https://payments.example.com");
  return {
    url: readUrl("--url", url),
    payments: readPayments(values.payments ?? []),
    sandbox: values.sandbox ?? false,
    burst: readNumber("--burst", values.burst ?? "0", { from: 0, to: 100_000 }),
    sample: readNumber("--sample", values.sample ?? String(MAX_SAMPLE), { from: 1, to: MAX_SAMPLE }),
    timeoutMs:
      1000 * readNumber("--timeout", values.timeout ?? "10", { from: 0.05, to: 600, fractions: true }),
    only: (values.only ?? []).flatMap((ids) => ids.split(",").filter((id) => id !== "")),
    ...given({
      token: readToken("--token", values.token ?? env.CONFORM_TOKEN),
      otherToken: readToken("--other-token", values["other-token"] ?? env.CONFORM_OTHER_TOKEN),
      secondToken: readToken("--second-token", values["second-token"] ?? env.CONFORM_SECOND_TOKEN),
      unscopedToken: readToken("--unscoped-token", values["unscoped-token"] ?? env.CONFORM_UNSCOPED_TOKEN),
      paymentKey: values["payment-key"],
      receiver: values.receiver && readUrl("--receiver", values.receiver),
      receiverPort:
        values["receiver-port"] === undefined
          ? undefined
          : readNumber("--receiver-port", values["receiver-port"], { from: 1, to: 65_535 }),
      junit: values.junit,
      json: values.json,
    }),
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: text,
        token: text,
        "other-token": text,
        "second-token": text,
        "unscoped-token": text,
        payments: { type: "string", multiple: true },
        "payment-key": text,
        receiver: text,
        "receiver-port": text,
        sandbox: { type: "boolean" },
        burst: text,
        sample: text,
        timeout: text,
        only: { type: "string", multiple: true },
        junit: text,
        json: text,
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

function readUrl(option: string, text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) throw usageError(`${option} must be an address such as https://payments.example.com.`);
  if (url.username || url.password) throw usageError(`${option} must not hold a user name or password.`);
  if (url.search || url.hash) throw usageError(`${option} must end with its host or path.`);
  return url.href.replace(/\/+$/, "");
}

/** What can't stand in a header would fail call for call, and far from its cause. */
function readToken(option: string, token: string | undefined): string | undefined {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw usageError(`${option} is empty, or holds characters that no header can carry.`);
  }
  return token;
}

function readPayments(texts: readonly string[]): ConformOptions["payments"] {
  const pairs = texts.flatMap((text) => text.split(",")).filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [kind = "", id = ""] = pair.split(/=(.*)/s);
      if (!PAYMENT_KINDS.some((known) => known === kind) || id === "") {
        throw usageError(`--payments takes KIND=ID, with one of ${PAYMENT_KINDS.join(", ")}; not "${pair}".`);
      }
      return [kind, id];
    }),
  );
}

type Range = { readonly from: number; readonly to: number; readonly fractions?: boolean };

function readNumber(option: string, text: string, { from, to, fractions = false }: Range): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if ((fractions || Number.isInteger(value)) && value >= from && value <= to) return value;
  throw usageError(`${option} must be a number from ${from} to ${to}, not "${text}".`);
}

/** Without the fields that are undefined. */
function given<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined | ""> };
}

function usageError(message: string): ConformError {
  return new ConformError(`${message}\nnpm run conform -- --help tells how it is used.`);
}
