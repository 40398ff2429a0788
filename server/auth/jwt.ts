import { errors, type JWTPayload, jwtVerify } from "jose";
import type { AuthSettings } from "../config/config.ts";
import { unavailable } from "../contract/problem.ts";
import type { Caller, FindCaller, Refusal } from "./bearer.ts";
import { type IssuerKeys, KeysUnavailableError } from "./issuer-keys.ts";

export interface JwtOptions extends Omit<AuthSettings, "jwksUrl"> {
  keys: IssuerKeys;
  /** Real time. */
  realNow: () => Date;
}

/** The difference that is allowed between the issuer's clock and this one. */
const LEEWAY_SECONDS = 60;
const MAX_MERCHANT_LENGTH = 255;
/** The media types of an access token (RFC 9068); a token of another type, such as an ID token, was not made for an API. */
const ACCESS_TOKEN_TYPES = ["at+jwt", "application/at+jwt"];

/**
 * Verifies access tokens as JWTs of one issuer (D18): the signature by the one configured algorithm, `iss`, `aud`, `exp` and,
 * if present, `nbf`. Throws `UNAVAILABLE` when the issuer's keys can't be fetched, because that is not the caller's mistake.
 */
export function verifyJwts(options: JwtOptions): FindCaller {
  const { issuer, audience, algorithm, keys, realNow, maxLifetimeSeconds } = options;
  return async (token) => {
    try {
      const currentDate = realNow();
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
        issuer,
        audience,
        algorithms: [algorithm],
        requiredClaims: ["exp"],
        clockTolerance: LEEWAY_SECONDS,
        currentDate,
      });
      const { typ } = protectedHeader;
      if (typ !== undefined && !ACCESS_TOKEN_TYPES.includes(typ.toLowerCase()))
        return { reason: "not an access token by its typ" };
      const latest = currentDate.getTime() / 1000 + maxLifetimeSeconds + LEEWAY_SECONDS;
      if (payload.exp === undefined || payload.exp > latest)
        return { reason: "exp is beyond AUTH_MAX_LIFETIME" };
      return toCaller(payload);
    } catch (error) {
      // The cause is left out: it is logged once for all requests that need the keys.
      if (error instanceof KeysUnavailableError) throw unavailable(undefined, error.message);
      if (error instanceof errors.JOSEError) return { reason: toReason(error) };
      throw error;
    }
  };
}

/** The name of the failed check, and not the library's message, which may repeat the token's content. */
function toReason(error: errors.JOSEError): string {
  const claim = "claim" in error && typeof error.claim === "string" ? ` ${error.claim}` : "";
  return error.code + claim;
}

function toCaller({ merchant_id: merchant, scope }: JWTPayload): Caller | Refusal {
  if (typeof merchant !== "string" || !isStorable(merchant)) return { reason: "no usable merchant_id" };
  const scopes = typeof scope === "string" ? scope.split(" ").filter((name) => name !== "") : [];
  return { merchant, scopes };
}

/** PostgreSQL would store a lone surrogate as another character; a control character could change logs and terminals. */
function isStorable(text: string): boolean {
  return text !== "" && text.length <= MAX_MERCHANT_LENGTH && !/\p{Cc}/u.test(text) && text.isWellFormed();
}
