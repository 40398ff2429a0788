import type { IncomingHttpHeaders } from "node:http";
import { ProblemError } from "../contract/problem.ts";

/** Authenticates by the `Authorization` header. Throws `UNAUTHORIZED`. */
export async function authenticate(headers: IncomingHttpHeaders, findCaller: FindCaller): Promise<Caller> {
  const token = headers.authorization?.match(BEARER)?.[1];
  const found = token ? await findCaller(token, headers) : { reason: "no bearer token" };
  if ("merchant" in found) return found;
  throw new ProblemError("UNAUTHORIZED", {
    headers: ATTEMPT.test(headers.authorization ?? "")
      ? REFUSED_TOKEN_HEADERS
      : { "WWW-Authenticate": "Bearer" },
    reason: found.reason,
    detail: token === undefined ? explain(headers) : `The access token is unknown or expired. ${REMEDY}`,
  });
}

/** The owner of an access token, and what the token allows. */
export type Caller = {
  merchant: string;
  scopes: readonly string[];
  /** The claims `sub`, `client_id` and `jti` of a JWT, where it has them. */
  subject?: string | undefined;
  clientId?: string | undefined;
  tokenId?: string | undefined;
};

/** Why an access token is not accepted. The reason is logged, so it must hold no part of the token. */
export type Refusal = { reason: string };

/** Finds the owner of an access token (D18) that came with these headers. Rejects when the token can't be verified now. */
export type FindCaller = (token: string, headers: IncomingHttpHeaders) => Promise<Caller | Refusal>;

/** The headers of a 401 for a token. Without a token, the challenge names no error (RFC 6750, 3.1). */
export const REFUSED_TOKEN_HEADERS = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/** Any token, even a malformed one. */
const ATTEMPT = /^bearer +[^ ]/i;

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

const REMEDY = "Send Authorization: Bearer <ACCESS_TOKEN>.";
/** Headers that callers send instead. */
const OTHER_HEADERS =
  /^(x-)?(api-?key|access-?token|auth-?token|token|auth|authori[sz]ation|authentication|autorization|authorisation)$/;

/** Says which usual mistake was made, without any part of what may be a token. */
function explain(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    const other = Object.keys(headers).find((name) => OTHER_HEADERS.test(name));
    return `The header Authorization is missing${other ? `; ${other} is not read` : ""}. ${REMEDY}`;
  }
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  if (/^bearer$/i.test(scheme))
    return rest.length === 0
      ? `Authorization has no access token after Bearer. ${REMEDY}`
      : `What follows Bearer is no access token: it has spaces, quotes or other characters around or in it. ${REMEDY}`;
  if (rest.length === 0) return `Authorization must begin with the word Bearer. ${REMEDY}`;
  const named = /^[a-z]{1,10}:?$/i.test(scheme) ? `, not with ${scheme}` : "";
  return `Authorization must begin with the word Bearer${named}. ${REMEDY}`;
}
