import { createHash, createHmac, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type CryptoKey, exportSPKI, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { type Production, startProduction } from "../../helpers/deployment.ts";
import { createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { createKey } from "../../helpers/issuer.ts";
import { post, type TestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.500Z");
const CERTIFICATE = new URL("../../fixtures/tls/receiver.pem", import.meta.url);
const SECOND = Math.floor(NOW.getTime() / 1000);

describe("an access token in production", () => {
  const production = forSuite(() => startProduction({ now: () => NOW }));
  let now = NOW;
  const server = forSuite(() => production.start({ realNow: () => now, issuerKeys: { cooldownMs: 0 } }));
  const token: Production["issuer"]["token"] = (...wish) => production.issuer.token(...wish);
  /** The status of a call with an empty body: 400 when the token was accepted. */
  const statusOf = async (token: string | null, path = "/v1/refunds") =>
    (await post(server.url, path, {}, { token })).status;

  test("gives access to the merchant that it names, and to no other", async () => {
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
  ])("allows the operations of its scopes, which spaces separate (%j)", async (scope, refund, subscribe) => {
    const bearer = await token({ scope });

    expect(await statusOf(bearer)).toBe(refund);
    expect(await statusOf(bearer, "/v1/webhook/subscribe")).toBe(subscribe);
  });

  test.each([
    ["expired 59 seconds ago", { exp: SECOND - 59 }],
    ["valid from in 60 seconds on", { nbf: SECOND + 60 }],
    ["valid for a day", { exp: SECOND + 86_400 }],
    ["valid for a day and a leeway since it was issued", { iat: SECOND - 86_400, exp: SECOND + 60 }],
    ["meant for several audiences", { aud: ["other", "refunds-api"] }],
    ["issued in the future by a clock that is ahead", { iat: SECOND + 60 }],
  ])("is accepted when %s", async (_name, claims) => {
    expect(await statusOf(await token(claims))).toBe(400);
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
    ["issued in an hour", { iat: SECOND + 3_600 }],
    ["to expire in more than a day", { exp: SECOND + 86_400 + 61 }],
    ["on its last day, after a life of more", { iat: SECOND - 86_400, exp: SECOND + 61 }],
    ["of a merchant whose name is endless", { merchant_id: "m".repeat(256) }],
  ])("is refused when %s", async (_name, claims) => {
    const { status, headers } = await post(server.url, "/v1/refunds", {}, { token: await token(claims) });

    expect([status, headers.get("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
  });

  test("is refused once it has expired, however often it was accepted before", async () => {
    const bearer = await token({ exp: SECOND + 1 });
    const before = [await statusOf(bearer), await statusOf(bearer)];
    now = new Date((SECOND + 61) * 1000);
    expect([...before, await statusOf(bearer)]).toEqual([400, 400, 401]);
    now = NOW;
  });

  test("is refused when it is unsigned, changed, or signed with another key or with the public key as a secret", async () => {
    const stranger = await createKey("ES256");
    const { publicJwk, kid } = production.issuer.key();
    const pem = await exportSPKI((await importJWK(publicJwk, "ES256", { extractable: true })) as CryptoKey);
    const [header, payload = "", signature = ""] = (await token()).split(".");
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const hmac = (secret: string) => {
      const signed = `${encode({ alg: "HS256", kid })}.${payload}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    };
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const otherClaims = encode({ ...claims, merchant_id: "other" });
    const otherSignature = signature.replace(/^./, (first) => (first === "A" ? "B" : "A"));

    for (const forged of [
      ...[await token({}, stranger), await token({}, { ...stranger, kid })],
      ...[`${encode({ alg: "none", kid })}.${payload}.`, hmac(pem), hmac(JSON.stringify(publicJwk))],
      ...[`${header}.${otherClaims}.${signature}`, `${header}.${payload}.${otherSignature}`],
      ...[`${header}.${payload}`, "sandbox_acme", null],
    ]) {
      expect([forged, await statusOf(forged)]).toEqual([forged, 401]);
    }
  });

  describe("that is bound to a client certificate", () => {
    const certificate = new X509Certificate(readFileSync(CERTIFICATE));
    const der = certificate.raw.toString("base64");
    const thumbprint = createHash("sha256").update(certificate.raw).digest("base64url");
    const env = { AUTH_CLIENT_CERT_HEADER: "Client-Cert" };
    const behindProxy = forSuite(() => production.start({ env, realNow: () => NOW }));
    const statusAt = async ({ url }: TestServer, cnf: unknown, header?: string) => {
      const headers = header === undefined ? {} : { "Client-Cert": header };
      return (await post(url, "/v1/refunds", {}, { token: await token({ cnf }), headers })).status;
    };

    test.each([
      ["base64 between colons, as RFC 9440 says", `:${der}:`],
      ["base64", der],
      ["PEM with percent-encoding", encodeURIComponent(certificate.toString())],
    ])("is accepted from a caller with that certificate, in %s", async (_name, header) => {
      expect(await statusAt(behindProxy, { "x5t#S256": thumbprint }, header)).toBe(400);
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
      expect(await statusAt(behindProxy, cnf, header)).toBe(401);
    });
  });

  test("is refused with the reason in the log, under the id of the response, and without any part of the token", async () => {
    const bearer = await token({ exp: SECOND - 3600 });

    const { body } = await post<Problem>(server.url, "/v1/refunds", {}, { token: bearer });

    const requestId = body.instance.replace("urn:uuid:", "");
    const line = server.logLines.find((text) => text.includes(requestId)) ?? "";
    expect(JSON.parse(line)).toMatchObject({ status: 401, reason: "ERR_JWT_EXPIRED exp" });
    expect(server.logLines.join("")).not.toContain(bearer.split(".")[2]);
  });
});
