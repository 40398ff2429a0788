import type { Constraint } from "./constraint.ts";

/** The token of a call: a valid one, none, an unknown one, or a valid one without the operation's scope. */
export type TokenKind = "valid" | "absent" | "unknown" | "unscoped";

/** A call to any server of the contract, as it goes over the wire. */
export type Call = {
  readonly operationId: string;
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
  /** The value of `Authorization`: `Bearer` and the token, unless `headers` sets it. */
  readonly token: TokenKind;
  /** All headers but the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly as sent. */
  readonly body?: string;
};

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

export type RequestOptions = {
  /** The prefix of every requestKey, so that no two runs against one server share a key. */
  readonly requestKeyPrefix: string;
  /** Replacements for the ids in the document's examples, such as `pay_settled`. */
  readonly ids?: Readonly<Record<string, string>>;
};

/**
 * The member that must differ between any two calls: after a server has accepted one by mistake, it would refuse the next
 * one as a duplicate.
 */
export const UNIQUE_MEMBER = "requestKey";

/** The same body under another key, if it has one. */
export function withKey(body: unknown, key: string): unknown {
  const has = typeof body === "object" && body !== null && UNIQUE_MEMBER in body;
  return has ? { ...body, [UNIQUE_MEMBER]: key } : body;
}
