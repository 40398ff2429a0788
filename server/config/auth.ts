import { ConfigError, type Environment, oneOf } from "./read.ts";

/** Whose access tokens production accepts, and how it checks them (D18). */
export interface AuthSettings {
  /** The `iss` of a token, character for character. */
  issuer: string;
  /** One of the values in the `aud` of a token. */
  audience: string;
  /** Where the issuer's public keys are. */
  jwksUrl: URL;
  /** The only algorithm there is: a token does not choose. */
  algorithm: "ES256" | "RS256";
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Reads the settings of access tokens, each of which is required. Throws {@link ConfigError}. */
export function readAuth(env: Environment): AuthSettings {
  return {
    issuer: required(env, "AUTH_ISSUER", "the iss claim of the access tokens"),
    audience: required(env, "AUTH_AUDIENCE", "the aud claim of the access tokens"),
    jwksUrl: jwksUrl(required(env, "AUTH_JWKS_URL", "the address of the issuer's public keys")),
    algorithm: algorithm(env),
  };
}

function required(env: Environment, name: string, what: string): string {
  const value = env[name]?.trim();
  if (!value) throw new ConfigError(`${name} is required in production: ${what}.`);
  return value;
}

/** Keys fetched in clear could be anybody's: only this machine may be asked without TLS. */
function jwksUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.username || url?.password) throw new ConfigError("AUTH_JWKS_URL must not hold credentials.");
  if (url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname))) return url;
  throw new ConfigError("AUTH_JWKS_URL must be an https:// address (http:// only to this machine itself).");
}

function algorithm(env: Environment): AuthSettings["algorithm"] {
  required(env, "AUTH_ALGORITHM", "ES256 or RS256, whichever the issuer signs with");
  return oneOf(env, "AUTH_ALGORITHM", ["ES256", "RS256"] as const, "ES256");
}
