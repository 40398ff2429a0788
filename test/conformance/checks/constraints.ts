/** The checks of each constraint in the document: a service refuses requests that break it, and accepts those that just obey it. */
import { isDeepStrictEqual } from "node:util";
import { type Constraint, findConstraints } from "../../../openapi/document/constraints.ts";
import { isNode } from "../../../openapi/document/document-node.ts";
import { stepsOf, toPointer, valueAt } from "../../../openapi/document/pointer.ts";
import type { Contract } from "../../../openapi/document/read-contract.ts";
import type { Exchange } from "../../reporting/exchange.ts";
import { assert, bodyOf, violationsOf } from "../assertions.ts";
import type { Call } from "../constraints/headers.ts";
import { acceptedRequests, breakingRequests, type ConstraintRequest } from "../constraints/requests.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { type Check, defineGroup, PRECONDITIONS, type Precondition } from "../preconditions.ts";
import { OPERATIONS } from "../valid-requests.ts";

const IN_FLIGHT = 8;

/** Replaces the payments that the examples name. No merchant has this one, so that even an accepted call moves no money. */
const IDS = Object.fromEntries(
  ["settled", "recent", "processing", "failed", "covered", "refund", "unknown"].map((kind) => [
    `pay_${kind}`,
    "pay_conform_unknown",
  ]),
);

/** Calls are generated once. When one is sent, the run's own prefix, which is as long, replaces this one. */
const KEY_PREFIX = "conform-000000000000-";

/**
 * For each constraint on requests that the document has: calls that break only this constraint, and calls at the limits of
 * what it allows. Calls of the second kind that would create subscriptions are left out.
 */
export function constraintChecks({ document }: Contract): Check[] {
  const constraints = findConstraints(document);
  const options = { requestKeyPrefix: KEY_PREFIX, ids: IDS };
  const broken = byConstraint(breakingRequests(document, constraints, options));
  const kept = byConstraint(
    acceptedRequests(document, constraints, options).filter(({ call }) => call.operationId === "issueRefund"),
  );
  return [
    ...defineGroup(
      "Broken requests",
      {},
      broken.map(([constraint, requests]) => ({
        id: `broken.${toSlug(constraint)}`,
        name: `refuses requests that break ${nameOf(constraint)}`,
        sources: sourcesOf(document, constraint),
        preconditions: preconditionsOf(requests),
        run: (kit) =>
          sendAll(kit, requests, ({ expected }, exchange, name) => {
            const { status, code, pointer } = expected;
            const { received } = exchange;
            const { errorDetails, ...problem } = bodyOf(exchange);
            const coded = isNode(errorDetails) && errorDetails.errorCode === code;
            const pointers = violationsOf(problem).map((violation) => violation.pointer);
            const pointed = pointer === undefined || isDeepStrictEqual(pointers, [pointer]);
            const challenge = received.headers.get("WWW-Authenticate") ?? "";
            const challenged = status !== 401 || /^Bearer\b/i.test(challenge);
            const refused = received.status === status && coded && pointed && challenged;
            const at = pointer === undefined ? "" : ` and one violation, at ${JSON.stringify(pointer)}`;
            const also = status === 401 ? " with WWW-Authenticate: Bearer" : at;
            assert(refused, `${status} ${code}${also}, because ${name}`, exchange);
          }),
      })),
    ),
    ...defineGroup(
      "Requests at the bounds",
      {},
      kept.map(([constraint, requests]) => ({
        id: `kept.${toSlug(constraint)}`,
        name: `accepts requests at the limits of ${nameOf(constraint)}`,
        sources: sourcesOf(document, constraint),
        preconditions: preconditionsOf(requests),
        run: (kit) =>
          sendAll(kit, requests, ({ outcomes }, exchange, name) =>
            assert(
              outcomes.includes(exchange.received.status),
              `${outcomes.join(" or ")}, because the document allows that ${name}`,
              exchange,
            ),
          ),
      })),
    ),
  ];
}

function byConstraint<Sent extends ConstraintRequest>(requests: readonly Sent[]): [Constraint, Sent[]][] {
  return [...Map.groupBy(requests, ({ constraint }) => constraint)];
}

function nameOf({ id }: Constraint): string {
  return id.replace(" request application/json", "").replace(" request", "");
}

function toSlug(constraint: Constraint): string {
  return nameOf(constraint)
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function preconditionsOf(requests: readonly ConstraintRequest[]): Precondition[] {
  const tokens = new Set(requests.map(({ call }) => call.token));
  return [
    ...(tokens.has("valid") ? [PRECONDITIONS.token] : []),
    ...(tokens.has("unscoped") ? [PRECONDITIONS.unscopedToken] : []),
  ];
}

async function sendAll<Sent extends ConstraintRequest>(
  kit: Kit,
  requests: readonly Sent[],
  expectResponse: (request: Sent, exchange: Exchange, name: string) => void,
): Promise<void> {
  const waiting = pickSome(requests, kit.options.sample);
  const sendNext = async () => {
    for (let request = waiting.shift(); request; request = waiting.shift())
      expectResponse(request, await kit.send(toSpec(kit, request.call)), request.name);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendNext));
}

/** Spread evenly, because neighbours are similar. */
function pickSome<Sent>(requests: readonly Sent[], limit: number): Sent[] {
  const step = Math.max(1, requests.length / limit);
  return requests.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

function toSpec(
  { options, keyPrefix }: Kit,
  { operationId, method, path, token, headers, body }: Call,
): CallSpec {
  const tokens = {
    valid: options.token ?? null,
    unscoped: options.unscopedToken ?? null,
    absent: null,
    unknown: "conform-nobody",
  };
  const operation = OPERATIONS.find((id) => id === operationId);
  // The kit would add headers that the call leaves out on purpose.
  const absent = { Accept: null, "Content-Type": null };
  return {
    ...(operation && { operation }),
    method,
    path,
    token: tokens[token],
    headers: { ...absent, ...headers },
    body: body?.replace(KEY_PREFIX, keyPrefix),
  };
}

/** The clause of the whole body, used when no enclosing part of the document names a source. */
const BODY_SOURCES: Readonly<Record<string, readonly string[]>> = {
  issueRefund: ["7.3"],
  subscribeToWebhooks: ["8.3"],
};

/** Decisions about all parts of a kind, which no single part names. */
const KEYWORD_SOURCES: Readonly<Record<string, readonly string[]>> = { additionalProperties: ["D15"] };

/** The clauses and decisions that the document names for a constraint: those of the nearest part around it. */
function sourcesOf(document: unknown, constraint: Constraint): string[] {
  const { keyword, operationId } = constraint;
  const found = nearestSources(document, constraint);
  const named = found.length > 0 ? found : (BODY_SOURCES[operationId] ?? []);
  return [...new Set([...(KEYWORD_SOURCES[keyword] ?? []), ...named])];
}

function nearestSources(document: unknown, { pointer }: Constraint): string[] {
  const steps = stepsOf(pointer);
  const around = steps.map((_step, index) => valueAt(document, toPointer(steps.slice(0, index + 1))));
  const nearest = around.findLast((part) => isNode(part) && Array.isArray(part["x-source"]));
  return isNode(nearest) ? toIds(nearest["x-source"] as unknown[]) : [];
}

function toIds(sources: readonly unknown[]): string[] {
  return sources.flatMap((source) => (isNode(source) ? String(source.clause ?? source.decision) : []));
}
