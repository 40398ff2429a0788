import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  createClient,
  NetworkError,
  type RefundRequest,
  type SubscriptionRequest,
  TimeoutError,
  UnexpectedResponseError,
} from "../../client/src/index.ts";
import { useTestServer } from "../helpers/server.ts";

const server = useTestServer();

const createTestClient = (accessToken = "sandbox_acme") => createClient({ baseUrl: server.url, accessToken });

let keys = 0;
function refundOf(paymentId: string, fields: Partial<RefundRequest> = {}): RefundRequest {
  keys += 1;
  return { paymentId, amount: { currency: "USD", value: 1.5 }, requestKey: `client-test-${keys}`, ...fields };
}

describe("issueRefund", () => {
  /** @clause 1.3 */
  test.each([
    ["pay_settled", "AUTHORIZED", undefined],
    ["pay_recent", "PENDING", undefined],
    ["pay_failed", "TERMINAL_FAILED", "CUSTOMER_NOT_DEBITED"],
  ])("of %s responds with 201 and a refund that is %s", async (paymentId, paymentStatus, errorCode) => {
    const result = await createTestClient().issueRefund(
      refundOf(paymentId, { clientReferenceId: "order-1042" }),
    );

    if (result.status !== 201) throw new Error(`got ${result.status}`);
    expect(result.body.paymentId).toMatch(/^rfd_/);
    expect(result.body.paymentStatus).toBe(paymentStatus);
    expect(result.body.clientReferenceId).toBe("order-1042");
    expect(result.body.errorDetails?.errorCode).toBe(errorCode);
    expect(result.response.headers.get("content-type")).toBe("application/json");
  });

  test("with a requestKey that was used gives the refund that has it", async () => {
    const client = createTestClient();
    const request = refundOf("pay_settled");
    const first = await client.issueRefund(request);

    const second = await client.issueRefund(request);

    if (first.status !== 201 || second.status !== 409) throw new Error(`got ${second.status}`);
    expect(second.body.existing).toEqual({
      ...first.body,
      originalPaymentId: "pay_settled",
      amount: request.amount,
    });
  });

  test("that is refused is a problem and a value, with every violation", async () => {
    const client = createTestClient();
    const amount = { currency: "USD", value: -1 } as const;

    const malformed = await client.issueRefund(refundOf("pay_settled", { amount, softDescriptor: "!" }));
    const unknown = await client.issueRefund(refundOf("pay_globex"));
    const unauthorized = await createTestClient("nobody's").issueRefund(refundOf("pay_settled"));

    const violations = [{ pointer: "/amount/value" }, { pointer: "/softDescriptor" }];
    expect(malformed).toMatchObject({ status: 400, body: { violations } });
    expect(unknown).toMatchObject({
      status: 404,
      body: { errorDetails: { errorCode: "PAYMENT_NOT_FOUND" } },
    });
    expect(unauthorized).toMatchObject({
      status: 401,
      body: { errorDetails: { errorCode: "UNAUTHORIZED" } },
    });
  });

  test("may have a slash at the end of the address of the service", async () => {
    const client = createClient({ baseUrl: `${server.url}/`, accessToken: "sandbox_acme" });

    expect((await client.issueRefund(refundOf("pay_settled"))).status).toBe(201);
  });
});

describe("subscribeToWebhooks", () => {
  test.each<SubscriptionRequest["subscriptionDetails"]>([
    { type: "ALL" },
    { type: "CATEGORY", details: ["PAYMENT", "ACCOUNT"] },
    { type: "EVENT", details: ["refund.authorized", "refund.terminal_failed"] },
  ])("to %j responds with 200 and a key", async (subscriptionDetails) => {
    const url = "https://merchant.example.com/webhooks";
    const result = await createTestClient().subscribeToWebhooks({
      url,
      secretKey: "s".repeat(32),
      subscriptionDetails,
    });

    if (result.status !== 200) throw new Error(`got ${result.status}`);
    expect(result.body).toEqual({ subscriptionKey: expect.stringMatching(/^sub_/) });
  });
});

describe("a response that is not the service's", () => {
  const page = "<html><body>502 Bad Gateway</body></html>";
  const json = { "Content-Type": "application/json" };
  test.each([
    ["a balancer's page", 502, { "Content-Type": "text/html" }, page],
    ["nothing", 500, {}, ""],
    ["nothing that says it is JSON", 500, json, ""],
    ["JSON that is cut off", 201, json, '{"paymentId":'],
    ["JSON under another type", 201, { "Content-Type": "text/plain" }, '{"paymentId":"rfd_1"}'],
    [
      "a problem under another type",
      404,
      { "Content-Type": "text/html" },
      '{"errorDetails":{"errorCode":"X"}}',
    ],
    ["JSON of a gateway's own", 403, json, '{"message":"Forbidden"}'],
    ["JSON that is no object", 201, json, "[]"],
    ["JSON in JSON", 500, json, '"{\\"errorDetails\\":{\\"errorCode\\":\\"X\\"}}"'],
    ["null", 500, json, "null"],
    ["a success that is not the operation's", 200, json, "{}"],
    ["a success without content", 204, {}, ""],
    ["a redirect", 308, { Location: "http://127.0.0.1:9/" }, ""],
  ])("throws, with the response and its text: %s", async (_, status, headers, text) => {
    const client = createClient({ baseUrl: await respondingWith(status, headers, text), accessToken: "t" });

    const error = await client.issueRefund(refundOf("pay_settled")).catch((thrown: unknown) => thrown);

    if (!(error instanceof UnexpectedResponseError)) throw new Error(`threw ${error}`);
    expect(error.response.status).toBe(status);
    expect(error.text).toBe(text);
    expect(error.status).toBe(status);
    expect(error.message).toBe(
      `The response ${status} from ${error.response.url} is not one that the service gives.${text && ` It begins: ${text}`}`,
    );
    expect(await error.response.text()).toBe(text);
  });

  test("leaves a problem that this version does not know as it is", async () => {
    const problem = { status: 402, errorDetails: { errorCode: "NEW", errorMessage: "" } };
    const type = { "Content-Type": "application/problem+json" };
    const client = createClient({
      baseUrl: await respondingWith(402, type, JSON.stringify(problem)),
      accessToken: "t",
    });

    expect(await client.issueRefund(refundOf("pay_settled"))).toMatchObject({ status: 402, body: problem });
  });
});

describe("no response", () => {
  test("rejects when nobody listens", async () => {
    const { url, stop } = await listen(() => {});
    await stop();

    await expect(
      createClient({ baseUrl: url, accessToken: "t" }).issueRefund(refundOf("pay_settled")),
    ).rejects.toThrow(NetworkError);
  });

  test("rejects when it does not come in time", async () => {
    const { url } = await listen(() => {}); // never responds
    const client = createClient({ baseUrl: url, accessToken: "t", attemptTimeoutMs: 20 });

    await expect(client.issueRefund(refundOf("pay_settled"))).rejects.toThrow(TimeoutError);
  });

  test("rejects when the connection breaks", async () => {
    const { url } = await listen((request) => request.socket.destroy());

    await expect(
      createClient({ baseUrl: url, accessToken: "t" }).issueRefund(refundOf("pay_settled")),
    ).rejects.toThrow(NetworkError);
  });
});

describe("a fetch of one's own", () => {
  test("sends the request that the client made", async () => {
    const sent: Request[] = [];
    const client = createClient({
      baseUrl: server.url,
      accessToken: "sandbox_acme",
      fetch: (request) => {
        sent.push(request.clone());
        return fetch(request);
      },
    });
    const body = refundOf("pay_settled");

    await client.issueRefund(body);

    const [request] = sent;
    expect(request?.method).toBe("POST");
    expect(request?.url).toBe(`${server.url}/v1/refunds`);
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      authorization: "Bearer sandbox_acme",
      accept: "application/json",
      "content-type": "application/json",
    });
    expect(await request?.json()).toEqual(body);
  });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function listen(listener: RequestListener) {
  const foreign = createServer(listener).listen(0, "127.0.0.1");
  await once(foreign, "listening");
  const stop = async () => {
    foreign.closeAllConnections();
    if (foreign.listening) await new Promise((resolve) => foreign.close(resolve));
  };
  stops.push(stop);
  return { url: `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`, stop };
}

async function respondingWith(
  status: number,
  headers: Record<string, string>,
  text: string,
): Promise<string> {
  const { url } = await listen((_request, response) => response.writeHead(status, headers).end(text));
  return url;
}
