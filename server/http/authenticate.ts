import { createHash } from "node:crypto";
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
export function findByHash(findToken: (tokenSha256: Buffer) => Promise<Caller | undefined>): FindCaller {
  return async (token) => {
    const caller = await findToken(createHash("sha256").update(token).digest());
    return caller ?? { reason: "unknown token" };
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
