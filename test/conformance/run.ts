import { type Contract, readContract } from "../../openapi/document/contract.ts";
import { bodyOf } from "./assertions.ts";
import type { Check } from "./check.ts";
import { allChecks } from "./checks/all.ts";
import { CheckFailure, type Exchange, NotRun } from "./exchange.ts";
import { createKit, type Kit } from "./kit.ts";
import { ConformError, type ConformOptions, toFlag } from "./options.ts";
import { receiverOf } from "./receiver.ts";
import type { Report, Result } from "./report.ts";
import { readSources } from "./sources.ts";

export type Listener = {
  /** Called before each check; `position` counts from 1. */
  onStart?(check: Check, position: number, count: number): void;
  onResult?(result: Result): void;
};

/** How many requests in a row without a response end the run. */
const MAX_TIMEOUTS = 3;

/**
 * Runs every check that the options allow, one after the other, and resolves with the results.
 *
 * @throws ConformError when the service can't be reached, refuses the token, or no check is selected
 */
export async function runConformance(options: ConformOptions, listener: Listener = {}): Promise<Report> {
  const startedAt = new Date();
  const { contract, all } = prepare();
  await using kit = createKit(options, contract);
  const checks = choose(options, all);
  refuseUnknown(options, all);
  await requireService(kit);
  const receiver = await receiverOf(kit);
  const results: Result[] = [];
  let timeouts = 0;
  for (const [index, check] of checks.entries()) {
    listener.onStart?.(check, index + 1, checks.length);
    const made = timeouts < MAX_TIMEOUTS ? await make(check, kit) : { ...toResult(check), ...STOPPED };
    const result = requireRun(made, options);
    timeouts = result.failure?.timedOut ? timeouts + 1 : result.outcome === "passed" ? 0 : timeouts;
    results.push(result);
    listener.onResult?.(result);
  }
  return {
    url: options.url,
    startedAt,
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    results,
    calls: kit.exchanges.length,
    subscriptionsMade: new Set(kit.exchanges.flatMap((exchange) => bodyOf(exchange).subscriptionKey ?? []))
      .size,
    subscriptionsEnded: (receiver?.ended ?? 0) + kit.exchanges.filter(endsSubscription).length,
  };
}

/** A scenario ends its own subscription, by a call of the sandbox; the kit ends the others by a 410. */
function endsSubscription({ sent, received }: Exchange): boolean {
  return sent.method === "DELETE" && received.status === 204;
}

const STOPPED = { outcome: "not run", reason: "the service has stopped responding" } as const;

let prepared: { contract: Contract; all: Check[] } | undefined;

/** Reading the document and generating calls for its constraints takes half a second, once. */
function prepare() {
  const contract = prepared?.contract ?? readContract("openapi");
  prepared ??= { contract, all: allChecks(contract) };
  return prepared;
}

function choose({ only }: ConformOptions, all: readonly Check[]): Check[] {
  const chosen = all.filter(
    ({ id }) => only.length === 0 || only.some((beginning) => id.startsWith(beginning)),
  );
  if (chosen.length === 0)
    throw new ConformError(`No check has an id that begins with ${only.join(" or ")}.`);
  return chosen;
}

/** A prefix that no check has would require nothing, unnoticed. */
function refuseUnknown({ require = [] }: ConformOptions, all: readonly Check[]): void {
  const unknown = require.filter((beginning) => !all.some(({ id }) => id.startsWith(beginning)));
  if (unknown.length > 0)
    throw new ConformError(`No check has an id that begins with ${unknown.join(" or ")}.`);
}

/** Turns a check that was not run into a failure, when it is required. */
function requireRun(result: Result, { require = [] }: ConformOptions): Result {
  const { id, outcome, reason = "" } = result;
  if (outcome !== "not run" || !require.some((beginning) => id.startsWith(beginning))) return result;
  const failure = new CheckFailure("that the check is made, because --require names it", {
    received: `not run: ${reason}`,
  });
  return { ...result, outcome: "failed", failure };
}

/** A wrong address or token would fail every check, and no report would say why. */
async function requireService(kit: Kit): Promise<void> {
  const { url } = kit.options;
  if ((await send(kit, null)) === 404 && /\/v\d+$/.test(url)) {
    throw new ConformError(
      `${url} serves no refunds (404). --url must be the address without /v1: ${url.replace(/\/v\d+$/, "")}`,
    );
  }
  for (const name of ["token", "otherToken", "secondToken", "unscopedToken"] as const) {
    const token = kit.options[name];
    if (token === undefined || (await send(kit, token)) !== 401) continue;
    throw new ConformError(
      `${url} refuses the token of ${toFlag(name)} (401). Take one that is valid there.`,
    );
  }
}

async function send(kit: Kit, token: string | null): Promise<number> {
  try {
    return (await kit.send({ operation: "issueRefund", body: {}, token })).received.status;
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    const { url } = kit.options;
    throw new ConformError(
      `${url} can't be reached: ${error.received}. Start the service, or give another --url.`,
    );
  }
}

async function make(check: Check, kit: Kit): Promise<Result> {
  const missing = check.preconditions
    .filter((precondition) => !precondition.isMet(kit.options))
    .map(({ option }) => option);
  const result = toResult(check);
  if (missing.length > 0)
    return { ...result, outcome: "not run", missing, reason: `give ${missing.join(" and ")}` };
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    await check.run(kit);
    return { ...result, outcome: "passed", seconds: seconds() };
  } catch (error) {
    if (error instanceof NotRun) return { ...result, outcome: "not run", reason: error.message };
    const failure = error instanceof CheckFailure ? error : toFailure(error);
    return { ...result, outcome: "failed", failure, seconds: seconds() };
  }
}

/** A response that makes the check itself throw also counts as a failure of the service. */
function toFailure(error: unknown): CheckFailure {
  if (error instanceof ConformError) throw error;
  const text = error instanceof Error ? error.message : String(error);
  return new CheckFailure("a response that the check can read", { received: `the check stopped: ${text}` });
}

const sourceOf = readSources();

function toResult({ id, group, name, sources }: Check) {
  return { id, group, name, sources: sources.map(sourceOf), missing: [], seconds: 0 };
}
