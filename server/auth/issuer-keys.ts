import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
} from "jose";
import type { Logger } from "pino";
import { Agent, type Response as FetchedResponse, fetch } from "undici";
import { sharedLookup } from "../async/shared-lookup.ts";

export interface IssuerKeysOptions {
  url: URL;
  logger: Logger;
  /** Milliseconds after which the keys are fetched again; meanwhile requests use the present keys. */
  refreshMs?: number | undefined;
  /** Least milliseconds between two fetches that an unknown key id causes, or that follow a failed one. */
  cooldownMs?: number | undefined;
}

/** The public keys of the issuer of access tokens. */
export interface IssuerKeys {
  /** Finds the key of a token. Throws {@link KeysUnavailableError} when the keys can't be fetched. */
  find: JWTVerifyGetKey;
  /** Resolves once keys were fetched. Rejects with {@link KeysUnavailableError}. */
  ready(): Promise<void>;
  /** Seconds since the keys were fetched; undefined before that. */
  ageSeconds(): number | undefined;
}

/** The issuer's keys can't be fetched, so a token can be neither accepted nor refused. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
}

const DEFAULT_REFRESH_MS = 10 * 60 * 1000;
const DEFAULT_COOLDOWN_MS = 30 * 1000;
const TIMEOUT_MS = 5_000;
/** Milliseconds from a failed fetch to the next one while there are no keys at all, unless the cooldown is shorter. */
const FIRST_KEYS_PAUSE_MS = 1_000;
/** Many times the size of any real set of keys. */
const MAX_KEY_SET_BYTES = 256 * 1024;

const AGENT = new Agent({ connect: { lookup: sharedLookup } });

/** No fetch was tried, because the previous one failed a short time ago. */
class FetchPausedError extends Error {}

/**
 * Fetches keys from a URL and keeps them. An unknown key id causes a fetch at once, so the first token after a rotation is
 * accepted. A failed fetch changes nothing: requests use the present keys for as long as the issuer is unreachable. Callers
 * can make up key ids, so there is a pause between two fetches, whether or not the first succeeded.
 */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { refreshMs = DEFAULT_REFRESH_MS, cooldownMs = DEFAULT_COOLDOWN_MS, logger } = options;
  // The library stores the time of the last successful fetch in it.
  const cache: { uat?: number } = {};
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let logged: unknown;

  /** The library pauses after a successful fetch only. */
  const fetchSeldom: FetchImplementation = async (url, init) => {
    const pauseMs = cache.uat === undefined ? Math.min(cooldownMs, FIRST_KEYS_PAUSE_MS) : cooldownMs;
    const hasFailed = cache.uat === undefined || cache.uat < fetchedAt;
    if (hasFailed && Date.now() < fetchedAt + pauseMs)
      throw new FetchPausedError("the last fetch has failed");
    fetchedAt = Date.now();
    const headers = Object.fromEntries(init.headers);
    return readBounded(await fetch(url, { ...init, headers, dispatcher: AGENT }));
  };

  const keys = createRemoteJWKSet(options.url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: cooldownMs,
    cacheMaxAge: Number.POSITIVE_INFINITY, // otherwise the library would refuse tokens while the issuer is unreachable
    [jwksCache]: cache as JWKSCacheInput,
    [customFetch]: fetchSeldom,
  });

  const ageMs = () => (cache.uat === undefined ? undefined : Date.now() - cache.uat);

  /** Logs a failed fetch once, and not for each of the requests that waited for it. */
  function fail(cause: unknown): KeysUnavailableError {
    const error = new KeysUnavailableError("the keys of the access tokens' issuer can't be fetched", {
      cause,
    });
    if (!(cause instanceof FetchPausedError) && cause !== logged) logger.warn({ err: error }, error.message);
    logged = cause;
    return error;
  }

  function refreshWhenOld(): void {
    const age = ageMs();
    if (age !== undefined && age >= refreshMs) keys.reload().catch(fail);
  }

  return {
    async find(header, token) {
      refreshWhenOld();
      try {
        return await keys(header, token);
      } catch (error) {
        if (isAboutToken(error)) throw error;
        throw fail(error);
      }
    },
    async ready() {
      if (ageMs() !== undefined) return;
      await keys.reload().catch((error: unknown) => {
        throw fail(error);
      });
    },
    ageSeconds() {
      const age = ageMs();
      return age === undefined ? undefined : age / 1000;
    },
  };
}

/** Reads a body up to a size, because the library would read one without end into memory. */
async function readBounded({ status, body }: FetchedResponse): Promise<Response> {
  if (status !== 200 || !body) {
    await body?.cancel();
    return new Response(null, { status });
  }
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    chunks.push(read.value);
    if (size <= MAX_KEY_SET_BYTES) continue;
    await reader.cancel();
    throw new Error(`the set of keys has more than ${MAX_KEY_SET_BYTES} bytes`);
  }
  return new Response(Buffer.concat(chunks));
}

function isAboutToken(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}
