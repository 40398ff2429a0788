import { describe, expect, test } from "vitest";
import type { Problem } from "../../helpers/factories.ts";
import { createKey, startIssuer } from "../../helpers/issuer.ts";
import { startProduction } from "../../helpers/production.ts";
import { post, type TestServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";

/** A call with an empty body: 400 when the token was accepted. */
const call = (server: TestServer, token: string) => post<Problem>(server.url, "/v1/refunds", {}, { token });

/** @decision D18 */
describe("the issuer's keys", () => {
  test("are fetched once, and anew when a token names a key that is not among them", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
    const first = await issuer.token();
    for (let calls = 0; calls < 5; calls += 1) await call(server, first);
    const fetchesBefore = issuer.fetches();

    await issuer.rotate();
    const rotated = await call(server, await issuer.token());
    const withdrawn = await call(server, first);

    expect([fetchesBefore, rotated.status, withdrawn.status]).toEqual([1, 400, 401]);
  });

  test("are not fetched again for each token that names an unknown key, and others do not suffer", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 60_000 } });
    const { issuer } = production;
    await call(server, await issuer.token());
    const strangers = await Promise.all(
      Array.from({ length: 20 }, async () => issuer.token({}, await createKey("ES256"))),
    );

    const responses = await Promise.all(strangers.map((token) => call(server, token)));
    const known = await call(server, await issuer.token());

    // Each of them may be the issuer's newest.
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Number(responses[0]?.headers.get("retry-after"))).toBeGreaterThan(1);
    expect([known.status, issuer.fetches()]).toEqual([400, 1]);
  });

  test("are not fetched for a token that no key could make valid", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
    const stranger = await createKey("ES256");
    const hopeless = [
      { iss: "https://other.example.com/" },
      { aud: "other" },
      { exp: 1 },
      { exp: undefined },
    ];

    const responses = await Promise.all(
      hopeless.map(async (claims) => call(server, await issuer.token(claims, stranger))),
    );

    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(issuer.fetches()).toBe(1);
  });

  test("that are new get their tokens accepted, or 503 until they can be fetched, and never 401", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 1_000 } });
    const { issuer } = production;
    await call(server, await issuer.token());
    // Somebody's unknown key has just caused a fetch.
    await until(async () => {
      const { status } = await call(server, await issuer.token({}, await createKey("ES256")));
      return status === 401 ? true : undefined;
    });

    await issuer.rotate();
    const token = await issuer.token();
    const statuses: number[] = [];
    await until(async () => {
      statuses.push((await call(server, token)).status);
      return statuses.at(-1) === 503 ? undefined : true;
    });

    expect([statuses[0], statuses.at(-1)]).toEqual([503, 400]);
  });

  test("may have no ids: each is tried, and a new one is fetched", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => createKey("ES256")));
    const publish = (...keys: (typeof first)[]) =>
      issuer.serve(keys.map((key) => ({ ...key?.publicJwk, kid: undefined })));
    const statusOf = async (key: typeof first) =>
      (await call(server, await issuer.token({}, key, { kid: undefined }))).status;

    publish(first, second);
    const before = [await statusOf(first), await statusOf(second), await statusOf(third)];
    publish(second, third);
    const after = [await statusOf(third), await statusOf(second), await statusOf(first)];

    expect([before, after]).toEqual([
      [400, 400, 401],
      [400, 400, 401],
    ]);
  });

  test("stay in use when the issuer serves none that can verify a token", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
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
      const unknown = await call(server, await issuer.token({}, await createKey("ES256")));
      const known = await call(server, token);
      const { status: ready } = await fetch(`${server.url}/readyz`);
      expect([keys, unknown.status, known.status, ready]).toEqual([keys, 503, 400, 200]);
    }
  });

  test("that were not seen for longer than AUTH_KEYS_MAX_AGE are trusted no more, and the server is not ready", async () => {
    await using production = await startProduction();
    const server = await production.start({
      env: { AUTH_KEYS_MAX_AGE: "1" },
      issuerKeys: { cooldownMs: 0 },
    });
    const { issuer } = production;
    const token = await issuer.token();
    const ready = async (status: number) =>
      until(async () => ((await fetch(`${server.url}/readyz`)).status === status ? true : undefined));

    const before = await call(server, token);
    issuer.mood("broken");
    await ready(503);
    const during = await call(server, token);
    issuer.mood("well");
    await ready(200);
    const after = await call(server, token);

    expect([before.status, during.status, after.status]).toEqual([400, 503, 400]);
  });

  test.each(["broken", "talks nonsense", "hangs up"] as const)(
    "that are at hand serve while the issuer is away (%s), and are refreshed when it is back",
    async (mood) => {
      await using production = await startProduction();
      const server = await production.start({ issuerKeys: { refreshMs: 0, cooldownMs: 0 } });
      const { issuer } = production;
      const token = await issuer.token();
      await call(server, token);
      await until(() => (issuer.fetches() > 1 ? true : undefined)); // no token asked for the second one

      issuer.mood(mood);
      const during = [await call(server, token), await call(server, token)];
      const ofUnknownKey = await call(server, await issuer.token({}, await createKey("ES256")));
      issuer.mood("well");
      await issuer.rotate();
      const after = await call(server, await issuer.token());

      expect(during.map(({ status }) => status)).toEqual([400, 400]);
      // The server can't know now whether that key is the issuer's newest.
      expect([ofUnknownKey.status, ofUnknownKey.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(after.status).toBe(400);
    },
  );

  test("that were never fetched make a call unavailable, not unauthorized, and the server not ready", async () => {
    await using production = await startProduction();
    const { issuer } = production;
    issuer.mood("broken");
    const server = await production.start();
    const token = await issuer.token();

    const without = await call(server, token);
    const readyWithout = await fetch(`${server.url}/readyz`);
    issuer.mood("well");
    await until(async () => ((await fetch(`${server.url}/readyz`)).status === 200 ? true : undefined));
    const withKeys = await call(server, token);

    expect([without.status, without.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(without.body.errorDetails.errorCode).toBe("UNAVAILABLE");
    expect([readyWithout.status, withKeys.status]).toEqual([503, 400]);
  });

  test("are fetched once per cooldown while the issuer fails, and that is logged once, whatever keys tokens name", async () => {
    const cooldownMs = 1_000;
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs } });
    const { issuer } = production;
    const known = await issuer.token();
    const unknown = await issuer.token({}, await createKey("ES256"));
    await call(server, known);
    issuer.mood("broken");
    // The first fetch that fails.
    await until(async () => ((await call(server, unknown)).status === 503 ? true : undefined));
    const [fetchesBefore, startedAt] = [issuer.fetches(), performance.now()];

    for (let round = 0; round < 10; round += 1) {
      const responses = await Promise.all(Array.from({ length: 30 }, () => call(server, unknown)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
    }

    const mostFetches = Math.ceil((performance.now() - startedAt) / cooldownMs);
    expect(issuer.fetches() - fetchesBefore).toBeLessThanOrEqual(mostFetches);
    expect((await call(server, known)).status).toBe(400);
    const lines = server.logLines.map((line) => JSON.parse(line));
    const errors = lines.filter(({ level, msg }) => level >= 40 && !msg.startsWith("this server's clock"));
    expect(errors.length).toBe(issuer.fetches() - 1);
  });

  test("that are known never wait for those that are not", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
    const known = await issuer.token();
    await call(server, known);
    issuer.mood("silent");

    const unknown = call(server, await issuer.token({}, await createKey("ES256"))).then(() => "unknown");
    await until(async () => (issuer.fetches() > 1 ? true : undefined));
    const first = await Promise.race([unknown, call(server, known).then(({ status }) => status)]);

    expect(first).toBe(400);
    await unknown;
  });

  test("are cut off when they never end", async () => {
    await using production = await startProduction();
    const server = await production.start({ issuerKeys: { cooldownMs: 0 } });
    const { issuer } = production;
    const known = await issuer.token();
    await call(server, known);
    issuer.mood("endless");

    const ofUnknownKey = await call(server, await issuer.token({}, await createKey("ES256")));

    expect([ofUnknownKey.status, (await call(server, known)).status]).toEqual([503, 400]);
    // Most of it never left the system's buffers.
    expect(issuer.endlessBytes()).toBeLessThan(32 * 2 ** 20);
  });

  test("may be RSA keys, when the settings say so", async () => {
    await using production = await startProduction({ algorithm: "RS256" });
    await using other = await startIssuer();
    const server = await production.start();

    const right = await call(server, await production.issuer.token());
    const wrong = await call(server, await other.token());

    expect([right.status, wrong.status]).toEqual([400, 401]);
  });
});
