import { type CryptoKey, importJWK, type JWK } from "jose";
import type { Logger } from "pino";
import { Agent, type Response as FetchedResponse, fetch } from "undici";
import { repeat } from "../async/repeat.ts";
import { sharedLookup } from "../async/shared-dns-lookup.ts";
import type { AuthSettings } from "../config/config.ts";

/**
 * Fetches keys from a URL and keeps them. While the issuer is unreachable, requests use the present keys until these are too old.
 * There is a pause between two fetches, because callers can make up key ids; during it, a token with an unknown key id is neither
 * accepted nor refused.
 */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { cooldownMs = DEFAULT_COOLDOWN_MS, logger } = options;
  const agent = new Agent({ connect: { lookup: sharedLookup } });
  const maxAgeMs = options.keysMaxAgeSeconds * 1000;
  const refreshMs = Math.min(options.refreshMs ?? DEFAULT_REFRESH_MS, maxAgeMs / 2);
  // Times are read from `performance.now()`, because the system's clock can be set.
  let current: { keys: readonly IssuerKey[]; seenAtMs: number } | undefined;
  let fetching: Promise<void> | undefined;
  let failures = 0;
  let renewing = 0;
  let nextFetchMs = 0;

  const ageMs = () => (current ? performance.now() - current.seenAtMs : Number.POSITIVE_INFINITY);
  const pauseMs = () => (fetching ? 0 : nextFetchMs - performance.now());

  async function fetchNow(): Promise<void> {
    try {
      current = { keys: await fetchKeys(options, agent), seenAtMs: performance.now() };
    } catch (error) {
      failures += 1;
      const message = "the keys of the access tokens' issuer can't be fetched";
      logger.warn({ err: error }, message);
      throw new KeysUnavailableError(message, cooldownMs, { cause: error });
    } finally {
      fetching = undefined;
      nextFetchMs = performance.now() + (current ? cooldownMs : Math.min(cooldownMs, FIRST_KEYS_PAUSE_MS));
    }
  }

  async function renew(): Promise<void> {
    const leftMs = pauseMs();
    if (leftMs > 0)
      throw new KeysUnavailableError(
        "the keys of the access tokens' issuer were fetched a moment ago",
        leftMs,
      );
    fetching ??= fetchNow();
    await fetching;
  }

  async function ready(): Promise<void> {
    if (ageMs() > maxAgeMs) await renew();
  }

  async function refresh(): Promise<void> {
    if (ageMs() >= refreshMs && pauseMs() <= 0) await renew().catch(() => {}); // it has been logged
  }

  // On a timer as well: otherwise the first call after some hours could be accepted by a key that was withdrawn meanwhile.
  const everyMs = Math.min(refreshMs, DEFAULT_COOLDOWN_MS);
  const refreshing = repeat(refresh, { name: "refreshing the issuer's keys", everyMs, logger });

  return {
    async find(kid) {
      await ready();
      const { keys = [] } = current ?? {};
      if (kid === undefined) return keys.slice(0, MAX_KEYS_TRIED).map(({ key }) => key);
      return keys.filter((candidate) => candidate.kid === kid).map(({ key }) => key);
    },
    async renew() {
      if (renewing >= MAX_RENEWING)
        throw new KeysUnavailableError(
          "too many calls name keys that the issuer may not have",
          FIRST_KEYS_PAUSE_MS,
        );
      renewing += 1;
      await renew().finally(() => {
        renewing -= 1;
      });
    },
    ready,
    failures: () => failures,
    ageSeconds: () => (ageMs() > maxAgeMs ? undefined : ageMs() / 1000),
    async stop() {
      await Promise.all([refreshing.stop(), agent.destroy()]);
    },
  };
}

export type IssuerKeysOptions = Pick<AuthSettings, "jwksUrl" | "algorithm" | "keysMaxAgeSeconds"> & {
  logger: Logger;
  /** Milliseconds after which the keys are fetched again; meanwhile requests use the present keys. */
  refreshMs?: number | undefined;
  /** Least milliseconds between two fetches. */
  cooldownMs?: number | undefined;
};

export type IssuerKeys = {
  /** The keys with this id; without an id, all. Throws {@link KeysUnavailableError} when no keys can be trusted now. */
  find(kid: string | undefined): Promise<readonly CryptoKey[]>;
  /** Fetches the keys again. Throws {@link KeysUnavailableError} when that fails, or the last fetch was a moment ago. */
  renew(): Promise<void>;
  /** Resolves while there are keys that can be trusted. Rejects with {@link KeysUnavailableError}. */
  ready(): Promise<void>;
  /** Seconds since the keys were fetched; undefined while none can be trusted. */
  ageSeconds(): number | undefined;
  /** Failed fetches since the start. */
  failures(): number;
  /** Fetches no more, and ends the fetch in progress. */
  stop(): Promise<void>;
};

/** The issuer's keys can't be fetched now, so a token can be neither accepted nor refused. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  }
}

const DEFAULT_REFRESH_MS = 10 * 60 * 1000;
const DEFAULT_COOLDOWN_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** Milliseconds from a failed fetch to the next one while there are no keys at all, unless the cooldown is shorter. */
const FIRST_KEYS_PAUSE_MS = 1_000;
/** Many times the size of any real set of keys. */
const MAX_KEY_SET_BYTES = 256 * 1024;
/** Bounds the work for a token that names no key: each key costs a verification. */
const MAX_KEYS_TRIED = 8;
const LEAST_RSA_BITS = 2048;
/** How many calls wait for an unknown key; more would take slots from calls whose keys are known. */
const MAX_RENEWING = 16;

type IssuerKey = { kid: string | undefined; key: CryptoKey };

/** Rejects when the issuer has no key that could verify a token: a server that took such a set would refuse every call. */
async function fetchKeys({ jwksUrl, algorithm }: IssuerKeysOptions, agent: Agent) {
  const response = await fetch(jwksUrl, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    dispatcher: agent,
  });
  const { keys } = JSON.parse(await readBounded(response)) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error("the response is not a set of keys");
  const usable = (await Promise.all(keys.map((jwk) => toKey(jwk, algorithm)))).filter(
    (key) => key !== undefined,
  );
  if (usable.length === 0) throw new Error(`the set of keys has none for ${algorithm}`);
  return usable;
}

/** Undefined for a key that can't verify tokens of the algorithm. */
async function toKey(jwk: JWK | null, algorithm: string): Promise<IssuerKey | undefined> {
  const { use, alg, key_ops: operations, kid, ...material } = jwk ?? {};
  if ((use ?? "sig") !== "sig" || (alg ?? algorithm) !== algorithm) return undefined;
  if (![operations ?? "verify"].flat().includes("verify")) return undefined;
  const key = await importJWK(material, algorithm).catch(() => undefined);
  if (!(key instanceof CryptoKey) || key.type !== "public") return undefined;
  return isWeak(key.algorithm) ? undefined : { kid, key };
}

/** Whether anybody could forge signatures of an RSA key: its modulus is too short, or its exponent is 1 or even. */
function isWeak(algorithm: Partial<RsaKeyAlgorithm>): boolean {
  const { modulusLength = LEAST_RSA_BITS, publicExponent = Uint8Array.of(3) } = algorithm;
  const exponent = BigInt(`0x${Buffer.from(publicExponent).toString("hex")}`);
  return modulusLength < LEAST_RSA_BITS || exponent < 3n || exponent % 2n === 0n;
}

/** Reads a body up to a size, because an issuer could otherwise fill the memory. */
async function readBounded({ status, body }: FetchedResponse): Promise<string> {
  if (status !== 200 || !body) {
    await body?.cancel();
    throw new Error(`the response has status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_KEY_SET_BYTES) throw new Error(`the set of keys has more than ${MAX_KEY_SET_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
