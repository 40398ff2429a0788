import type { Constraint } from "./constraint.ts";

/** Whose token a call carries: a good one, none, one that nobody was given, a good one without the operation's scope. */
export type TokenKind = "valid" | "absent" | "unknown" | "unscoped";

/** A call to any server of the contract, as it goes over the wire. */
export type Call = {
  readonly operationId: string;
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
  /** How `Authorization` is written: `Bearer` and the token, unless `headers` says it. */
  readonly token: TokenKind;
  /** Everything but the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it goes over the wire. */
  readonly body?: string;
};

/** A call made to tell whether a server keeps a constraint. */
export type ConstraintRequest = {
  readonly constraint: Constraint;
  /** What is special about the call, such as `/amount/value is "1", smallest body`. */
  readonly name: string;
  readonly call: Call;
};

/** A call that breaks one constraint and nothing else, and the response that the document promises. */
export type BreakingRequest = ConstraintRequest & {
  readonly expected: {
    readonly status: number;
    readonly code: string;
    /** Of a 400: what its only violation points at. */
    readonly pointer?: string;
  };
};

/**
 * A call that goes as far as a constraint allows.
 * The resource may still be missing or taken: then the response is a 404 or 409.
 */
export type AcceptedRequest = ConstraintRequest & {
  /** The documented statuses that say that the call was understood. */
  readonly outcomes: readonly number[];
};

export type RequestOptions = {
  /** Begins every requestKey, so that no two runs against one server share any. */
  readonly requestKeyPrefix: string;
  /** What to send instead of ids that the document's examples name, such as `pay_settled`. */
  readonly ids?: Readonly<Record<string, string>>;
};

/** The member that differs between any two calls: a server that stores one by mistake would refuse the next for that. */
export const UNIQUE_MEMBER = "requestKey";

/** The same body under another key, if it has one. */
export function withKey(body: unknown, key: string): unknown {
  const has = typeof body === "object" && body !== null && UNIQUE_MEMBER in body;
  return has ? { ...body, [UNIQUE_MEMBER]: key } : body;
}
