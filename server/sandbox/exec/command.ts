import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { styleText } from "node:util";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { readDocument } from "../../contract/document.ts";
import { defineProgram } from "../../process/command-line.ts";
import type { SandboxCalls } from "../calls.ts";
import type { BadDay } from "../handlers/bad-day.ts";
import type { SandboxShape } from "../sandbox.ts";
import { type Finding, findRefused, judge, REASONS, type RetryOf, type Seen } from "./judge.ts";
import {
  describeCoverage,
  explain,
  findMissing,
  hasFailed,
  type Run,
  readCoverage,
  toHtml,
  toJunit,
} from "./report.ts";

/** Starts a sandbox of a shape. */
export type Start = (
  shape: SandboxShape,
) => Promise<{ readonly url: string; as(token: string): SandboxCalls; close(): Promise<void> }>;

type Options = {
  readonly badDay?: readonly string[] | true | undefined;
  readonly require?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly junit?: string | undefined;
  readonly html?: string | undefined;
  readonly workers: number;
};

/** A sandbox can't show the response that never comes for longer than this. */
const NEVER_MS = 24 * 3_600_000;
const OVERTAKEN_MS = 1_500;
/** A bad day may take this much longer than the plain run, and at least as long as this. */
const [TIMES_LONGER, LEAST_LIMIT_MS] = [10, 120_000];

/** What can go wrong, in the words of the table, and by what a sandbox makes it so. */
const DAYS = {
  "lost-before": ["the first call for each refund is lost", { kind: "CLOSED_BEFORE" }],
  "lost-after": ["the response is lost after the refund was made", { kind: "CLOSED_AFTER" }],
  busy: ["503 with Retry-After", { kind: "UNAVAILABLE", retryAfter: 1 }],
  silent: ["the response never comes", { kind: "SLOW", delayMs: NEVER_MS }],
  overtaken: ["an event comes before the response", { kind: "SLOW", delayMs: OVERTAKEN_MS }],
  twice: ["each event comes twice at the same moment", { events: "TWICE_AT_ONCE" }],
  reordered: ["a refund's events come in the other order", { events: "REORDERED" }],
  restart: ["after a restart, events come again that were accepted before it", { events: "AFTER_RESTART" }],
  forged: ["a forged event comes before each event", { events: "FORGED" }],
  unheard: ["no event comes at all", { events: "NEVER" }],
  tomorrow: ["the contract is that of tomorrow, with compatible changes", undefined],
} as const;
type Day = keyof typeof DAYS;

const HELP = `
The command gets REFUNDS_SANDBOX_URL, REFUNDS_SANDBOX_TOKEN, REFUNDS_SANDBOX_TOKENS (a token of a merchant for each worker, with commas between), REFUNDS_SANDBOX_SECRET
(a secretKey for your receiver) and, on a bad day, REFUNDS_SANDBOX_BAD_DAY (${Object.keys(DAYS).join(", ")}).

Exit code: that of your tests if they fail, 1 when something was found or was not met, 2 when it could not run, otherwise 0.
It finds: ${Object.keys(REASONS).join(", ")}.`;

/** Defines the command that runs a merchant's own tests against a sandbox, and judges from the service's side. */
export function defineExec(start: Start) {
  return defineProgram(
    "exec",
    "Runs your tests against a sandbox of their own, and judges what they made your system do.",
  )
    .argument("<command...>", "your tests, after --, such as: exec -- npm test")
    .option(
      "--bad-day [names]",
      "runs them once more for each thing that goes wrong in real life, or for some",
      list,
    )
    .option(
      "--require <names>",
      "what must have been met: a percentage, such as 60%, or elements, such as refund.authorized,409",
      list,
    )
    .option("--ignore <ids>", "findings that don't count, such as refund.never-asked", list)
    .option(
      "--workers <number>",
      "merchants for tests that run at the same time",
      workers,
      Math.max(8, availableParallelism()),
    )
    .option("--junit <file>", "the report as JUnit XML")
    .option("--html <file>", "the report as one page")
    .addHelpText("after", HELP)
    .passThroughOptions()
    .action((command, options) => execute(start, command, options));
}

const list = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(",").filter(Boolean),
];

function workers(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 256) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 256.");
}

async function execute(start: Start, command: readonly string[], options: Options): Promise<void> {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    requireKnown("bad day", options.badDay === true ? [] : options.badDay, DAYS);
    requireKnown("finding", options.ignore, REASONS);
    const plain = await runOnce(start, command, options);
    const runs: Run[] = [plain.run];
    if (options.badDay && plain.run.code === 0) {
      const limitMs = Math.max(LEAST_LIMIT_MS, TIMES_LONGER * 1000 * plain.run.seconds);
      const { badDay } = options;
      const days = (Object.keys(DAYS) as Day[]).filter((day) => badDay === true || badDay.includes(day));
      for (const [index, day] of days.entries()) {
        if (process.exitCode) break; // it was interrupted
        say(`bad day ${index + 1} of ${days.length}: ${DAYS[day][0]} …`);
        runs.push((await runOnce(start, command, options, { day, limitMs, plain: plain.seen })).run);
      }
    }
    const coverage = describeCoverage(plain.coverage);
    process.stdout.write(`\n${[...runs.flatMap(describe), "", ...coverage].join("\n")}\n`);
    if (options.junit !== undefined) await writeFile(options.junit, toJunit(runs));
    if (options.html !== undefined) await writeFile(options.html, toHtml(runs, coverage));
    process.exitCode ||= plain.run.code || (runs.some(hasFailed) ? 1 : 0);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  }
}

/** @throws Error for a name that is misspelt: it would select nothing, unnoticed */
function requireKnown(noun: string, names: readonly string[] = [], known: object): void {
  const unknown = names.find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new Error(`There is no ${noun} ${unknown}. Choose from: ${Object.keys(known).join(", ")}.`);
}

/** A run as lines of the table: what went wrong, and all that was found. */
function describe(run: Run): string[] {
  const [color, mark] =
    run.unmet !== undefined
      ? (["dim", "–"] as const)
      : hasFailed(run)
        ? (["red", "✗"] as const)
        : (["green", "✓"] as const);
  const lines = run.findings.map(({ id, text }) => `      ${id}: ${text} (${REASONS[id]})`);
  return [
    `${styleText(color, mark, { stream: process.stdout })} ${run.title.padEnd(64)} ${explain(run)}`,
    ...lines,
  ];
}

type BadRun = { readonly day: Day; readonly limitMs: number; readonly plain: Seen };

/** Runs the tests once against a sandbox of their own, and judges what happened there. */
async function runOnce(start: Start, command: readonly string[], options: Options, bad?: BadRun) {
  const seen: Seen = { calls: [], attempts: [] };
  const resets = new Map<string, number>();
  const named = <Of extends { merchant: string }>(one: Of) => ({
    ...one,
    merchant: `${one.merchant} ${resets.get(one.merchant) ?? 0}`,
  });
  const day = bad?.day;
  const sandbox = await start({
    workers: options.workers,
    badDay: bad && toFault(bad),
    isTomorrow: day === "tomorrow",
    watch: {
      onCall: (call) => void seen.calls.push(named(call)),
      onAttempt: (attempt) => void seen.attempts.push(named(attempt)),
      onReset: (merchant) => void resets.set(merchant, (resets.get(merchant) ?? 0) + 1),
    },
  });
  try {
    const tokens = Array.from({ length: options.workers }, (_, index) => `sandbox_worker${index + 1}`);
    const env = {
      ...{
        REFUNDS_SANDBOX_URL: sandbox.url,
        REFUNDS_SANDBOX_TOKEN: "sandbox_acme",
        REFUNDS_SANDBOX_TOKENS: tokens.join(","),
      },
      ...{
        REFUNDS_SANDBOX_SECRET: `whsec_${randomBytes(24).toString("base64")}`,
        ...(day && { REFUNDS_SANDBOX_BAD_DAY: day }),
      },
    };
    const startedAt = performance.now();
    const ended = await runTests(command, env, bad?.limitMs);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const coverage = await readCoverage(sandbox, ["sandbox_acme", "sandbox_globex", ...tokens]);
    const found = [
      ...(bad ? [] : findMissing(coverage, options.require ?? [])),
      ...judge(seen, retryOf),
      ...(bad && "events" in (DAYS[bad.day][1] ?? { events: 1 }) ? findRefused(seen) : []),
    ];
    const unmet = bad && whyUnmet(bad, seen);
    const unused = bad?.day === "unheard" && ended.code === 0 && unmet === undefined;
    const findings = unused
      ? [describeUnused(bad.plain)]
      : found.filter(({ id }) => !(options.ignore ?? []).includes(id));
    const code = bad?.day === "unheard" ? 0 : ended.code;
    const title = day ? DAYS[day][0] : "your tests";
    const run: Run = { title, seconds, code, failure: ended.failure, findings, unmet };
    return { run, seen, coverage };
  } finally {
    await sandbox.close();
  }
}

/** What was accepted in the plain run comes again on the day after a restart. */
function toFault({ day, plain }: BadRun): BadDay | undefined {
  const fault = DAYS[day][1];
  if (day !== "restart") return fault as BadDay | undefined;
  const again = plain.attempts
    .filter(isAccepted)
    .map((one) => ({ ...one, merchant: one.merchant.split(" ")[0] ?? "" }));
  return { events: "AFTER_RESTART", again };
}

const isAccepted = ({ status, forged }: Seen["attempts"][number]) =>
  !forged && status !== null && status < 300;
const accepted = ({ attempts }: Seen) => attempts.filter(isAccepted).length;

function describeUnused(plain: Seen): Finding {
  const text = `your receiver accepted ${accepted(plain)} events, and your tests pass without any: they don't show that you act on them`;
  return { id: "event.unused", text };
}

function whyUnmet({ day, plain }: BadRun, seen: Seen): string | undefined {
  const isOfCalls = "kind" in (DAYS[day][1] ?? {});
  if (isOfCalls)
    return seen.calls.some(({ operation }) => operation === "issueRefund")
      ? undefined
      : "not met: no test issues a refund";
  return accepted(plain) > 0 || day === "tomorrow" ? undefined : "not met: no test receives an event";
}

const FAILURE = /^\s*(?:✗|✖|×|●|not ok|--- FAIL|FAIL(?:ED)?\b|E {2,}|\w*Error\b|AssertionError).*/m;

/** Runs the tests: in the plain run they print as ever; on a bad day their output is only searched, and they have a limit. */
async function runTests([file = "", ...args]: readonly string[], env: NodeJS.ProcessEnv, limitMs?: number) {
  const isPlain = limitMs === undefined;
  const child: ChildProcess = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: isPlain ? "inherit" : ["ignore", "pipe", "pipe"],
    detached: !isPlain && process.platform !== "win32", // a group of its own, so that all of it can be ended
    shell: process.platform === "win32",
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (text = (text + chunk).slice(-200_000)));
  const end = () => void (child.pid && process.kill(isPlain ? child.pid : -child.pid, "SIGKILL"));
  let isLate = false;
  const timer = isPlain
    ? undefined
    : setTimeout(() => {
        isLate = true;
        end();
      }, limitMs);
  const stop = (signal: NodeJS.Signals) => {
    if (!isPlain) end();
    // A terminal sends SIGINT to the tests as well.
    else if (signal === "SIGTERM") child.kill(signal);
    process.exitCode = signal === "SIGINT" ? 130 : 143;
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const [code] = await once(child, "exit").catch((error: NodeJS.ErrnoException) => {
      throw new Error(
        `${file} can't be run: ${error.code === "ENOENT" ? "there is no such command" : error.message}.`,
      );
    });
    return {
      code: isLate ? null : ((code as number | null) ?? 1),
      failure: (FAILURE.exec(text)?.[0] ?? "").trim().slice(0, 200),
    };
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** The contract's own word about each response. */
export const retryOf: RetryOf = (status) => {
  const { paths, components } = readDocument("openapi") as unknown as {
    paths: Record<string, { post: { responses: Record<string, { $ref?: string }> } }>;
    components: { responses: Record<string, { "x-retry"?: ReturnType<RetryOf> }> };
  };
  const ref = paths["/v1/refunds"]?.post.responses[status]?.$ref ?? "";
  return components.responses[ref.split("/").at(-1) ?? ""]?.["x-retry"];
};
