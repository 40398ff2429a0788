import { createRemoteJWKSet, errors, type JWKSCacheInput, type JWTVerifyGetKey, jwksCache } from "jose";
import type { Logger } from "pino";

export interface IssuerKeysOptions {
  url: URL;
  logger: Logger;
  /** Milliseconds after which the keys are fetched again, beside the calls that go on with those at hand. */
  refreshMs?: number | undefined;
  /** Milliseconds between two fetches for the sake of a key that is not among those at hand. */
  cooldownMs?: number | undefined;
}

/** The public keys of the issuer of access tokens. */
export interface IssuerKeys {
  /** The key of a token. Throws {@link KeysUnavailableError} when it can't be known now whether there is one. */
  find: JWTVerifyGetKey;
  /** Resolves when there are keys to verify with. Rejects with {@link KeysUnavailableError}. */
  ready(): Promise<void>;
  /** Seconds since the keys were fetched; undefined before that. */
  ageSeconds(): number | undefined;
}

/** The issuer's keys can't be fetched, so nothing is known of a token: that is no fault of the token's. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
}

const DEFAULT_REFRESH_MS = 10 * 60 * 1000;
const DEFAULT_COOLDOWN_MS = 30 * 1000;
const TIMEOUT_MS = 5_000;
/** After a refresh that has failed, the next one. */
const RETRY_MS = 5_000;

/**
 * Keys fetched from an address and kept. A key that is unknown is looked for at once, so a rotation is noticed with the first
 * token. A refresh that fails changes nothing: calls go on with the keys at hand for as long as the issuer is away.
 */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { refreshMs = DEFAULT_REFRESH_MS, cooldownMs = DEFAULT_COOLDOWN_MS, logger } = options;
  // The library writes into it when the keys were fetched.
  const cache: { uat?: number } = {};
  const keys = createRemoteJWKSet(options.url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: Number.POSITIVE_INFINITY, // beyond this age the library would refuse tokens while the issuer is away
    [jwksCache]: cache as JWKSCacheInput,
  });
  let nextRefreshAt = 0;

  const ageMs = () => (cache.uat === undefined ? undefined : Date.now() - cache.uat);

  function refreshWhenOld(): void {
    const age = ageMs();
    if (age === undefined || age < refreshMs || Date.now() < nextRefreshAt) return;
    nextRefreshAt = Date.now() + RETRY_MS;
    keys.reload().catch((error: unknown) => logger.warn({ err: error }, "can't refresh the issuer's keys"));
  }

  return {
    async find(header, token) {
      refreshWhenOld();
      try {
        return await keys(header, token);
      } catch (error) {
        if (isAboutToken(error)) throw error;
        throw unavailable(error);
      }
    },
    async ready() {
      if (ageMs() !== undefined) return;
      await keys.reload().catch((error: unknown) => {
        throw unavailable(error);
      });
    },
    ageSeconds() {
      const age = ageMs();
      return age === undefined ? undefined : age / 1000;
    },
  };
}

function isAboutToken(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}

function unavailable(cause: unknown): KeysUnavailableError {
  return new KeysUnavailableError("the keys of the access tokens' issuer can't be fetched", { cause });
}
