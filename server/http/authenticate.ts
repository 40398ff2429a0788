import { createHash } from "node:crypto";
import { ProblemError } from "./problem.ts";

/** Who calls, and what the access token allows. */
export interface Caller {
  merchant: string;
  scopes: readonly string[];
}

/** Finds the bearer of a token by the token's SHA-256; tokens themselves are never stored (D18). */
export type FindToken = (tokenSha256: Buffer) => Promise<Caller | undefined>;

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Authenticates by the `Authorization` header. Throws `UNAUTHORIZED`. */
export async function authenticate(header: string | undefined, findToken: FindToken): Promise<Caller> {
  const token = header?.match(BEARER)?.[1];
  const caller = token && (await findToken(createHash("sha256").update(token).digest()));
  if (!caller) throw new ProblemError("UNAUTHORIZED", { headers: { "WWW-Authenticate": "Bearer" } });
  return caller;
}

/** Throws `FORBIDDEN` when the caller lacks one of the scopes. */
export function authorize(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ProblemError("FORBIDDEN", {
    detail: `The access token lacks the scope that this operation needs: ${missing.join(", ")}.`,
  });
}
