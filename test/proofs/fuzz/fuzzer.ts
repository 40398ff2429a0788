import fc, { type Arbitrary } from "fast-check";
import { type Contract, readContract } from "../../../openapi/document/contract.ts";
import { dereference } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { createCalls, type SandboxCalls } from "../../../server/sandbox/calls.ts";
import { createFindViolations, requestSchema } from "../../conformance/constraints/json.ts";
import { type Case, toMessage } from "./case.ts";
import { createOracle, violationsOfDuplicate } from "./oracle.ts";
import { type Target, type Targets, toPublishedCases } from "./published-cases.ts";
import { toSandboxCases } from "./sandbox-cases.ts";
import { count, createTally, type Tally } from "./tally.ts";
import type { Schema } from "./values.ts";
import { openWire, sendAlone, type Wire, type WireResponse } from "./wire.ts";

export type FuzzOptions = {
  /** The address of a sandbox. The run adds many records, and subscriptions without deliveries. */
  readonly url: string;
  readonly runs: number;
  readonly seed: number;
  /** Concurrent connections, each with a share of the runs and its own seed. */
  readonly connections: number;
  /** Levels to try; all when left out. */
  readonly levels?: readonly string[] | undefined;
  /** The run to begin with, as printed by a failure; for a single connection only. */
  readonly path?: string | undefined;
  /** The time limit of a call, in milliseconds. */
  readonly limitMs: number;
};

export type Failure = {
  /** A description of the error, with the response. */
  readonly message: string;
  /** The smallest request found that shows it. */
  readonly request: Buffer;
  /** With these and one connection, the failure is reproduced at once. */
  readonly seed: number;
  readonly path: string;
};

export type FuzzResult = { readonly tally: Tally; readonly failure?: Failure };

/** The share of each level in the runs. */
const WEIGHTS: Readonly<Record<string, number>> = {
  ...{ valid: 5, invalid: 5, json: 2, headers: 4, bytes: 4, message: 2, address: 1, sandbox: 2 },
};

export const levels = Object.keys(WEIGHTS);

/** The merchants of the calls. Refunds cause events, so their merchant has no subscriptions; the other has no refunds. */
const REFUNDING = "sandbox_acme";
const SUBSCRIBING = "sandbox_globex";

/**
 * Sends requests generated from the contract to a sandbox, and stops at the first response that the contract or the
 * expectations of the request do not allow.
 *
 * @param tally is updated continuously, so that progress can be shown
 */
export async function fuzz(options: FuzzOptions, tally: Tally = createTally()): Promise<FuzzResult> {
  const contract = readContract("openapi");
  const sandbox = readContract("sandbox");
  const cases = chooseCases(
    options,
    toPublishedCases(contract.document, await given(contract, options)),
    sandbox,
  );
  const check = {
    ...{ oracle: createOracle(contract, sandbox), tally, freshKey: createKeys(), stopped: false },
    subscribing: createCalls(options.url, SUBSCRIBING),
  };
  const shares = Array.from({ length: options.connections }, (_, index) => ({
    runs: Math.ceil((options.runs - index) / options.connections),
    seed: options.seed + index,
  }));
  const results = await Promise.all(shares.map((share) => runShare({ ...options, ...share }, cases, check)));
  const failure = results.find((result) => result !== undefined);
  return failure ? { tally, failure } : { tally };
}

function chooseCases(
  { levels: chosen = levels }: FuzzOptions,
  published: Record<string, Arbitrary<Case>>,
  sandbox: Contract,
): Arbitrary<Case> {
  const all: Record<string, Arbitrary<Case>> = { ...published, sandbox: toSandboxCases(sandbox, REFUNDING) };
  return fc.oneof(
    ...chosen.map((level) => {
      const arbitrary = all[level];
      if (!arbitrary) throw new Error(`there is no level ${level}`);
      return { weight: WEIGHTS[level] ?? 1, arbitrary };
    }),
  );
}

/** The operations that the cases call, and payments large enough for many refunds, in addition to those of every sandbox. */
async function given(contract: Contract, { url }: FuzzOptions): Promise<Targets> {
  const findViolations = createFindViolations(contract.document);
  const target = (operation: string, token: string): Target => {
    const { path } = contract.operation(operation);
    const pointer = requestSchema(contract.document, `/paths${step(path)}/post`) ?? "";
    const schema = dereference(contract.document, pointer) as Schema;
    const allows = (body: unknown) => findViolations(pointer, body).length === 0;
    return { operation, path, token, schema, allows };
  };
  const { payments } = createCalls(url, REFUNDING);
  const amount = { currency: "USD", value: 9_999_999_999.99 } as const;
  const large = await Promise.all(
    (["SETTLED", "SETTLED", "PROCESSING"] as const).map((status) => payments.create({ amount, status })),
  );
  const kinds = ["settled", "recent", "processing", "failed", "covered", "refund"];
  return {
    refunds: target("issueRefund", REFUNDING),
    subscriptions: target("subscribeToWebhooks", SUBSCRIBING),
    paymentIds: [...large.map(({ paymentId }) => paymentId), ...kinds.map((kind) => `pay_${kind}`)],
  };
}

type Check = {
  readonly oracle: ReturnType<typeof createOracle>;
  readonly tally: Tally;
  readonly freshKey: () => string;
  /** The calls of the merchant with subscriptions. */
  readonly subscribing: SandboxCalls;
  stopped: boolean;
};

async function runShare(
  options: FuzzOptions,
  cases: Arbitrary<Case>,
  check: Check,
): Promise<Failure | undefined> {
  const { url, runs, seed, path, limitMs } = options;
  const wire = openWire(url, limitMs);
  let shrinking = false;
  const property = fc.asyncProperty(cases, async (one) => {
    if (check.stopped && !shrinking) return;
    const violations = await tryCase(one, wire, options, check);
    if (violations.length === 0) return;
    // From now on, this connection only searches for a smaller request; the others end.
    shrinking = true;
    check.stopped = true;
    throw new Error(violations.join("\n"));
  });
  const details = await fc.check(property, { numRuns: runs, seed, ...(path !== undefined && { path }) });
  wire.close();
  if (!details.failed || !details.counterexample) return undefined;
  const request = toMessage(details.counterexample[0], check.freshKey());
  const message = String(
    details.errorInstance instanceof Error ? details.errorInstance.message : details.errorInstance,
  );
  return { message, request, seed, path: details.counterexamplePath ?? "" };
}

async function tryCase(one: Case, wire: Wire, options: FuzzOptions, check: Check): Promise<string[]> {
  const message = toMessage(one, check.freshKey());
  try {
    let responses = await send(one, message, wire, options, check.tally);
    if (responses.some(({ text }) => text.includes('"SUBSCRIPTION_LIMIT"'))) {
      // A merchant can have no more than 100.
      await check.subscribing.reset();
      responses = await send(one, message, wire, options, check.tally);
    }
    const violations = responses.flatMap((response) => withResponse(check.oracle(one, response), response));
    const [first] = responses;
    if (violations.length > 0 || !one.refund || first?.status !== 201) return violations;
    const [second] = await send(one, message, wire, options, check.tally);
    return second ? withResponse(violationsOfDuplicate(one.refund, first, second), second) : [];
  } catch (error) {
    return [String(error)];
  }
}

async function send(
  { edits, level, method }: Case,
  message: Buffer,
  wire: Wire,
  { url, limitMs }: FuzzOptions,
  tally: Tally,
): Promise<WireResponse[]> {
  const startedAt = performance.now();
  const responses = edits ? await sendAlone(url, message, limitMs) : [await wire.exchange(message, method)];
  const ms = performance.now() - startedAt;
  for (const { status } of responses) count(tally, level, status, ms);
  return responses;
}

function withResponse(violations: readonly string[], { status, headers, text }: WireResponse): string[] {
  if (violations.length === 0) return [];
  return [...violations, `${status} ${headers.get("content-type") ?? ""}`, text.slice(0, 2000)];
}

/** Keys of twelve characters, different in each process. */
function createKeys(): () => string {
  const prefix = Date.now().toString(36).slice(-6);
  let made = 0;
  return () => prefix + (made++).toString(36).padStart(6, "0");
}
