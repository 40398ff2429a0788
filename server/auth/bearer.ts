import { ProblemError } from "../contract/problem.ts";

/** The owner of an access token, and what the token allows. */
export interface Caller {
  merchant: string;
  scopes: readonly string[];
}

/** Why an access token is not accepted. The reason is logged, so it must hold no part of the token. */
export interface Refusal {
  reason: string;
}

/** Finds the owner of an access token (D18). Rejects when the token can't be verified now. */
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

/** Throws `FORBIDDEN` when the caller lacks one of the scopes. */
export function authorize(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ProblemError("FORBIDDEN", {
    detail: `The access token lacks the scope that this operation needs: ${missing.join(", ")}.`,
  });
}
