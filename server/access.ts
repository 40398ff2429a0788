import type { Logger } from "pino";
import type { AuthSettings } from "./config/auth.ts";
import { type FindCaller, type FindToken, findByHash, rememberCallers } from "./http/authenticate.ts";
import { createIssuerKeys, type IssuerKeysOptions } from "./http/issuer-keys.ts";
import { verifyTokens } from "./http/tokens.ts";

/** How the bearers of access tokens are found (D18). */
export interface Access {
  findCaller: FindCaller;
  /** Rejects as long as no token could be verified. */
  ready(): Promise<void>;
  /** Seconds since the issuer's keys were fetched; undefined where there are none. */
  keysAgeSeconds(): number | undefined;
}

/** The sandbox looks up the tokens that it has issued itself. */
export function sandboxAccess(findToken: FindToken): Access {
  return {
    findCaller: findByHash(rememberCallers(findToken)),
    ready: async () => {},
    keysAgeSeconds: () => undefined,
  };
}

/** Production verifies the tokens of an issuer, whose keys it begins to fetch at once. */
export function productionAccess(
  { issuer, audience, algorithm, jwksUrl: url }: AuthSettings,
  options: Pick<IssuerKeysOptions, "refreshMs" | "cooldownMs"> & { logger: Logger; realNow: () => Date },
): Access {
  const { realNow, logger } = options;
  const keys = createIssuerKeys({ ...options, url });
  keys.ready().catch((error: unknown) => logger.warn({ err: error }, "no call can be served yet"));
  return {
    findCaller: verifyTokens({ issuer, audience, algorithm, keys, realNow }),
    ready: keys.ready,
    keysAgeSeconds: keys.ageSeconds,
  };
}
