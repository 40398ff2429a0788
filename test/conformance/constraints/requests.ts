/** Derives requests from the constraints in the document: one breaks maxLength 64 with 65 characters, one just obeys it with 64. */
import type { Constraint } from "../../../openapi/document/constraints.ts";
import { dereference, type Node } from "../../../openapi/document/document-node.ts";
import { shorten } from "../../../openapi/document/keyword-test-values.ts";
import { KEYWORDS } from "../../../openapi/document/known-keywords.ts";
import { toPointer, valueAt } from "../../../openapi/document/pointer.ts";
import { type Operation, toContract } from "../../../openapi/document/read-contract.ts";
import { acceptedChanges, type BodyModel, baseOf, breakingChanges } from "./bodies.ts";
import { acceptedCalls, breakingCalls, type Call, type CallChange } from "./headers.ts";
import {
  createFindViolations,
  type FindViolations,
  replaceTexts,
  requestSchema,
  write,
} from "./json-edits.ts";

/** A call that tests whether a server enforces a constraint. */
export type ConstraintRequest = {
  readonly constraint: Constraint;
  /** The difference from the base call, such as `/amount/value is "1", smallest body`. */
  readonly name: string;
  readonly call: Call;
};

/** A call that violates only one constraint, and the response that the document promises. */
export type BreakingRequest = ConstraintRequest & {
  readonly expected: {
    readonly status: number;
    readonly code: string;
    /** For a 400: the pointer of its only violation. */
    readonly pointer?: string;
  };
};

/** A call at the limit of a constraint. The resource may still be missing or taken: then the response is a 404 or 409. */
export type AcceptedRequest = ConstraintRequest & {
  /** The documented statuses of valid calls. */
  readonly outcomes: readonly number[];
};

type RequestOptions = {
  /** The prefix of every requestKey, so that no two runs against one server share a key. */
  readonly requestKeyPrefix: string;
  /** Replacements for the ids in the document's examples, such as `pay_settled`. */
  readonly ids?: Readonly<Record<string, string>>;
};

type Kind = "breaking" | "obeying";

/**
 * For each constraint on requests, calls that violate only that. Throws when it can't create one. The only
 * constraint on responses that a request can violate is `content`, by accepting none of its media types.
 */
export function breakingRequests(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
): BreakingRequest[] {
  return requestsFor(document, constraints, options, "breaking").map(({ subject, change, ...request }) => {
    const { status, pointer } = change;
    const code = subject.codes.get(status);
    if (code === undefined) throw new Error(`${request.call.operationId} does not document ${status}`);
    return { ...request, expected: { status, code, ...(pointer !== undefined && { pointer }) } };
  });
}

/** For each constraint on requests, calls at its limits, which must not be refused. */
export function acceptedRequests(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
): AcceptedRequest[] {
  return requestsFor(document, constraints, options, "obeying").map(({ subject, change: _, ...request }) => {
    const understood = (status: number) => status < 300 || status === 404 || status === 409;
    return { ...request, outcomes: [...subject.codes.keys()].filter(understood) };
  });
}

type Subject = {
  readonly operation: Operation;
  readonly parameters: readonly Node[];
  /** Error codes by documented status; empty for a success. */
  readonly codes: ReadonlyMap<number, string>;
  /** Undefined when the operation takes no body. */
  readonly body: BodyModel | undefined;
  readonly options: RequestOptions;
  readonly findViolations: FindViolations;
};

type Draft = ConstraintRequest & { readonly subject: Subject; readonly change: CallChange };

function requestsFor(
  document: Node,
  constraints: readonly Constraint[],
  options: RequestOptions,
  kind: Kind,
): Draft[] {
  const findViolations = createFindViolations(document);
  let count = 0;
  const nextKey = () => `${options.requestKeyPrefix}${++count}`;
  return toContract(document).operations.flatMap((operation) => {
    const own = constraints.filter((constraint) => isAbout(operation, constraint));
    const subject = toSubject(document, { operation, own, options, findViolations });
    return own.flatMap((constraint) =>
      changesFor(subject, constraint, kind, nextKey).map((change) => {
        const call = { ...toCall(subject, nextKey()), ...change.changes };
        return { constraint, name: change.name, call, subject, change };
      }),
    );
  });
}

function isAbout({ id }: Operation, { operationId, side, keyword, status, part }: Constraint): boolean {
  if (id !== operationId) return false;
  const isServed = side === "response" && keyword === "content" && part.in === "call";
  return side === "request" || (isServed && Number(status) < 300);
}

function toSubject(
  document: Node,
  given: Pick<Subject, "operation" | "options" | "findViolations"> & { readonly own: readonly Constraint[] },
): Subject {
  const { operation, own, options, findViolations } = given;
  const { path, method, requests, statuses, responses } = operation;
  const pointer = toPointer(["paths", path, method.toLowerCase()]);
  const schema = requestSchema(document, pointer);
  const codeOf = (status: number) => {
    const example = responses.find((response) => response.status === status)?.value;
    return [status, String(valueAt(example, "/errorDetails/errorCode") ?? "")] as const;
  };
  return {
    ...{ operation, options, findViolations },
    parameters: (dereference(document, `${pointer}/parameters`) ?? []) as Node[],
    codes: new Map(statuses.map(codeOf)),
    body:
      schema === undefined
        ? undefined
        : {
            schema: dereference(document, schema) as Node,
            constraints: own.filter(({ part }) => part.in === "body"),
            examples: requests.map(({ value }) =>
              withKey(replaceTexts(value, options.ids ?? {}), `${options.requestKeyPrefix}0`),
            ),
            violationsOf: (value) => findViolations(schema, value),
          },
  };
}

function toCall(subject: Subject, key: string): Call {
  const { operation, body } = subject;
  const text = body && JSON.stringify(withKey(baseOf(body, "smallest"), key));
  return {
    operationId: operation.id,
    method: operation.method,
    path: fillPath(subject),
    token: "valid",
    headers: {
      ...(text !== undefined && { "Content-Type": "application/json" }),
      Accept: "application/json",
    },
    ...(text !== undefined && { body: text }),
  };
}

/** The path with the examples of its parameters, or with other values for some of them. */
function fillPath(
  { operation, parameters, options }: Subject,
  texts: Readonly<Record<string, string>> = {},
): string {
  const examples = Object.fromEntries(parameters.map(({ name, example }) => [name, example]));
  const all = { ...(replaceTexts(examples, options.ids ?? {}) as Record<string, string>), ...texts };
  const inQuery = (name: string) => parameters.some((one) => one.name === name && one.in === "query");
  const query = new URLSearchParams(Object.entries(texts).filter(([name]) => inQuery(name))).toString();
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_text, name: string) => {
    if (all[name] === undefined)
      throw new Error(`The parameter ${name} of ${operation.id} needs an example.`);
    return encodeURIComponent(all[name]);
  });
  return query === "" ? filled : `${filled}?${query}`;
}

function changesFor(
  subject: Subject,
  constraint: Constraint,
  kind: Kind,
  nextKey: () => string,
): CallChange[] {
  const { part } = constraint;
  const isBreaking = kind === "breaking";
  if (part.in === "call")
    return (isBreaking ? breakingCalls : acceptedCalls)(constraint, toCall(subject, nextKey()));
  if (part.in !== "body") return isBreaking ? breakingParameters(subject, constraint, part) : [];
  if (!subject.body) throw new Error(`${constraint.id} is about a body that its operation does not have`);
  const changes = (isBreaking ? breakingChanges : acceptedChanges)(subject.body, constraint);
  return changes.map(({ base, body, pointer, json = "", violation }) => ({
    name: `${pointer || "the body"} is ${shorten(JSON.parse(json))}, ${base} body`,
    changes: { body: writeWithKey(body, { pointer, json }, nextKey()) },
    status: 400,
    pointer: violation,
  }));
}

type ParameterPart = Exclude<Constraint["part"], { in: "body" | "call" }>;

/** Paths with other values of a parameter. Throws when none breaks its constraint, though one could. */
function breakingParameters(
  subject: Subject,
  { value, pointer, keyword, holder, id }: Constraint,
  { in: where, name }: ParameterPart,
): CallChange[] {
  // Malformed ones are ignored (D33), so only the size of a request's head limits them.
  if (where === "header") return [];
  const parameter = subject.parameters.find((one) => one.name === name && one.in === where);
  const occurrence = { value, schema: holder, current: parameter?.example, others: [] };
  // A string is sent unchanged, anything else as JSON.
  const texts = (KEYWORDS[keyword]?.breaking?.(occurrence) ?? [])
    .map((json) => (typeof JSON.parse(json) === "string" ? (JSON.parse(json) as string) : json))
    .filter((text) => text.isWellFormed() && (where === "query" || text !== ""));
  // That of the parameter, or the component to which it refers.
  const schema = pointer.replace(/(\/schema|\/schemas\/[^/]+)\/.*$/, "$1");
  const found = [...new Set(texts)].filter((text) => keywordsBroken(subject, schema, text).has(keyword));
  if (found.length === 0 && !cannotBeBroken(where, keyword, value))
    throw new Error(`no request breaks only: ${id}`);
  return found.map((text) => ({
    name: `${name} is ${shorten(text)}`,
    changes: { path: fillPath(subject, { [name]: text }) },
    status: 400,
    // The sandbox's convention: a violation outside the body points into `/query` or `/params`.
    pointer: `/${where === "path" ? "params" : where}/${name}`,
  }));
}

/** Every parameter is a string; and without a path parameter, or with an empty one, the call goes to another path. */
function cannotBeBroken(where: string, keyword: string, value: unknown): boolean {
  if (keyword === "type" && value === "string") return true;
  return where === "path" && (keyword === "required" || keyword === "minLength");
}

/** The violations of a parameter's schema in a value, which is parsed if it is a number. */
function keywordsBroken({ findViolations }: Subject, schema: string, text: string): ReadonlySet<string> {
  const violations = (value: unknown) =>
    new Set(findViolations(schema, value).flatMap(({ keywords }) => [...keywords]));
  const asText = violations(text);
  if (!asText.has("type") || !/^-?\d+(\.\d+)?$/.test(text)) return asText;
  return violations(Number(text));
}

/** Differs in all calls: otherwise a server that accepted one by mistake would refuse the next one as a duplicate. */
const UNIQUE_MEMBER = "requestKey";

/** The same body under another key, if it has one. */
function withKey(body: unknown, key: string): unknown {
  const has = typeof body === "object" && body !== null && UNIQUE_MEMBER in body;
  return has ? { ...body, [UNIQUE_MEMBER]: key } : body;
}

function writeWithKey(
  body: unknown,
  { pointer, json }: { pointer: string; json: string },
  key: string,
): string {
  if (pointer === "") return JSON.stringify(withKey(JSON.parse(json), key));
  return write(pointer === `/${UNIQUE_MEMBER}` ? body : withKey(body, key), { pointer, json });
}
