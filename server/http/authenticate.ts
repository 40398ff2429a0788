import { hash } from "node:crypto";
import { ProblemError } from "./problem.ts";

/** Who calls, and what the access token allows. */
export interface Caller {
  merchant: string;
  scopes: readonly string[];
}

/** Why a token is not accepted: for the log, and never with anything of the token in it. */
export interface Refusal {
  reason: string;
}

/** Finds the bearer of an access token (D18). Rejects when that can't be known now. */
export type FindCaller = (token: string) => Promise<Caller | Refusal>;

/** Finds the bearer of an opaque token by the token's SHA-256; tokens themselves are never stored (D18). */
export type FindToken = (tokenSha256: Buffer) => Promise<Caller | undefined>;

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Authenticates by the `Authorization` header. Throws `UNAUTHORIZED`. */
export async function authenticate(header: string | undefined, findCaller: FindCaller): Promise<Caller> {
  const token = header?.match(BEARER)?.[1];
  const found = token ? await findCaller(token) : { reason: "no bearer token" };
  if ("merchant" in found) return found;
  throw new ProblemError("UNAUTHORIZED", {
    headers: { "WWW-Authenticate": "Bearer" },
    reason: found.reason,
  });
}

/** Opaque tokens, of which the store has only the SHA-256. */
export function findByHash(findToken: FindToken): FindCaller {
  return async (token) => {
    const caller = await findToken(hash("sha256", token, "buffer"));
    return caller ?? { reason: "unknown token" };
  };
}

const MAX_KNOWN = 10_000;

/**
 * Remembers whom a token speaks for: a grant never changes, and is never taken back. Tokens that are not found are asked
 * for again, because another server may give them out.
 */
export function rememberCallers(findToken: FindToken): FindToken {
  const known = new Map<string, Caller>();
  return async (tokenSha256) => {
    const key = tokenSha256.toString("latin1");
    const caller = known.get(key) ?? (await findToken(tokenSha256));
    if (caller && !known.has(key)) {
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(key, caller);
    }
    return caller;
  };
}

/** Throws `FORBIDDEN` when the caller lacks one of the scopes. */
export function authorize(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ProblemError("FORBIDDEN", {
    detail: `The access token lacks the scope that this operation needs: ${missing.join(", ")}.`,
  });
}
