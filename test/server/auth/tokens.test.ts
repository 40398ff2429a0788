import { createHash, createHmac, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type CryptoKey, exportSPKI, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { createKey } from "../../helpers/issuer.ts";
import { type Production, startProduction } from "../../helpers/production.ts";
import { post, type TestServer } from "../../helpers/server.ts";

const NOW = new Date("2026-11-16T15:00:00.500Z");
const CERTIFICATE = new URL("../../fixtures/tls/receiver.pem", import.meta.url);
const SECOND = Math.floor(NOW.getTime() / 1000);
/** A call with an empty body: 400 when the token was accepted. */
const call = (server: TestServer, token: string | null, path = "/v1/refunds") =>
  post<Problem>(server.url, path, {}, { token });

/** @decision D18 */
describe("an access token in production", () => {
  let production: Production;
  let server: TestServer;
  beforeAll(async () => {
    production = await startProduction({ now: () => NOW });
    server = await production.start({ realNow: () => NOW, issuerKeys: { cooldownMs: 0 } });
  });
  afterAll(() => production.end());
  const token: Production["issuer"]["token"] = (...wish) => production.issuer.token(...wish);

  test("speaks for the merchant that it names, and for no other", async () => {
    const merchant = `merchant ${crypto.randomUUID()}`;
    const paymentId = await createPayment(server, { merchant });

    const statusFor = async (merchant_id: string) => {
      const options = { token: await token({ merchant_id }) };
      return (await post(server.url, "/v1/refunds", refundOf(paymentId), options)).status;
    };

    expect([await statusFor(merchant), await statusFor("other")]).toEqual([201, 404]);
  });

  test.each([
    ["refunds webhooks", 400, 400],
    ["other webhooks", 403, 400],
    ["Refunds", 403, 403],
    ["refunds,webhooks", 403, 403],
    [["refunds", "webhooks"], 403, 403],
    [undefined, 403, 403],
  ])("allows what its scope says, blank separated (%j)", async (scope, refund, subscribe) => {
    const bearer = await token({ scope });

    expect((await call(server, bearer)).status).toBe(refund);
    expect((await call(server, bearer, "/v1/webhook/subscribe")).status).toBe(subscribe);
  });

  test.each([
    ["expired 59 seconds ago", { exp: SECOND - 59 }],
    ["valid from in 60 seconds on", { nbf: SECOND + 60 }],
    ["valid for a day", { exp: SECOND + 86_400 }],
    ["meant for several audiences", { aud: ["other", "refunds-api"] }],
    ["issued in the future by a clock that is ahead", { iat: SECOND + 60 }],
  ])("is accepted when %s", async (_name, claims) => {
    expect((await call(server, await token(claims))).status).toBe(400);
  });

  test.each([
    ["expired 60 seconds ago", { exp: SECOND - 60 }],
    ["never to expire", { exp: undefined }],
    ["to expire at no time that is one", { exp: "tomorrow" }],
    ["valid from in 61 seconds on", { nbf: SECOND + 61 }],
    ["of another issuer", { iss: "https://issuer.example.com" }],
    ["of no issuer", { iss: undefined }],
    ["for another audience", { aud: "other" }],
    ["for no audience", { aud: undefined }],
    ["of no merchant", { merchant_id: undefined }],
    ["of a merchant without a name", { merchant_id: "" }],
    ["of a merchant whose name is a number", { merchant_id: 7 }],
    ["of a merchant whose name no database holds", { merchant_id: "a\0b" }],
    ["of a merchant whose name a database would change", { merchant_id: "a\ud800" }],
    ["of a merchant whose name breaks a line", { merchant_id: "a\nb" }],
    ["of a merchant whose name clears a terminal", { merchant_id: "a\u009b2Jb" }],
    ["of a subject that breaks a line", { sub: "a\nb" }],
    ["with an id that is endless", { jti: "j".repeat(256) }],
    ["to expire in more than a day", { exp: SECOND + 86_400 + 61 }],
    ["of a merchant whose name is endless", { merchant_id: "m".repeat(256) }],
  ])("is refused when %s", async (_name, claims) => {
    const { status, headers, body } = await call(server, await token(claims));

    expect([status, headers.get("www-authenticate"), body.errorDetails.errorCode]).toEqual([
      401,
      'Bearer error="invalid_token"',
      "UNAUTHORIZED",
    ]);
  });

  test.each([
    ["application/at+jwt", 400],
    ["AT+JWT", 400],
    ["JWT", 401],
  ])("that names its type must be one of RFC 9068 (%s)", async (typ, expected) => {
    const bearer = await token({}, production.issuer.key(), { typ });

    expect((await call(server, bearer)).status).toBe(expected);
  });

  test("is refused when another key has signed it, whatever key it names", async () => {
    const stranger = await createKey("ES256");
    const { kid } = production.issuer.key();

    for (const key of [stranger, { ...stranger, kid }]) {
      expect((await call(server, await token({}, key))).status).toBe(401);
    }
  });

  test("does not choose its algorithm: none, and the public key as a secret, are refused", async () => {
    const { publicJwk, kid } = production.issuer.key();
    const pem = await exportSPKI((await importJWK(publicJwk, "ES256", { extractable: true })) as CryptoKey);
    const [, payload = ""] = (await token()).split(".");
    const headerOf = (alg: string) => Buffer.from(JSON.stringify({ alg, kid })).toString("base64url");
    const hmac = (secret: string) => {
      const signed = `${headerOf("HS256")}.${payload}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    };

    for (const forged of [`${headerOf("none")}.${payload}.`, hmac(pem), hmac(JSON.stringify(publicJwk))]) {
      expect((await call(server, forged)).status).toBe(401);
    }
  });

  test("is refused when a byte of it was changed", async () => {
    const [header = "", payload = "", signature = ""] = (await token()).split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const more = Buffer.from(JSON.stringify({ ...claims, merchant_id: "other" })).toString("base64url");

    const other = signature.replace(/^./, (first) => (first === "A" ? "B" : "A"));
    const changed = [
      `${header}.${more}.${signature}`,
      `${header}.${payload}.${other}`,
      `${header}.${payload}`,
    ];
    for (const bearer of [...changed, "sandbox_acme", null]) {
      expect((await call(server, bearer)).status).toBe(401);
    }
  });

  describe("that is bound to a client certificate", () => {
    const certificate = new X509Certificate(readFileSync(CERTIFICATE));
    const der = certificate.raw.toString("base64");
    const thumbprint = createHash("sha256").update(certificate.raw).digest("base64url");
    let behindProxy: TestServer;
    beforeAll(async () => {
      const env = { AUTH_CLIENT_CERT_HEADER: "Client-Cert" };
      behindProxy = await production.start({ env, realNow: () => NOW });
    });
    const statusOf = async (of: TestServer, cnf: unknown, header?: string) => {
      const headers = header === undefined ? {} : { "Client-Cert": header };
      const options = { token: await token({ cnf }), headers };
      return (await post(of.url, "/v1/refunds", {}, options)).status;
    };

    test.each([
      ["base64 between colons, as RFC 9440 says", `:${der}:`],
      ["base64", der],
      ["PEM with percent-encoding", encodeURIComponent(certificate.toString())],
    ])("is accepted from a caller with that certificate, in %s", async (_name, header) => {
      expect(await statusOf(behindProxy, { "x5t#S256": thumbprint }, header)).toBe(400);
    });

    test.each([
      ["without a certificate", { "x5t#S256": thumbprint }, undefined],
      ["with another certificate", { "x5t#S256": "A".repeat(43) }, der],
      ["with two certificates", { "x5t#S256": thumbprint }, `${der}, ${der}`],
      ["with another one in front of it", { "x5t#S256": thumbprint }, `AAAA, ${der}`],
      ["with what is no certificate", { "x5t#S256": thumbprint }, "%"],
      ["whose token asks for a proof that is not understood", { jkt: thumbprint }, der],
      ["whose token asks for two proofs", { "x5t#S256": thumbprint, jkt: thumbprint }, der],
      ["whose token is bound to nothing that is named", {}, der],
      ["whose token is bound by a text", thumbprint, der],
    ])("is refused from a caller %s", async (_name, cnf, header) => {
      expect(await statusOf(behindProxy, cnf, header)).toBe(401);
    });

    test("is refused where no setting names the header, whatever the caller sends", async () => {
      expect(await statusOf(server, { "x5t#S256": thumbprint }, der)).toBe(401);
    });
  });

  test("is refused with the reason in the log, under the id of the response, and without any part of the token", async () => {
    const bearer = await token({ exp: SECOND - 3600 });

    const { body } = await call(server, bearer);

    const requestId = body.instance.replace("urn:uuid:", "");
    const line = server.logLines.find((text) => text.includes(requestId)) ?? "";
    expect(JSON.parse(line)).toMatchObject({ status: 401, reason: "ERR_JWT_EXPIRED exp" });
    expect(server.logLines.join("")).not.toContain(bearer.split(".")[2]);
  });
});
