import { describe, expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import type { Problem } from "../../helpers/factories.ts";
import { createKey, type startIssuer } from "../../helpers/issuer.ts";
import { until } from "../../helpers/receiver.ts";
import { post, type TestServerOptions } from "../../helpers/server.ts";

/** An issuer, and a server in production that trusts it and fetches its keys as often as it likes. */
async function start(
  { cooldownMs = 0, ...options }: { cooldownMs?: number } & TestServerOptions = {},
  ofIssuer: Parameters<typeof startProduction>[0] = {},
) {
  const production = await startProduction(ofIssuer);
  const { issuer } = production;
  const server = await production.start({ issuerKeys: { cooldownMs }, ...options });
  /** A call with an empty body: 400 when the token was accepted. */
  const call = (token: string) => post<Problem>(server.url, "/v1/refunds", {}, { token });
  const statusOf = async (token: string) => (await call(token)).status;
  const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
  return {
    ...{ issuer, server, call, statusOf, readiness },
    untilReadiness: (status: number) => until(async () => (await readiness()) === status),
    [Symbol.asyncDispose]: production.end,
  };
}

/** A token that names a key which is not among the issuer's. */
async function strangerOf({ token }: Awaited<ReturnType<typeof startIssuer>>): Promise<string> {
  return token({}, await createKey("ES256"));
}

describe("the issuer's keys", () => {
  test("are fetched once, and again when a token names an unknown key", async () => {
    await using system = await start();
    const { issuer, statusOf } = system;
    const first = await issuer.token();
    for (let calls = 0; calls < 5; calls += 1) await statusOf(first);
    const fetchesBefore = issuer.fetches();

    await issuer.rotate();

    expect(fetchesBefore).toBe(1);
    expect([await statusOf(await issuer.token()), await statusOf(first)]).toEqual([400, 401]);
  });

  test("are not fetched again for each token with an unknown key, and other tokens are served meanwhile", async () => {
    await using system = await start({ cooldownMs: 60_000 });
    const { issuer, call, statusOf } = system;
    await statusOf(await issuer.token());
    const strangers = await Promise.all(Array.from({ length: 20 }, () => strangerOf(issuer)));

    const responses = await Promise.all(strangers.map(call));

    // Each of them may be the issuer's newest.
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Number(responses[0]?.headers.get("retry-after"))).toBeGreaterThan(1);
    expect([await statusOf(await issuer.token()), issuer.fetches()]).toEqual([400, 1]);
  });

  test("that are unknown delay no call with a known key, also while the issuer is silent", async () => {
    await using system = await start();
    const { issuer, statusOf } = system;
    await statusOf(await issuer.token());
    issuer.mood("silent");
    const stranger = await strangerOf(issuer);
    const strangers = Promise.allSettled(Array.from({ length: 400 }, () => statusOf(stranger)));

    const statuses: number[] = [];
    while (statuses.length < 100) {
      const tokens = await Promise.all(Array.from({ length: 5 }, () => issuer.token()));
      statuses.push(...(await Promise.all(tokens.map(statusOf))));
    }

    expect(statuses).toEqual(Array(100).fill(400));
    issuer.mood("hangs up");
    expect(new Set(await strangers)).toContainEqual({ status: "fulfilled", value: 503 });
  });

  test("stay in use when the issuer serves none that can verify a token", async () => {
    await using system = await start();
    const { issuer, statusOf, readiness } = system;
    const token = await issuer.token();
    const { publicJwk } = await createKey("ES256");
    const { publicJwk: rsa } = await createKey("RS256");
    const useless = [
      [],
      [null, "key", {}],
      [{ ...publicJwk, use: "enc" }],
      [{ ...publicJwk, alg: "ES384" }],
      [{ ...publicJwk, crv: "P-384" }],
      [{ ...publicJwk, x: "AA" }],
      [{ ...publicJwk, key_ops: ["deriveBits"] }],
      [{ kty: "oct", k: "c2VjcmV0", kid: publicJwk.kid }],
      [{ ...rsa, alg: undefined }],
    ];

    for (const keys of useless) {
      issuer.serve(keys);
      const unknown = await statusOf(await strangerOf(issuer));
      expect([keys, unknown, await statusOf(token), await readiness()]).toEqual([keys, 503, 400, 200]);
    }
  });

  test("of RSA are not used when anybody could forge their signatures", async () => {
    await using system = await start({}, { algorithm: "RS256" });
    const { issuer, statusOf } = system;
    const token = await issuer.token();
    await statusOf(token);
    const key = await createKey("RS256");
    const { publicJwk } = key;
    const named = await issuer.token({}, key);
    const broken = [{ e: "AQ" }, { e: "Ag" }, { n: publicJwk.n?.slice(0, 171) }];

    for (const members of broken) {
      issuer.serve([{ ...publicJwk, ...members }]);
      expect([members, await statusOf(named), await statusOf(token)]).toEqual([members, 503, 400]);
    }
    issuer.serve([publicJwk]);
    expect(await statusOf(named)).toBe(400);
  });

  test("that were not seen for longer than AUTH_KEYS_MAX_AGE are trusted no more, and the server is not ready", async () => {
    await using system = await start({ issuerKeys: { keysMaxAgeSeconds: 1, cooldownMs: 0 } });
    const { issuer, statusOf, untilReadiness } = system;
    const token = await issuer.token();

    const before = await statusOf(token);
    issuer.mood("broken");
    await untilReadiness(503);
    const during = await statusOf(token);
    issuer.mood("well");
    await untilReadiness(200);

    expect([before, during, await statusOf(token)]).toEqual([400, 503, 400]);
  });

  test.each(["broken", "talks nonsense", "hangs up", "endless"] as const)(
    "stay in use while the issuer is away (%s), and are refreshed when it is back",
    async (mood) => {
      await using system = await start({ issuerKeys: { refreshMs: 100, cooldownMs: 0 } });
      const { issuer, call, statusOf } = system;
      const token = await issuer.token();
      await statusOf(token);

      issuer.mood(mood);
      const during = [await statusOf(token), await statusOf(token)];
      const ofUnknownKey = await call(await strangerOf(issuer));
      issuer.mood("well");
      await issuer.rotate();

      expect(during).toEqual([400, 400]);
      // The server can't know now whether that key is the issuer's newest.
      expect([ofUnknownKey.status, ofUnknownKey.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await statusOf(await issuer.token())).toBe(400);
      // Keys that never end are cut off; most of them never left the system's buffers.
      expect(issuer.endlessBytes()).toBeLessThan(32 * 2 ** 20);
    },
  );

  test("that were never fetched make a call unavailable, not unauthorized, and the server not ready", async () => {
    await using system = await start({}, { mood: "broken" });
    const { issuer, call, statusOf, readiness, untilReadiness } = system;
    const token = await issuer.token();

    const without = await call(token);
    const readyWithout = await readiness();
    issuer.mood("well");
    await untilReadiness(200);

    expect([without.status, without.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(without.body.errorDetails.errorCode).toBe("UNAVAILABLE");
    expect([readyWithout, await statusOf(token)]).toEqual([503, 400]);
  });

  test("are fetched once per cooldown while the issuer fails, and that is logged once, whatever keys tokens name", async () => {
    const cooldownMs = 1_000;
    await using system = await start({ cooldownMs });
    const { issuer, server, statusOf } = system;
    const [known, unknown] = [await issuer.token(), await strangerOf(issuer)];
    await statusOf(known);
    issuer.mood("broken");
    // The first fetch that fails.
    await until(async () => (await statusOf(unknown)) === 503);
    const [fetchesBefore, startedAt] = [issuer.fetches(), performance.now()];

    for (let round = 0; round < 10; round += 1) {
      const statuses = await Promise.all(Array.from({ length: 30 }, () => statusOf(unknown)));
      expect(new Set(statuses)).toEqual(new Set([503]));
    }

    const mostFetches = Math.ceil((performance.now() - startedAt) / cooldownMs);
    expect(issuer.fetches() - fetchesBefore).toBeLessThanOrEqual(mostFetches);
    expect(await statusOf(known)).toBe(400);
    const lines = server.logLines.map((line) => JSON.parse(line));
    const errors = lines.filter(({ level, msg }) => level >= 40 && !msg.startsWith("this server's clock"));
    expect(errors.length).toBe(issuer.fetches() - 1);
  });
});
