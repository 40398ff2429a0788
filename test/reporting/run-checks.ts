/** Chooses the checks by their ids, and runs them one after the other. */
import pTimeout from "p-timeout";
import type { Check } from "./check.ts";
import { CheckFailure, NotRun } from "./exchange.ts";
import type { Report, Result } from "./json-junit-html.ts";
import { CannotRun } from "./option-readers.ts";
import { readSources } from "./sources.ts";

/** The options of a run that decide which checks are run. */
export type Choice = {
  /** Prefixes of check ids; empty for all checks. */
  readonly only: readonly string[];
  /** Prefixes of the ids of checks that fail when they are not run; "" matches all. */
  readonly require?: readonly string[];
  /** Stops the run before the next check. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole run: a check that has not ended by then fails, and no other one begins. */
  readonly limitMs?: number;
};

export type Listener = {
  /** Called before each check; `position` counts from 1. */
  onStart?(check: Pick<Result, "group" | "name">, position: number, count: number): void;
  onResult?(result: Result): void;
};

/** How many requests in a row without a response end the run. */
const MAX_TIMEOUTS = 3;

/**
 * The checks that the options allow, in their order.
 *
 * @throws CannotRun when a prefix of an option selects none: it would run or require nothing, unnoticed
 */
export function chooseChecks<Each extends Pick<Check<never, never>, "id">>(
  all: readonly Each[],
  { only, require = [] }: Choice,
): Each[] {
  const chosen = all.filter(
    ({ id }) => only.length === 0 || only.some((beginning) => id.startsWith(beginning)),
  );
  const without = (prefixes: readonly string[], checks: readonly Each[]) =>
    prefixes.filter((prefix) => !checks.some(({ id }) => id.startsWith(prefix)));
  const unknown = without(only, all);
  if (unknown.length > 0) throw new CannotRun(`No check has an id that begins with ${unknown.join(" or ")}.`);
  const missing = without(require, chosen);
  if (missing.length > 0) {
    const leftOut = only.length > 0 ? " that --only selects" : "";
    throw new CannotRun(`No check${leftOut} has an id that begins with ${missing.join(" or ")}.`);
  }
  return chosen;
}

type Run<Options, Tools> = {
  readonly options: Options;
  readonly tools: Tools;
  readonly listener?: Listener;
  /** What is tested, as reports name it. */
  readonly examined?: string;
};

/** Runs checks one after the other. Does not call the listener for checks that a signal left out. */
export async function runChecks<Options extends Choice, Tools>(
  checks: readonly Check<Options, Tools>[],
  { options, tools, listener = {}, examined = "the service" }: Run<Options, Tools>,
): Promise<Omit<Report, "url">> {
  const startedAt = new Date();
  const results: Result[] = [];
  let timeouts = new Set<CheckFailure>(); // a set, because checks that share a call share its failure
  const { signal, limitMs = Number.POSITIVE_INFINITY } = options;
  const leftMs = () => startedAt.getTime() + limitMs - Date.now();
  for (const [index, check] of checks.entries()) {
    const cause = results.find(({ id, outcome }) => outcome === "failed" && check.after?.includes(id));
    const reason = signal?.aborted
      ? "the run was stopped"
      : leftMs() <= 0
        ? "there was no time left"
        : cause && `see ${cause.id}`;
    if (reason !== undefined) {
      results.push(requireRun(notRun(check, reason), cause ? {} : options));
      continue;
    }
    listener.onStart?.(check, index + 1, checks.length);
    const made =
      timeouts.size < MAX_TIMEOUTS
        ? await make(check, { options, tools, leftMs: leftMs() })
        : notRun(check, `${examined} has stopped responding`);
    const result = requireRun(made, options);
    if (result.failure?.timedOut) timeouts.add(result.failure);
    if (result.outcome === "passed") timeouts = new Set();
    results.push(result);
    listener.onResult?.(result);
  }
  return { startedAt, seconds: (Date.now() - startedAt.getTime()) / 1000, results };
}

/** Turns a check that was not run into a failure, when it is required. */
function requireRun(result: Result, { require = [] }: Pick<Choice, "require">): Result {
  const { id, outcome, reason = "" } = result;
  if (outcome !== "not run" || !require.some((beginning) => id.startsWith(beginning))) return result;
  const failure = new CheckFailure("that the check is made, because --require names it", {
    received: `not run: ${reason}`,
  });
  return { ...result, outcome: "failed", failure };
}

async function make<Options, Tools>(
  check: Check<Options, Tools>,
  { options, tools, leftMs }: { options: Options; tools: Tools; leftMs: number },
): Promise<Result> {
  const missing = check.preconditions
    .filter((precondition) => !precondition.isMet(options))
    .map(({ option }) => option);
  const result = toResult(check);
  if (missing.length > 0)
    return { ...result, outcome: "not run", missing, reason: `give ${missing.join(" and ")}` };
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const late = new CheckFailure("the check to end before the time limit of the whole run", {
      received: "it did not end",
    });
    await pTimeout(Promise.resolve(check.run(tools)), { milliseconds: leftMs, message: late });
    return { ...result, outcome: "passed", seconds: seconds() };
  } catch (error) {
    if (error instanceof NotRun) return notRun(check, error.message);
    const failure = error instanceof CheckFailure ? error : toFailure(error);
    return { ...result, outcome: "failed", failure, seconds: seconds() };
  }
}

/** A response that makes the check itself throw also counts as a failure of the service. */
function toFailure(error: unknown): CheckFailure {
  if (error instanceof CannotRun) throw error;
  const text = error instanceof Error ? error.message : String(error);
  return new CheckFailure("a response that the check can read", { received: `the check stopped: ${text}` });
}

const sourceOf = readSources();

function notRun(check: Check<never, never>, reason: string): Result {
  return { ...toResult(check), outcome: "not run", reason };
}

/** A check that has not been run yet. */
function toResult({ preconditions, after, run, ...shown }: Check<never, never>): Omit<Result, "outcome"> {
  return { ...shown, sources: shown.sources.map(sourceOf), missing: [], seconds: 0 };
}
