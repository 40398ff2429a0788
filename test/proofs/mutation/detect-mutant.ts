/** Tries to detect one mutant of the contract: by requests, by messages, then by the lint rules. */
import { findChanges } from "../../../openapi/diff/diff.ts";
import type { Constraint } from "../../../openapi/document/constraints.ts";
import type { Node } from "../../../openapi/document/document-node.ts";
import { holderOf, isWithin } from "../../../openapi/document/pointer.ts";
import { toContract } from "../../../openapi/document/read-contract.ts";
import type { RequestCase } from "../../conformance/cases/request-case.ts";
import type { DerivedCase } from "../../openapi/send-case.ts";
import type { Calls, Harness } from "./harness.ts";
import { type JudgedMessage, wrongMessages } from "./messages.ts";
import type { Mutant } from "./mutant.ts";

/** The requests of the conformance kit, and messages; what is derived comes from the document without a mutation. */
type Suite = Calls & { readonly messages: readonly JudgedMessage[] };

/** The part of the suite that detected the mutant, and its message. */
export type Notice = { readonly by: string; readonly what: string };

/** The first detection of a mutant by a part of the suite, the cheap parts first. */
export async function detect(
  mutant: Mutant,
  given: { suite: Suite; harness: Harness; document: Node; constraints: readonly Constraint[] },
): Promise<Notice | undefined> {
  const { suite, harness, document, constraints } = given;
  const mutated = mutant.apply(document);
  const near = constraintsNear(mutant.pointer, constraints);
  const touched = new Set(near.map(({ operationId, status = "" }) => `${operationId} ${status}`));
  const isTouched = ({ operation, status }: JudgedMessage) => touched.has(`${operation} ${status ?? ""}`);
  // Those at its own limits first: each kind of message has a schema, and to compile it takes most of the time.
  const { own = [], others = [] } = Object.groupBy(suite.messages.filter(isTouched), ({ pointer }) =>
    pointer !== undefined && isWithin(pointer, mutant.pointer) ? "own" : "others",
  );
  const parts: Record<string, () => string | undefined | Promise<string | undefined>> = {
    messages: () => first(wrongMessages(toContract(mutated), [...own, ...others])),
    diff: () => (READ_BY_NO_VALIDATOR.test(mutant.pointer) ? describeChange(document, mutated) : undefined),
    calls: () => harness.findMismatch(mutated, callsNear(mutant, near, suite)),
    "all messages": () => first(wrongMessages(toContract(mutated), suite.messages)),
  };
  for (const [by, find] of Object.entries(parts)) {
    // A document that can't be read, or with which nothing starts, also counts as detected.
    const what = await (async () => find())().catch((error: unknown) => `fails: ${error}`);
    if (what !== undefined) return { by, what };
  }
  return undefined;
}

/** Lists that may grow, tags that lead to a branch, and responses to events: `npm run diff` reports their changes. */
const READ_BY_NO_VALIDATOR = /x-extensible-enum|\/discriminator\/|^\/webhooks\/.*\/responses\//;

/** The first change that a version has to announce. */
function describeChange(document: Node, mutated: Node): string | undefined {
  const change = findChanges(document, mutated).find(({ level }) => level !== "patch");
  return change && `${change.level} in ${change.location}`;
}

/** Nothing after it is generated. */
function first([found]: Iterable<string>): string | undefined {
  return found;
}

/** The constraints at a location or below it, or else around it. */
function constraintsNear(pointer: string, constraints: readonly Constraint[]): readonly Constraint[] {
  const found = constraints.filter((constraint) => isWithin(constraint.pointer, pointer));
  return found.length > 0 || pointer === "" ? found : constraintsNear(holderOf(pointer), constraints);
}

/**
 * The calls to make for a mutant: all of the operations whose requests it is near, those of its own constraint first. When it is near
 * responses only, one call for each kind of response is enough to show the difference.
 */
function callsNear({ pointer }: Mutant, near: readonly Constraint[], { derived, cases }: Calls): Calls {
  const requests = new Set(
    near.flatMap((constraint) => (constraint.side === "request" ? constraint.operationId : [])),
  );
  if (requests.size === 0) return { derived: oneOfEach(derived), cases: oneOfEach(cases) };
  const isNear = ({ operation }: RequestCase) => requests.has(operation);
  const rank = (derivedCase: DerivedCase) => (isWithin(derivedCase.pointer, pointer) ? 0 : 1);
  return {
    derived: derived.filter(isNear).toSorted((a, b) => rank(a) - rank(b)),
    cases: cases.filter(isNear),
  };
}

/** The first call of each kind of response. */
function oneOfEach<Each extends RequestCase>(cases: readonly Each[]): Each[] {
  const groups = Map.groupBy(cases, ({ operation, expected: { status, type, members } }) =>
    [operation, status, type, members?.["/paymentStatus"]].join(" "),
  );
  return [...groups.values()].flatMap(([first]) => first ?? []);
}
