import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Caller, FindCaller, Refusal } from "./authenticate.ts";
import { unavailable } from "./errors.ts";
import { type IssuerKeys, KeysUnavailableError } from "./issuer-keys.ts";

export interface TokenOptions {
  issuer: string;
  audience: string;
  algorithm: "ES256" | "RS256";
  keys: IssuerKeys;
  /** Real time. */
  realNow: () => Date;
}

/** How far the issuer's clock and this one may differ. */
const LEEWAY_SECONDS = 60;
const MAX_MERCHANT_LENGTH = 255;

/**
 * Verifies access tokens as JWTs of one issuer (D18): signature by the one algorithm that is set, `iss`, `aud`, `exp` and, where
 * it is there, `nbf`. Throws `UNAVAILABLE` when the issuer's keys can't be had, which is not the caller's fault.
 */
export function verifyTokens({ issuer, audience, algorithm, keys, realNow }: TokenOptions): FindCaller {
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        issuer,
        audience,
        algorithms: [algorithm],
        requiredClaims: ["exp"],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: realNow(),
      });
      return toCaller(payload);
    } catch (error) {
      if (error instanceof KeysUnavailableError) throw unavailable(error);
      if (error instanceof errors.JOSEError) return { reason: toReason(error) };
      throw error;
    }
  };
}

/** The check that failed, by its name: the library's message may repeat what the token says. */
function toReason(error: errors.JOSEError): string {
  const claim = "claim" in error && typeof error.claim === "string" ? ` ${error.claim}` : "";
  return error.code + claim;
}

function toCaller({ merchant_id: merchant, scope }: JWTPayload): Caller | Refusal {
  if (typeof merchant !== "string" || !isStorable(merchant)) return { reason: "no usable merchant_id" };
  const scopes = typeof scope === "string" ? scope.split(" ").filter((name) => name !== "") : [];
  return { merchant, scopes };
}

/** The database has no text with U+0000, and would store a lone surrogate as another character. */
function isStorable(text: string): boolean {
  return text !== "" && text.length <= MAX_MERCHANT_LENGTH && !text.includes("\0") && text.isWellFormed();
}
