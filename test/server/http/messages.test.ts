import { describe, expect, test } from "vitest";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { expectNothingStored, post, useTestServer } from "../../helpers/server.ts";

type Problem = { readonly detail: string; readonly violations?: readonly object[] };

describe("a message that merchants log", () => {
  const server = useTestServer();
  expectNothingStored(server);
  const money = (value: string) =>
    `{"paymentId":"p","amount":{"currency":"USD","value":${value}},"requestKey":"k"}`;
  const url = (text: string) => ({
    url: text,
    secretKey: "a secret of this test",
    subscriptionDetails: { type: "ALL" },
  });

  test.each<[path: string, body: unknown, detail: RegExp]>([
    ["/v1/refunds", money("10.005"), /^\/amount\/value must have at most two decimals, and has three\.$/],
    ["/v1/refunds", money("10.1200"), /^\/amount\/value .* send 10\.00 or 10, not 10\.000\.$/],
    ["/v1/refunds", money("10.0010"), /, and has 4\.$/],
    ["/v1/refunds", [], /^The body must be an object\.$/],
    [
      "/v1/refunds",
      `${`{"${"n".repeat(60)}":`.repeat(17)}{"x":1,"x":1`,
      /^(\/n{60}){13} contains a field with a very long name that occurs twice; send it only once\.$/,
    ],
    ["/v1/refunds", '{"paymentId":"p",', /^The body is not valid JSON: it breaks off after character 17\.$/],
    ["/v1/refunds", '{"paymentId":"p', /^The body is not valid JSON: it breaks off after character 15\.$/],
    ["/v1/refunds", '{"a":nul}', /^The body is not valid JSON: } is unexpected at character 9\.$/],
    ["/v1/refunds", '{"a":1,}', /^The body is not valid JSON at character 8\.$/],
    ["/v1/webhook/subscribe", url("https://bücher.example/"), /punycode/],
    ["/v1/webhook/subscribe", url("https://shop.example/{id}"), /percent-encoded/],
    ["/v1/webhook/subscribe", url("127.0.0.1:4310/webhooks"), /^\/url must be .*http:\/\//],
    [
      "/v1/refund",
      "{}",
      /^There is no \/v1\/refund; the API has .*POST \/v1\/refunds\b.* \/v1\/webhook\/subscribe\./,
    ],
    ["/refunds", "{}", /^There is no \/refunds; the API has .*POST \/v1\/refunds\b/],
  ])("says of %s with %j what is wrong", async (path, body, detail) => {
    const { body: problem } = await post<Problem>(server.url, path, body);

    expect(problem).toMatchObject({
      detail: expect.stringMatching(detail),
      errorDetails: { errorMessage: problem.detail },
    });
  });

  const DETAILS = "/subscriptionDetails/details";
  const UNKNOWN = "is not a field of this object; remove it";
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`~/${index}`, 0]));
  const selecting = (details: unknown) => ({ subscriptionDetails: { type: "CATEGORY", details } });

  test.each<[fields: Readonly<Record<string, unknown>>, message: string]>([
    [{ requestKey: "" }, "/requestKey must not be empty"],
    [{ requestKey: "k".repeat(256) }, "/requestKey must have at most 255 characters"],
    [{ requestKey: "\ud800" }, "/requestKey must not contain U+0000 or a lone surrogate"],
    [{ requestKey: 1 }, "/requestKey must be a string"],
    [{ amount: { value: 1 } }, "/amount/currency is missing"],
    [{ amount: { value: 1, currency: "EUR" } }, "/amount/currency must be one of: USD"],
    [{ "": ["\ud800"] }, `/ ${UNKNOWN}`],
    [many(100), `/~0~10 ${UNKNOWN} (100 errors in all; see violations)`],
    [{ amount: many(5_000) }, "The body has too many fields and list items; at most 128 in all are allowed"],
    [{ amount: { ...dollars(1), "": { "": 1 } } }, `/amount/ ${UNKNOWN}`],
    [{ amount: { ...dollars(1), x: 1.234 } }, `/amount/x ${UNKNOWN}`],
    [{ amount: { ...dollars(1), "a/b~": 1 } }, `/amount/a~1b~0 ${UNKNOWN}`],
    [
      { "amount/x": 1, amount: { ...dollars(1), x: 1 } },
      `/amount~1x ${UNKNOWN} (2 errors in all; see violations)`,
    ],
    [{ url: 1 }, "/url must be a string"],
    [selecting("PAYMENT"), `${DETAILS} must be a list, even for a single value`],
    [selecting([]), `${DETAILS} must have at least 1 item`],
  ])("says of a body with %j: %s", async (fields, message) => {
    const isRefund = !("url" in fields || "subscriptionDetails" in fields);
    const { body } = isRefund
      ? await post<Problem>(server.url, "/v1/refunds", refundOf("p", fields))
      : await post<Problem>(server.url, "/v1/webhook/subscribe", subscriptionTo("https://a.example", fields));

    expect(body.detail).toBe(`${message}.`);
    expect(body.violations?.length).toBeLessThanOrEqual(20);
  });

  test.each<[headers: Readonly<Record<string, string>>, detail: RegExp]>([
    [{ Authorization: "sandbox_acme" }, /^Authorization must begin with the word Bearer\./],
    [{ Authorization: "Basic c2FuZGJveA==" }, /not with Basic\./],
    [{ Authorization: "Baerer sandbox_acme" }, /not with Baerer\./],
    [{ Authorization: "Bearer" }, /no access token after Bearer/],
    [{ Authorization: 'Bearer "sandbox_acme"' }, /spaces, quotes or other characters/],
    [{ "X-Api-Key": "sandbox_acme" }, /^The header Authorization is missing; x-api-key is not read\./],
    [{ Authorisation: "Bearer sandbox_acme" }, /missing; authorisation is not read\./],
    [{}, /^The header Authorization is missing\. Send Authorization: Bearer <ACCESS_TOKEN>\.$/],
  ])("says of the headers %j which mistake they have", async (headers, detail) => {
    const options = { token: null, headers };
    const { status, body } = await post<Problem>(server.url, "/v1/refunds", refundOf("pay_1"), options);

    expect([status, body.detail]).toEqual([401, expect.stringMatching(detail)]);
    expect(JSON.stringify(body)).not.toContain("sandbox_acme");
  });
});
