export type OperationId = "issueRefund" | "subscribeToWebhooks";

/** Where each operation is called. */
export const PATHS: Readonly<Record<OperationId, string>> = {
  issueRefund: "/v1/refunds",
  subscribeToWebhooks: "/v1/webhook/subscribe",
};

/** Takes a member out of a body. */
export const GONE = undefined;

/** A value as it is written on the wire, where that matters: `raw("10.00")`. */
export type Raw = { readonly raw: string };
export const raw = (text: string): Raw => ({ raw: text });

/** Members of a body by their JSON Pointers, put over the operation's base body one after the other. Only the last can be raw. */
export type Edits = Readonly<Record<string, unknown>>;

/**
 * Whose token a call carries. `other`: with the other operation's scope alone. `full`: of a merchant with as many live
 * subscriptions as it may have.
 */
export type Token = "valid" | "absent" | "unknown" | "unscoped" | "other" | "full";

/** How the mock answers otherwise than the server; `mock.ts` has the reasons. */
export type ExceptionName =
  | "stores nothing"
  | "counts no subscriptions"
  | "knows no scopes"
  | "knows no tokens"
  | "wants Bearer as written"
  | "knows no two decimals"
  | "knows no raw text"
  | "looks at no address"
  | "compares no members"
  | "reads all that is like JSON"
  | "misses a body that has no media type"
  | "reads no other charset"
  | "own words for malformed JSON"
  | "own words for what is not acceptable";

export type Expected = {
  readonly status: number;
  /** Of a problem. */
  readonly code?: string;
  /** What the violations point at, in any order. */
  readonly pointers?: readonly string[];
  /** Values in the answer, by their pointers. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** `problem`: `application/problem+json`. */
  readonly type: "json" | "problem";
  /** Belongs to no operation, so that the document has no schema for it. */
  readonly outside?: boolean;
};

/** One call, and the answer that the decisions promise for it; written by hand, and not derived from the document. */
export type Row = {
  readonly name: string;
  readonly operation: OperationId;
  readonly edits: Edits;
  /** The whole body as it goes over the wire, instead of the base body with edits. */
  readonly text?: string;
  /** Over those of the base call; null leaves one out. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly token: Token;
  readonly method: string;
  readonly path: string;
  readonly expected: Expected;
  readonly mock?: ExceptionName;
};

/** What a row says beside its operation and its name; the rest is as in the base call. */
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

/** Values by what makes each of them special. */
type Values = Readonly<Record<string, unknown>>;

/** Rows that put each value at a pointer, over the base body and `edits`, and are answered alike. */
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

/** Values at a pointer that make the body a 400, whose only violation points there, or at `fault`. */
export function refused(
  operation: OperationId,
  pointer: string,
  values: Values,
  { fault = pointer, ...more }: Partial<Differences> & { readonly fault?: string } = {},
): Row[] {
  const expected = { status: 400, code: "INVALID_REQUEST", pointers: [fault], ...more.expected };
  return rowsAt(operation, pointer, values, { ...more, expected });
}
