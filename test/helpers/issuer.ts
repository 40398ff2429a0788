/** An issuer of access tokens: a server with the public keys, and tokens signed by them. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { serveLocally } from "./network/local-server.ts";

/** A key of the issuer; only its public half may be disclosed. */
export type IssuerKey = { readonly kid: string; readonly privateKey: CryptoKey; readonly publicJwk: JWK };

/** Claims that are added to the usual ones or replace them; undefined leaves a claim out. */
type Claims = Readonly<Record<string, unknown>>;

/** How the issuer responds to a request for its keys. */
type Mood = "well" | "broken" | "talks nonsense" | "hangs up" | "silent" | "endless";

/** An issuer of access tokens, as production has one: it signs, and serves its public keys over HTTP. */
export type Issuer = AsyncDisposable & {
  /** The settings that make a server trust it. */
  readonly env: Readonly<Record<string, string>>;
  /** The present signing key. */
  key(): IssuerKey;
  /** A token of the merchant, valid except for the given claims. */
  token(claims?: Claims, key?: IssuerKey, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** From now on signs with a new key, and serves only that one. */
  rotate(): Promise<void>;
  /** From now on serves these keys instead. */
  serve(keys: readonly unknown[]): void;
  mood(mood: Mood): void;
  /** How often its keys were requested. */
  fetches(): number;
  /** How many bytes of endless key sets it has sent. */
  endlessBytes(): number;
};

type Algorithm = "ES256" | "RS256";

/** @param now the issuer's clock */
export async function startIssuer({
  algorithm = "ES256" as Algorithm,
  now = () => new Date(),
  mood = "well" as Mood,
} = {}): Promise<Issuer> {
  let key = await createKey(algorithm);
  let served: readonly unknown[] = [key.publicJwk];
  let currentMood = mood;
  let fetches = 0;
  let endlessBytes = 0;
  const server = await serveLocally((_request, response) => {
    fetches += 1;
    if (currentMood === "silent") return;
    if (currentMood === "endless") {
      pipeline(Readable.from(endlessText((bytes) => (endlessBytes += bytes))), response).catch(() => {});
      return;
    }
    if (currentMood === "hangs up") response.destroy();
    else if (currentMood === "broken") response.writeHead(500).end();
    else response.end(currentMood === "well" ? JSON.stringify({ keys: served }) : "<html>");
  });
  const iss = "https://issuer.example.com/";
  const aud = "refunds-api";

  return {
    env: {
      AUTH_ISSUER: iss,
      AUTH_AUDIENCE: aud,
      AUTH_JWKS_URL: `${server.url}/keys`,
      AUTH_ALGORITHM: algorithm,
    },
    key: () => key,
    token: (claims = {}, signer = key, header = undefined) => {
      const exp = Math.floor(now().getTime() / 1000) + 300;
      const usual = { iss, aud, exp, merchant_id: "merchant", scope: "refunds webhooks" };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: algorithm, kid: signer.kid, ...header })
        .sign(signer.privateKey);
    },
    async rotate() {
      key = await createKey(algorithm);
      served = [key.publicJwk];
    },
    serve(keys) {
      served = keys;
    },
    mood(next) {
      currentMood = next;
    },
    fetches: () => fetches,
    endlessBytes: () => endlessBytes,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function* endlessText(count: (bytes: number) => void) {
  const chunk = Buffer.alloc(64 * 1024, " ");
  for (;;) {
    count(chunk.length);
    yield chunk;
  }
}

export async function createKey(algorithm: Algorithm): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = crypto.randomUUID();
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" } };
}
