import { describe, expect, test } from "vitest";
import { readIssuingCalls } from "../../../server/storage/payments/payment-record.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, type Refund, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { post } from "../../helpers/server.ts";
import { newMerchant } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";

describe("who makes a call", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start({ env: { CALLER_ADDRESS_HEADER: "X-Forwarded-For" } }));

  /** The last line of the log about a request to this path. */
  const logged = (path: string) =>
    server.logLines
      .map((line) => JSON.parse(line))
      .findLast((line) => line.msg === "request" && line.path === path);

  test("is kept with a refund and a subscription, and is in the log", async () => {
    const merchant = newMerchant();
    const paymentId = await createPayment(server, { merchant });
    const call = async (path: string, body: unknown, claims: object, headers: Record<string, string>) => {
      const token = await production.issuer.token({ merchant_id: merchant, ...claims });
      return (await post<Refund>(server.url, path, body, { token, headers })).body;
    };
    const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
    const person = { sub: "jane", client_id: "shop", jti: "token-1" };
    const chain = { "X-Forwarded-For": "198.51.100.1, 203.0.113.7", traceparent };
    const program = { "X-Forwarded-For": "2001:db8::7" };
    const target = subscriptionTo("https://receiver.invalid/");

    const byPerson = await call("/v1/refunds", refundOf(paymentId), person, chain);
    const refundLine = logged("/v1/refunds");
    const byProgram = await call("/v1/refunds", refundOf(paymentId), { client_id: "shop" }, program);
    await call("/v1/webhook/subscribe", target, { sub: "john" }, { "X-Forwarded-For": "" });

    const jane = { subject: "jane", clientId: "shop", tokenId: "token-1", address: "203.0.113.7" };
    const john = { subject: "john", clientId: null, tokenId: null, address: "127.0.0.1" };
    expect(refundLine).toMatchObject(jane);
    expect(logged("/v1/webhook/subscribe")).toMatchObject({ subject: "john", address: "127.0.0.1" });
    const subscriptions = server.database.db.selectFrom("subscriptions").where("merchant", "=", merchant);
    expect(await subscriptions.select("caller").execute()).toEqual([{ caller: john }]);
    const { paymentId: first } = byPerson;
    const calls = await readIssuingCalls(server.database.db, {
      merchant,
      paymentIds: [first, byProgram.paymentId],
    });
    expect(calls.get(first)).toEqual({ caller: jane, trace: { traceparent } });
    expect(calls.get(byProgram.paymentId)).toMatchObject({
      caller: { subject: null, clientId: "shop", tokenId: null, address: "2001:db8::7" },
    });
  });

  test("is not in the log for each call without a token, of which anybody can make any number", async () => {
    const startedAt = performance.now();
    const calls = Array.from({ length: 1_000 }, () => post(server.url, "/v1/refunds", {}, { token: null }));
    const refused = await Promise.all(calls);
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);

    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    const lines = server.logLines.filter((line) => JSON.parse(line).status === 401);
    expect(lines.length).toBeGreaterThanOrEqual(100);
    expect(lines.length).toBeLessThanOrEqual(Math.min(900, 100 * (seconds + 1)));
  });
});
