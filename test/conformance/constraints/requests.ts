import type { Node } from "../../../openapi/document/node.ts";
import { type Base, basesOf } from "./bases.ts";
import { createFindViolations } from "./body-check.ts";
import { acceptedChanges, breakingChanges } from "./body-requests.ts";
import { acceptedCalls, breakingCalls, type CallChange } from "./call-changes.ts";
import type { Constraint } from "./constraint.ts";
import { type Edit, write } from "./json.ts";
import { acceptedPaths, breakingPaths } from "./parameter-requests.ts";
import type { AcceptedRequest, BreakingRequest, ConstraintRequest, RequestOptions } from "./request.ts";
import { UNIQUE_MEMBER, withKey } from "./request.ts";
import { promised, type Subject, subjectsOf, toCall } from "./subject.ts";

/** The ways to change a call. */
const BREAKING = { body: breakingChanges, path: breakingPaths, call: breakingCalls };
const ACCEPTED = { body: acceptedChanges, path: acceptedPaths, call: acceptedCalls };

/**
 * For each constraint on requests, calls that violate only that. Throws when it can't create one. A request can violate only
 * one constraint on responses: it can accept none of the media types of a success.
 */
export function breakingRequests(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
): BreakingRequest[] {
  return requestsFor(document, constraints, options, BREAKING).map(({ subject, change, ...request }) => {
    const { status, pointer } = change;
    return {
      ...request,
      expected: { ...promised(subject, status), ...(pointer !== undefined && { pointer }) },
    };
  });
}

/** For each constraint on requests, calls at its limits, which must not be refused. */
export function acceptedRequests(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
): AcceptedRequest[] {
  return requestsFor(document, constraints, options, ACCEPTED).map(({ subject, change: _, ...request }) => {
    const understood = (status: number) => status < 300 || status === 404 || status === 409;
    return { ...request, outcomes: [...subject.codes.keys()].filter(understood) };
  });
}

type Draft = ConstraintRequest & { readonly subject: Subject; readonly change: CallChange };

function requestsFor(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
  makers: typeof BREAKING | typeof ACCEPTED,
): Draft[] {
  const findViolations = createFindViolations(document);
  let count = 0;
  return subjectsOf({ document, constraints, options, findViolations }).flatMap((subject) =>
    constraints
      .filter((constraint) => isAbout(subject, constraint))
      .flatMap((constraint) => {
        const nextKey = () => `${options.requestKeyPrefix}${++count}`;
        return changesFor(subject, constraint, makers, nextKey).map((change) => {
          const call = { ...toCall(subject, validBody(subject, nextKey())), ...change.changes };
          return { constraint, name: change.name, call, subject, change };
        });
      }),
  );
}

function isAbout(
  { operationId }: Subject,
  { operationId: id, side, keyword, status, part }: Constraint,
): boolean {
  if (id !== operationId) return false;
  return (
    side === "request" ||
    (side === "response" && keyword === "content" && part.in === "call" && Number(status) < 300)
  );
}

function changesFor(
  subject: Subject,
  constraint: Constraint,
  makers: typeof BREAKING | typeof ACCEPTED,
  nextKey: () => string,
): CallChange[] {
  const { part } = constraint;
  if (part.in === "call") return makers.call(constraint, toCall(subject, validBody(subject, nextKey())));
  if (part.in !== "body") {
    // The sandbox's convention: a violation outside the body points into `/query` or `/params`.
    const pointer = `/${part.in === "path" ? "params" : part.in}/${part.name}`;
    return makers
      .path(subject, constraint)
      .map(({ name, path }) => ({ name, changes: { path }, status: 400, pointer }));
  }
  if (!subject.body) throw new Error(`${constraint.id} is about a body that its operation does not have`);
  return makers.body(subject.body, constraint).map(({ name, base, edit, violation }) => ({
    name: `${name}, ${base.name} body`,
    changes: { body: writeWithKey(base, edit, nextKey()) },
    status: 400,
    pointer: violation,
  }));
}

function validBody({ body }: Subject, key: string): { body?: string } {
  const [base] = body === undefined ? [] : basesOf(body, []);
  return base === undefined ? {} : { body: JSON.stringify(withKey(base.body, key)) };
}

function writeWithKey({ body }: Base, edit: Edit, key: string): string {
  if (edit.pointer === "") return JSON.stringify(withKey(JSON.parse(edit.json ?? ""), key));
  return write(edit.pointer === `/${UNIQUE_MEMBER}` ? body : withKey(body, key), edit);
}
