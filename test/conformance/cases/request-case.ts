/** What a test case of the kit is: a change of a valid request, and the response that is promised. */
import { valueAt } from "../../../openapi/document/pointer.ts";
import { type HttpResponse, readContract } from "../../../openapi/document/read-contract.ts";
import { edit, write } from "../constraints/json-edits.ts";

/** The operations that get cases. One without a body needs none. */
export type OperationId = keyof typeof BODIES;

/** A valid body of each operation, which cases change. Every refund is sent with a requestKey of its own. */
export const BODIES = {
  issueRefund: { paymentId: "pay_settled", amount: { currency: "USD", value: 1 }, requestKey: "key" },
  subscribeToWebhooks: {
    url: "https://merchant.example.com/webhooks",
    secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
    subscriptionDetails: { type: "ALL" },
  },
} as const;

/** A value exactly as written on the wire: `raw("10.00")`. */
export type Raw = { readonly raw: string };
export const raw = (text: string): Raw => ({ raw: text });

/**
 * `other` has only the other operation's scope; `full` belongs to a merchant with the most subscriptions that there may be, `held` to
 * one whose refunds are held.
 */
export type Token = "valid" | "absent" | "unknown" | "unscoped" | "other" | "full" | "held";

/** The access token to send for each kind; `absent` sends none. */
export type Tokens = Readonly<Record<Exclude<Token, "absent">, string>>;

export type Expected = {
  /** Several for a request that is valid: the payment may be missing, or the key used. */
  readonly status: number | readonly number[];
  readonly code?: string;
  /** The pointers of the violations, in any order. */
  readonly pointers?: readonly string[];
  /** Values in the response, by their pointers. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The message of the first violation. */
  readonly mentions?: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** `problem`: `application/problem+json`. */
  readonly type?: "json" | "problem";
  /** The request belongs to no operation, so that the document has no schema for it. */
  readonly noOperation?: boolean;
};

/**
 * One request and its response, by the decisions: the order of checks, the outcomes of refunds, and the other behaviour that no
 * keyword of the document states. What a keyword states is tested by the requests in `constraints/`.
 */
export type RequestCase = {
  readonly name: string;
  /** The id of the check that sends it to any server. Cases without one need records of our own tests. */
  readonly check?: string;
  readonly operation: OperationId;
  /** Values by their pointers, set in the valid body one after the other. Undefined removes; only the last can be raw. */
  readonly edits: Readonly<Record<string, unknown>>;
  /** The whole body exactly as sent, instead of the valid body with edits. */
  readonly text?: string | Uint8Array;
  /** Replace those of a valid request; null leaves one out. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly token: Token;
  readonly method: string;
  readonly path: string;
  readonly expected: Expected;
};

/** What a case says besides its operation and name; the rest is as in a valid request. */
export type Differences = Partial<Omit<RequestCase, "operation" | "name">>;

const contract = readContract("openapi");
export const pathOf = (operation: OperationId): string => contract.operation(operation).path;
export const successOf = (operation: OperationId): number => {
  const [success] = contract.operation(operation).statuses;
  if (success === undefined) throw new Error(`The contract has no response of ${operation}.`);
  return success;
};

export function defineCase(operation: OperationId, name: string, differences: Differences): RequestCase {
  return {
    name: `${operation}: ${name}`,
    ...{ operation, edits: {}, headers: {}, token: "valid", method: "POST", path: pathOf(operation) },
    expected: { status: successOf(operation) },
    ...differences,
  } as const;
}

/** Values by their descriptions, which complete the sentence "<member> …". */
export type Values = Readonly<Record<string, unknown>>;

/** Cases that set each value at a pointer of the valid body, and get the same response. */
export function casesAt(
  operation: OperationId,
  pointer: string,
  values: Values,
  differences: Differences = {},
): RequestCase[] {
  return Object.entries(values).map(([label, value]) =>
    defineCase(operation, `${pointer || "the body"} ${label}`, {
      ...differences,
      edits: { ...differences.edits, [pointer]: value },
    }),
  );
}

/** Values at a pointer that make the body a 400, whose only violation is there or at `violationAt`. */
export function refused(
  operation: OperationId,
  pointer: string,
  values: Values,
  { violationAt = pointer, ...more }: Partial<Differences> & { readonly violationAt?: string } = {},
): RequestCase[] {
  const expected = { ...invalid(violationAt), ...more.expected };
  return casesAt(operation, pointer, values, { ...more, expected });
}

/** A 400 with a violation at each of these pointers. */
export const invalid = (...pointers: string[]) => ({ status: 400, code: "INVALID_REQUEST", pointers });

/** Strings that are not well-formed; no pattern excludes them, because none would compile in every language. */
export const LONE_SURROGATES: Values = {
  "is the first high surrogate": "\uD800",
  "is the last low surrogate": "\uDFFF",
  "holds a lone high surrogate": "a\uDBFFb",
  "holds a lone low surrogate": "a\uDC00b",
  "holds surrogates in the wrong order": "\uDC00\uD800",
};

/** Characters next to the forbidden ones, and others that careless programs mishandle. */
export const ODD_CHARACTERS = '\u0001\n\r\t\u007F é\u2028\uD7FF\uE000\uFEFF\uFFFD😀\u{10FFFF}"\\';

/** The body of a case: a valid body with its edits. Every refund has its own key, which its case can set. */
export function bodyOf({ name, operation, edits, text }: RequestCase, given?: object): string | Uint8Array {
  if (text !== undefined) return text;
  const base = given ?? {
    ...BODIES[operation],
    ...(operation === "issueRefund" && { requestKey: `key of ${name}`.slice(0, 200) }),
  };
  const changes = Object.entries(edits).map(([pointer, value]) => ({ pointer, ...toJson(value) }));
  const last = changes.pop();
  const body = changes.reduce<unknown>(edit, base);
  return last ? write(body, last) : JSON.stringify(body);
}

function toJson(value: unknown): { json?: string } {
  if (value === undefined) return {};
  const isRaw = typeof value === "object" && value !== null && "raw" in value;
  return { json: isRaw ? (value as Raw).raw : JSON.stringify(value) };
}

/** How a response differs from the expected one: in its status, code, violations, headers and members. */
export function mismatchesOf(
  { expected }: RequestCase,
  { status, headers: received, body }: HttpResponse,
): string[] {
  const { code, pointers, mentions, headers = {}, members = {} } = expected;
  const violations = valueAt(body, "/violations");
  const found = Array.isArray(violations) ? violations.map(({ pointer }) => pointer) : undefined;
  const message = String(valueAt(body, "/violations/0/message"));
  const documented = [expected.status].flat();
  return [
    ...(documented.includes(status) ? [] : [`the status is ${status}, not ${documented.join(" or ")}`]),
    ...differs("errorCode", code, code && valueAt(body, "/errorDetails/errorCode")),
    ...differs("violations", pointers?.toSorted(), pointers && found?.toSorted()),
    ...(mentions && !mentions.test(message) ? [`the message is ${message}, without ${mentions}`] : []),
    ...Object.entries(headers).flatMap(([name, pattern]) =>
      pattern.test(received.get(name) ?? "") ? [] : [`header ${name}: ${received.get(name)}`],
    ),
    ...Object.entries(members).flatMap(([pointer, value]) => differs(pointer, value, valueAt(body, pointer))),
  ];
}

function differs(what: string, expected: unknown, found: unknown): string[] {
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? [] : [`${what} is ${got}, not ${wanted}`];
}
