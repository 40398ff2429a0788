import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { createMerchant, createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { useTestServer } from "../../helpers/server.ts";

/** A call with all errors at once; each step of the test corrects one. */
type Call = {
  target: string;
  method: string;
  token: string;
  accept: string;
  type: string;
  body: string;
};

describe.each(engines)("the checks of a refund call on %s", (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMIT: "1" } });

  async function send({ target, method, token, accept, type, body }: Call): Promise<string> {
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: accept,
      "Content-Type": type,
      "Content-Length": Buffer.byteLength(body),
    };
    const { status, body: response } = await exchange(server.url, head(`${method} ${target}`, headers), body);
    const code = (response as Problem).errorDetails?.errorCode;
    return code ? `${status} ${code}` : `${status}`;
  }

  /** A new merchant for each call, because each may make one call a second. */
  async function newToken(): Promise<string> {
    return (await createMerchant(server)).token;
  }

  /** Makes enough concurrent calls to exceed the rate limit, and resolves with a 429. */
  async function sendTooOften(call: Call): Promise<string> {
    const responses = await Promise.all(Array.from({ length: 10 }, () => send(call)));
    return responses.find((response) => response.startsWith("429")) ?? "never limited";
  }

  /** @decision D08a */
  test("come in the documented order, and the first that applies decides", async () => {
    const { merchant, token: owner } = await createMerchant(server);
    const paymentId = await createPayment(server, { merchant, requestKey: "used" });
    const unscoped = (await createMerchant(server, ["webhooks"])).token;
    const used = refundOf("pay_unknown", { requestKey: "used" });

    const allErrors: Call = {
      target: "/v1/refund",
      method: "PUT",
      token: "nobody",
      accept: "text/xml",
      type: "text/plain",
      body: "x".repeat(70_000),
    };
    const mended: [response: string, mend: () => Partial<Call> | Promise<Partial<Call>>][] = [
      ["404 NOT_FOUND", () => ({})],
      ["405 METHOD_NOT_ALLOWED", () => ({ target: "/v1/refunds" })],
      ["401 UNAUTHORIZED", () => ({ method: "POST" })],
      ["403 FORBIDDEN", () => ({ token: unscoped })],
      ["429 RATE_LIMITED", async () => ({ token: await newToken() })],
      ["406 NOT_ACCEPTABLE", async () => ({ token: await newToken() })],
      ["415 UNSUPPORTED_MEDIA_TYPE", async () => ({ token: await newToken(), accept: "application/json" })],
      ["413 PAYLOAD_TOO_LARGE", async () => ({ token: await newToken(), type: "application/json" })],
      [
        "400 INVALID_REQUEST",
        async () => ({ token: await newToken(), body: JSON.stringify({ ...used, amount: 1 }) }),
      ],
      ["409 DUPLICATE_REQUEST_KEY", () => ({ token: owner, body: JSON.stringify(used) })],
      ["404 NOT_FOUND", async () => ({ token: await newToken() })],
    ];

    const responses = [];
    let call = allErrors;
    for (const [expected, mend] of mended) {
      call = { ...call, ...(await mend()) };
      responses.push(await (expected === "429 RATE_LIMITED" ? sendTooOften(call) : send(call)));
    }

    expect(responses).toEqual(mended.map(([response]) => response));
    const { merchant: rich, token } = await createMerchant(server);
    const own = await createPayment(server, { merchant: rich, paymentId });
    expect(await send({ ...call, token, body: JSON.stringify(refundOf(own)) })).toBe("201");
  });
});
