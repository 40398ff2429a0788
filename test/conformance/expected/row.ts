import type { Node } from "../../../openapi/document/node.ts";
import type { ExceptionName } from "./exceptions.ts";
import { variantsOf } from "./message.ts";

export type OperationId = "issueRefund" | "subscribeToWebhooks";

/** The path of each operation. */
export const PATHS: Readonly<Record<OperationId, string>> = {
  issueRefund: "/v1/refunds",
  subscribeToWebhooks: "/v1/webhook/subscribe",
};

/** Removes a member from a body. */
export const GONE = undefined;

/** A value exactly as written on the wire: `raw("10.00")`. */
export type Raw = { readonly raw: string };
export const raw = (text: string): Raw => ({ raw: text });

/**
 * Members of a body by their JSON Pointers, applied to the operation's base body one after the other. Only the last one can be
 * raw.
 */
export type Edits = Readonly<Record<string, unknown>>;

/**
 * The token of a request. `other` has only the other operation's scope; `full` belongs to a merchant with the largest number
 * of live subscriptions.
 */
export type Token = "valid" | "absent" | "unknown" | "unscoped" | "other" | "full";

/** The access token to send for each kind; `absent` sends none. */
export type Tokens = Readonly<Record<Exclude<Token, "absent">, string>>;

export type Expected = {
  readonly status: number;
  /** The code of a problem. */
  readonly code?: string;
  /** The pointers of the violations, in any order. */
  readonly pointers?: readonly string[];
  /** Values in the response, by their pointers. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The message of the first violation. */
  readonly mentions?: readonly RegExp[];
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** `problem`: `application/problem+json`. */
  readonly type: "json" | "problem";
  /** The request belongs to no operation, so that the document has no schema for it. */
  readonly noOperation?: boolean;
};

/**
 * One request and the response that the decisions promise for it; written by hand, and not derived from the document. The
 * server's tests, the mock's, the conformance kit and the fuzzer all take their cases from these rows.
 */
export type Row = {
  readonly name: string;
  /** Id of the conformance check that sends it to any server. Rows without one depend on records of our own tests. */
  readonly check?: string;
  readonly operation: OperationId;
  readonly edits: Edits;
  /** The whole body exactly as sent, instead of the base body with edits. */
  readonly text?: string | Uint8Array;
  /** Replace those of the base request; null leaves one out. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly token: Token;
  readonly method: string;
  readonly path: string;
  readonly expected: Expected;
  /** How the mock's response differs from the server's. */
  readonly mock?: ExceptionName;
};

/** The parts of a row besides its operation and name; the rest is as in the base request. */
export type Differences = Partial<Omit<Row, "operation" | "name" | "expected">> & {
  readonly expected: Omit<Expected, "type"> & { readonly type?: Expected["type"] };
};

export function row(operation: OperationId, name: string, { expected, ...differences }: Differences): Row {
  return {
    name: `${operation}: ${name}`,
    operation,
    edits: {},
    headers: {},
    token: "valid",
    method: "POST",
    path: PATHS[operation],
    ...differences,
    expected: { type: "json", ...expected },
  };
}

/** Values by their descriptions. */
type Values = Readonly<Record<string, unknown>>;

/** Rows that set each value at a pointer of the base body with `edits`, and get the same response. */
export function rowsAt(
  operation: OperationId,
  pointer: string,
  values: Values,
  differences: Differences,
): Row[] {
  return Object.entries(values).map(([label, value]) =>
    row(operation, `${pointer || "the body"} ${label}`, {
      ...differences,
      edits: { ...differences.edits, [pointer]: value },
    }),
  );
}

/** Values at a pointer that make the body a 400, whose only violation points there, or at `violationAt`. */
export function refused(
  operation: OperationId,
  pointer: string,
  values: Values,
  { violationAt = pointer, ...more }: Partial<Differences> & { readonly violationAt?: string } = {},
): Row[] {
  const expected = { status: 400, code: "INVALID_REQUEST", pointers: [violationAt], ...more.expected };
  return rowsAt(operation, pointer, values, { ...more, expected });
}

/** The parts of a variant's row: what an accepted one is expected to get, and what differs in a refused one. */
type Outcomes = {
  readonly accepted: (value: unknown) => Differences;
  readonly refused?: Partial<Differences>;
};

/** Rows for every variant of a body at the chosen pointers: those that the limits allow are accepted, and all others refused. */
export function rowsWithin(
  operation: OperationId,
  { name, body, limits }: { readonly name?: string; readonly body: unknown; readonly limits: Node },
  at: RegExp,
  { accepted, refused: more = {} }: Outcomes,
): Row[] {
  return variantsOf(body, limits)
    .filter(({ edit: { pointer } }) => at.test(pointer))
    .map(({ label, edit: { pointer, json = "" }, violations }) => {
      const pointers = violations.map((violation) => violation.pointer);
      const expected = { status: 400, code: "INVALID_REQUEST", pointers, ...more.expected };
      const differences = violations.length === 0 ? accepted(JSON.parse(json)) : { ...more, expected };
      const edits = { ...differences.edits, [pointer]: raw(json) };
      return row(operation, name === undefined ? label : `${name}: ${label}`, { ...differences, edits });
    });
}
