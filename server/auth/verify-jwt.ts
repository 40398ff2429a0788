import type { IncomingHttpHeaders } from "node:http";
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from "jose";
import type { AuthSettings } from "../config/config.ts";
import { unavailable } from "../contract/problem.ts";
import type { Caller, FindCaller, Refusal } from "./bearer-token.ts";
import { findBindingError } from "./client-certificate.ts";
import { type IssuerKeys, KeysUnavailableError } from "./issuer-keys.ts";

/**
 * Verifies access tokens as JWTs of one issuer (D18): the signature by the one configured algorithm, `iss`, `aud`, `exp` and,
 * if present, `nbf` and `cnf`. Throws `UNAVAILABLE` when the issuer's keys can't be fetched, because that is not the caller's
 * mistake. A signature is verified once for each key, because it costs more than all other checks of a call.
 */
export function verifyJwts(options: JwtOptions): FindCaller {
  const remembered = new Map<string, Verified>();
  return async (token, headers) => {
    try {
      const now = options.realNow();
      const known = remembered.get(token);
      const verified =
        known && (await isStillValid(known, now, options)) ? known : await verify(token, now, options);
      if ("reason" in verified) return verified;
      remembered.set(token, verified);
      if (remembered.size > MAX_REMEMBERED) remembered.clear();
      return toCaller(verified, { now, headers, ...options });
    } catch (error) {
      // The cause is left out: it is logged once for all requests that need the keys.
      if (error instanceof KeysUnavailableError)
        throw unavailable(undefined, error.message, error.retryAfterSeconds);
      if (error instanceof errors.JOSEError) return { reason: toReason(error) };
      throw error;
    }
  };
}

export type JwtOptions = Omit<AuthSettings, "jwksUrl" | "keysMaxAgeSeconds"> & {
  keys: IssuerKeys;
  /** Real time. */
  realNow: () => Date;
};

/** The difference that is allowed between the issuer's clock and this one. */
const LEEWAY_SECONDS = 60;
const MAX_NAME_LENGTH = 255;
/** The media types of an access token (RFC 9068); a token of another type, such as an ID token, was not made for an API. */
const ACCESS_TOKEN_TYPES = ["at+jwt", "application/at+jwt"];

/** Verified tokens that are remembered; when there are more, all are forgotten. */
const MAX_REMEMBERED = 1_000;

type Verified = JWTVerifyResult & { readonly key: CryptoKey };

/** Whether nothing has changed since a token was verified: its key is still in use, and it has not expired. */
async function isStillValid({ payload, protectedHeader, key }: Verified, now: Date, { keys }: JwtOptions) {
  const isInTime = now.getTime() < (payload.exp ?? 0) * 1000;
  return isInTime && (await keys.find(protectedHeader.kid)).includes(key);
}

/**
 * Verifies a token by the key that it names. An unknown key may be new, so the keys are fetched again before the token is refused,
 * unless its claims are wrong anyway.
 */
async function verify(token: string, currentDate: Date, options: JwtOptions): Promise<Verified | Refusal> {
  const { issuer, audience, algorithm, keys } = options;
  const decoded = decode(token);
  if (decoded === undefined) return { reason: "not a JWT" };
  const { alg, kid } = decoded.header;
  if (alg !== algorithm) return { reason: "alg is not AUTH_ALGORITHM" };
  const rules = { issuer, audience, clockTolerance: LEEWAY_SECONDS, currentDate };
  const known = await keys.find(kid);
  const verified = await verifyByAny(token, known, rules);
  if (verified) return verified;
  if (kid !== undefined && known.length > 0) return { reason: "not signed by the key that it names" };
  const error = findClaimError(decoded.claims, currentDate, options);
  if (error) return { reason: `signed by an unknown key, and ${error}` };
  await keys.renew();
  const renewed = await verifyByAny(token, await keys.find(kid), rules);
  return renewed ?? { reason: "no key of the issuer has signed it" };
}

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Undefined when none of the keys has signed the token. Throws a `JOSEError` when one has, and a claim is wrong. */
async function verifyByAny(token: string, keys: readonly CryptoKey[], rules: JWTVerifyOptions) {
  for (const key of keys) {
    try {
      return { ...(await jwtVerify(token, key, rules)), key };
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  return undefined;
}

/** What makes a token invalid, whatever key has signed it. */
function findClaimError(
  { iss, aud, exp = 0 }: JWTPayload,
  now: Date,
  { issuer, audience }: JwtOptions,
): string | undefined {
  if (iss !== issuer) return "iss is not AUTH_ISSUER";
  if (![aud].flat().includes(audience)) return "aud is not AUTH_AUDIENCE";
  return exp + LEEWAY_SECONDS <= now.getTime() / 1000 ? "exp has passed" : undefined;
}

/** The name of the failed check, and not the library's message, which may repeat the token's content. */
function toReason(error: errors.JOSEError): string {
  const claim = "claim" in error && typeof error.claim === "string" ? ` ${error.claim}` : "";
  return error.code + claim;
}

type CallerOptions = JwtOptions & { now: Date; headers: IncomingHttpHeaders };

function toCaller(
  { payload, protectedHeader: { typ } }: JWTVerifyResult,
  { now, headers, maxLifetimeSeconds, clientCertHeader }: CallerOptions,
): Caller | Refusal {
  if (typ !== undefined && (typeof typ !== "string" || !ACCESS_TOKEN_TYPES.includes(typ.toLowerCase())))
    return { reason: "not an access token by its typ" };
  const {
    exp,
    iat,
    cnf,
    merchant_id: merchant,
    scope,
    sub: subject,
    client_id: clientId,
    jti: tokenId,
  } = payload;
  const seconds = now.getTime() / 1000;
  if (iat !== undefined && iat > seconds + LEEWAY_SECONDS) return { reason: "iat is in the future" };
  const latest = Math.min(seconds, iat ?? seconds) + maxLifetimeSeconds + LEEWAY_SECONDS;
  if (exp === undefined || exp > latest) return { reason: "exp is missing or beyond AUTH_MAX_LIFETIME" };
  const bindingError = findBindingError(cnf, headers, clientCertHeader);
  if (bindingError) return { reason: bindingError };
  if (merchant === undefined || !isName(merchant)) return { reason: "no usable merchant_id" };
  // They are stored with the call's refund, so a token whose names can't be stored is refused.
  if (!isName(subject)) return { reason: "no usable sub" };
  if (!isName(clientId)) return { reason: "no usable client_id" };
  if (!isName(tokenId)) return { reason: "no usable jti" };
  const scopes = typeof scope === "string" ? scope.split(" ").filter((name) => name !== "") : [];
  return { merchant, scopes, subject, clientId, tokenId };
}

/**
 * Whether a claim is absent, or a name that can be stored: PostgreSQL would store a lone surrogate as another character, and a
 * control character could change logs and terminals.
 */
function isName(claim: unknown): claim is string | undefined {
  if (claim === undefined) return true;
  if (typeof claim !== "string" || claim === "" || claim.length > MAX_NAME_LENGTH) return false;
  return !/\p{Cc}/u.test(claim) && claim.isWellFormed();
}
