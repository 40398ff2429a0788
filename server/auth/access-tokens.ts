import { hash } from "node:crypto";
import type { Logger } from "pino";
import type { AuthSettings, Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";
import type { Caller, FindCaller } from "./bearer-token.ts";
import { createIssuerKeys, type IssuerKeysOptions } from "./issuer-keys.ts";
import { verifyJwts } from "./verify-jwt.ts";

/** Verifies the tokens of the mode: those of the store in the sandbox, those of the issuer in production. */
export function createAccess(
  { mode, auth }: Pick<Config, "mode" | "auth">,
  options: CreateAccessOptions,
): Access {
  const { findToken, realNow, logger, issuerKeys } = options;
  if (mode === "sandbox") return sandboxAccess(findToken);
  if (!auth) throw new ConfigError("AUTH_ISSUER is required in production.");
  return productionAccess(auth, { ...issuerKeys, logger, realNow });
}

export type Access = {
  findCaller: FindCaller;
  /** Rejects while no access token could be verified. */
  ready(): Promise<void>;
  /** Seconds since the issuer's keys were fetched; undefined where there are none that can be trusted. */
  keysAgeSeconds(): number | undefined;
  /** Failed fetches of these keys since the start; undefined without an issuer. */
  failedKeyFetches(): number | undefined;
  /** Ends the fetches of the issuer's keys. */
  stop(): Promise<void>;
};

/** For tests: other times of fetching the issuer's keys. */
export type IssuerKeysTimes = Partial<
  Pick<IssuerKeysOptions, "refreshMs" | "cooldownMs" | "keysMaxAgeSeconds">
>;

export type CreateAccessOptions = {
  findToken: FindToken;
  realNow: () => Date;
  logger: Logger;
  issuerKeys?: IssuerKeysTimes | undefined;
};

/** Finds the owner of an opaque token by the token's SHA-256, because tokens themselves are never stored (D18). */
export type FindToken = (tokenSha256: Buffer) => Promise<Caller | undefined>;

/** The sandbox looks up the opaque tokens that it has issued itself. */
export function sandboxAccess(findToken: FindToken): Access {
  return {
    findCaller: rememberTokens(findToken),
    ready: async () => {},
    keysAgeSeconds: () => undefined,
    failedKeyFetches: () => undefined,
    stop: async () => {},
  };
}

/** Production verifies the JWTs of an issuer, and begins to fetch the issuer's keys at once. */
export function productionAccess(
  settings: AuthSettings,
  options: IssuerKeysTimes & Pick<CreateAccessOptions, "logger" | "realNow">,
): Access {
  const { realNow } = options;
  const keys = createIssuerKeys({ ...settings, ...options });
  keys.ready().catch(() => {}); // it has been logged, and the server is not ready
  return {
    findCaller: verifyJwts({ ...settings, keys, realNow }),
    ready: keys.ready,
    keysAgeSeconds: keys.ageSeconds,
    failedKeyFetches: keys.failures,
    stop: keys.stop,
  };
}

const MAX_REMEMBERED = 10_000;

/** Remembers known tokens, whose grants never change. Another server may issue unknown ones, so they are looked up again. */
function rememberTokens(findToken: FindToken): FindCaller {
  const known = new Map<string, Caller>();
  return async (token) => {
    const caller = known.get(token) ?? (await findToken(hash("sha256", token, "buffer")));
    if (!caller) return { reason: "unknown token" };
    known.set(token, caller);
    if (known.size > MAX_REMEMBERED) known.clear();
    return caller;
  };
}
