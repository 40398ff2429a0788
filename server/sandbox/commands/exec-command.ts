import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { styleText } from "node:util";
import { readDocument } from "../../contract/contract-document.ts";
import { defineProgram } from "../../process/command-line.ts";
import { detached, untilExit } from "../exec/child-process.ts";
import { findRefused, isAccepted, judge, REASONS, type RetryOf, type Seen } from "../exec/judge-run.ts";
import { toJunit, toPage } from "../exec/junit-and-html.ts";
import {
  describeCoverage,
  explain,
  findMissing,
  hasFailed,
  type Run,
  readCoverage,
  toSuites,
} from "../exec/run-report.ts";
import type { BadDay } from "../features/bad-day.ts";
import { ACCESS_TOKEN } from "../sandbox-client.ts";
import type { SandboxShape } from "../wrap-in-sandbox.ts";

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
    .option("--junit <file>", "the report as JUnit XML")
    .option("--html <file>", "the report as one page")
    .addHelpText("after", HELP)
    .passThroughOptions()
    .action((command, options) => execute(start, command, options));
}

export type Start = (shape: SandboxShape) => Promise<{ readonly url: string; close(): Promise<void> }>;

type Options = {
  readonly badDay?: readonly string[] | true | undefined;
  readonly require?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly junit?: string | undefined;
  readonly html?: string | undefined;
};

/** The delay of a response that never comes: longer than any run of tests. */
const NEVER_MS = 24 * 3_600_000;
const OVERTAKEN_MS = 1_500;
/** A bad day may take ten times as long as the plain run, and at least two minutes. */
const [TIMES_LONGER, LEAST_LIMIT_MS] = [10, 120_000];

/** How many merchants tests can share among their workers: runners of tests start at most one for each processor. */
const WORKERS = Math.max(8, availableParallelism());

/** The bad days: what goes wrong, as the table shows it, and the sandbox's fault that causes it. */
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
The command gets REFUNDS_SANDBOX_URL, REFUNDS_SANDBOX_TOKEN, REFUNDS_SANDBOX_TOKENS (a token of a merchant for each worker, with commas between: they share one clock), REFUNDS_SANDBOX_SECRET
(a secretKey for your receiver) and, on a bad day, REFUNDS_SANDBOX_BAD_DAY (${Object.keys(DAYS).join(", ")}).

Exit code: that of your tests if they fail, 1 when something was found or was not met, 2 when it could not run, otherwise 0.
It finds: ${Object.keys(REASONS).join(", ")}.`;

const list = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(",").filter(Boolean),
];

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
    const coverage = describeCoverage(readCoverage(plain.seen));
    process.stdout.write(`\n${[...runs.flatMap(describe), "", ...coverage].join("\n")}\n`);
    const suites = toSuites(runs);
    if (options.junit !== undefined) await writeFile(options.junit, toJunit(suites, "exec"));
    if (options.html !== undefined)
      await writeFile(options.html, toPage(suites, "Tests against the sandbox", coverage));
    process.exitCode ||= plain.run.code || (runs.some(hasFailed) ? 1 : 0);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  }
}

/** @throws Error for an unknown name, because a misspelt one would select nothing */
function requireKnown(noun: string, names: readonly string[] = [], known: object): void {
  const unknown = names.find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new Error(`There is no ${noun} ${unknown}. Choose from: ${Object.keys(known).join(", ")}.`);
}

/** The lines of a run in the table: its title and result, then its findings. */
function describe(run: Run): string[] {
  const [color, mark] = hasFailed(run) ? (["red", "✗"] as const) : (["green", "✓"] as const);
  const stream = process.stdout;
  const painted = run.unmet ? styleText("dim", "–", { stream }) : styleText(color, mark, { stream });
  const lines = run.findings.map(({ id, text }) => `      ${id}: ${text} (${REASONS[id]})`);
  return [`${painted} ${run.title.padEnd(64)} ${explain(run)}`, ...lines];
}

type BadRun = { readonly day: Day; readonly limitMs: number; readonly plain: Seen };

/** Runs the tests once against a sandbox of their own, and judges what happened there. */
async function runOnce(start: Start, command: readonly string[], options: Options, bad?: BadRun) {
  const seen: Seen = { calls: [], attempts: [] };
  const resets = new Map<string, number>();
  /** A merchant that is reset has new records, and so counts as another one. */
  const sinceReset = <Watched extends { merchant: string }>(watched: Watched) => ({
    ...watched,
    merchant: `${watched.merchant} ${resets.get(watched.merchant) ?? 0}`,
  });
  const sandbox = await start({
    workers: WORKERS,
    badDay: bad && toFault(bad),
    isTomorrow: bad?.day === "tomorrow",
    watch: {
      onCall: (call) => void seen.calls.push(sinceReset(call)),
      onAttempt: (attempt) => void seen.attempts.push(sinceReset(attempt)),
      onReset: (merchant) => void resets.set(merchant, (resets.get(merchant) ?? 0) + 1),
    },
  });
  try {
    const tokens = Array.from({ length: WORKERS }, (_, index) => `sandbox_worker${index + 1}`);
    const env = {
      REFUNDS_SANDBOX_URL: sandbox.url,
      REFUNDS_SANDBOX_TOKEN: ACCESS_TOKEN,
      REFUNDS_SANDBOX_TOKENS: tokens.join(","),
      REFUNDS_SANDBOX_SECRET: `whsec_${randomBytes(24).toString("base64")}`,
      ...(bad && { REFUNDS_SANDBOX_BAD_DAY: bad.day }),
    };
    const startedAt = performance.now();
    const ended = await runTests(command, env, bad?.limitMs);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const findings = [
      ...(bad ? [] : findMissing(readCoverage(seen), options.require ?? [])),
      ...judge(seen, retryOf),
      ...(bad && !isOfCalls(bad.day) ? findRefused(seen) : []),
    ];
    const run: Run = { ...ended, title: "your tests", seconds, findings };
    const judged = bad ? judgeDay(bad, run, seen) : run;
    const counted = judged.findings.filter(({ id }) => !options.ignore?.includes(id));
    return { seen, run: { ...judged, findings: counted } };
  } finally {
    await sandbox.close();
  }
}

/** The result of a bad day. A day that the tests never met shows nothing; on the day without events, the tests have to fail. */
function judgeDay({ day, plain }: BadRun, run: Run, seen: Seen): Run {
  const accepted = plain.attempts.filter(isAccepted).length;
  const issued = seen.calls.some(({ operation }) => operation === "issueRefund");
  const titled = { ...run, title: DAYS[day][0] };
  if (isOfCalls(day) && !issued) return { ...titled, unmet: "not met: no test issues a refund" };
  if (!isOfCalls(day) && accepted === 0 && day !== "tomorrow")
    return { ...titled, unmet: "not met: no test receives an event" };
  if (day !== "unheard") return titled;
  const text = `your receiver accepted ${accepted} events, and your tests pass without any: they don't show that you act on them`;
  return { ...titled, code: 0, findings: run.code === 0 ? [{ id: "event.unused", text }] : run.findings };
}

const isOfCalls = (day: Day) => "kind" in (DAYS[day][1] ?? {});

/** The fault of a day. After a restart, the events that the receiver accepted in the plain run are sent again. */
function toFault({ day, plain }: BadRun): BadDay | undefined {
  if (day !== "restart") return DAYS[day][1] as BadDay | undefined;
  const again = plain.attempts
    .filter(isAccepted)
    .map((attempt) => ({ ...attempt, merchant: attempt.merchant.split(" ")[0] ?? "" }));
  return { events: "AFTER_RESTART", again };
}

const FAILURE = /^\s*(?:✗|✖|×|●|not ok|--- FAIL|FAIL(?:ED)?\b|E {2,}|\w*Error\b|AssertionError).*/m;

/** Runs the tests. In the plain run they print to the terminal; on a bad day their output is searched for a failure, and their time is limited. */
async function runTests([file = "", ...args]: readonly string[], env: NodeJS.ProcessEnv, limitMs?: number) {
  const isPlain = limitMs === undefined;
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: isPlain ? "inherit" : ["ignore", "pipe", "pipe"],
    detached: !isPlain && detached,
    shell: process.platform === "win32",
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (text = (text + chunk).slice(-200_000)));
  const end = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (!isPlain) end.abort();
    // A terminal sends SIGINT to the tests as well.
    else if (signal === "SIGTERM") child.kill(signal);
    process.exitCode = signal === "SIGINT" ? 130 : 143;
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const { timedOut, code } = await untilExit(child, limitMs ?? NEVER_MS, end.signal);
    const failure = (FAILURE.exec(text)?.[0] ?? "").trim().slice(0, 200);
    return { code: timedOut ? null : Number(code ?? 1), failure };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} can't be run: ${code === "ENOENT" ? "there is no such command" : message}.`);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** Reads in the contract what each response says about a repeat. */
export const retryOf: RetryOf = (status) => {
  const { paths, components } = readDocument("openapi") as unknown as {
    paths: Record<string, { post: { responses: Record<string, { $ref?: string }> } }>;
    components: { responses: Record<string, { "x-retry"?: ReturnType<RetryOf> }> };
  };
  const ref = paths["/v1/refunds"]?.post.responses[status]?.$ref ?? "";
  return components.responses[ref.split("/").at(-1) ?? ""]?.["x-retry"];
};
