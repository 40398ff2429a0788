import { describe, expect, onTestFinished, test } from "vitest";
import {
  CallError,
  createClient,
  newRequestKey,
  ProblemError,
  type RefundRequest,
  UnexpectedResponseError,
} from "../../client/src/index.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import { useTestServer } from "../helpers/server.ts";

const server = useTestServer();

const createTestClient = () => createClient({ baseUrl: server.url, accessToken: "sandbox_acme" });

const refundOf = (paymentId: string): RefundRequest => ({
  paymentId,
  amount: { currency: "USD", value: 1.5 },
  requestKey: newRequestKey(),
});

/** The problem with which a call failed. */
async function problemOf(call: Promise<unknown>): Promise<ProblemError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof ProblemError) return error;
  throw new Error(`gave ${error}`);
}

describe("a response that is not the service's", () => {
  const page = "<html><body>502 Bad Gateway</body></html>";
  const json = { "Content-Type": "application/json" };
  const html = { "Content-Type": "text/html" };
  test.each([
    ["a balancer's page", 502, html, page],
    ["nothing that says it is JSON", 500, json, ""],
    ["JSON that is cut off", 201, json, '{"paymentId":'],
    ["JSON under another type", 201, html, '{"paymentId":"rfd_1"}'],
    ["a problem under another type", 404, html, '{"errorDetails":{"errorCode":"X"}}'],
    ["JSON of a gateway's own", 403, json, '{"message":"Forbidden"}'],
    ["JSON that is no object", 201, json, "[]"],
    ["a success that is not the operation's", 200, json, "{}"],
    ["a success without content", 204, {}, ""],
    ["a redirect", 308, { Location: "http://127.0.0.1:9/" }, ""],
  ])("throws, with the response and its text: %s", async (_, status, headers, text) => {
    const client = createClient({ baseUrl: await respondingWith(status, headers, text), accessToken: "t" });

    const error = await client.issueRefund(refundOf("pay_settled")).catch((thrown: unknown) => thrown);

    if (!(error instanceof UnexpectedResponseError)) throw new Error(`threw ${error}`);
    expect(error).toMatchObject({ status, text });
    expect(error.message).toBe(
      `The response ${status} from ${error.response.url} is not the service's.${text && ` It begins: ${text}`}`,
    );
    expect(await error.response.text()).toBe(text);
  });

  test("leaves a problem that this version does not know as it is", async () => {
    const body = { status: 402, errorDetails: { errorCode: "NEW", errorMessage: "" } };
    const type = { "Content-Type": "application/problem+json" };
    const baseUrl = await respondingWith(402, type, JSON.stringify(body));
    const client = createClient({ baseUrl, accessToken: "t" });

    expect(await client.issueRefund(refundOf("pay_settled"))).toMatchObject({ status: 402, body });
  });
});

test("a custom fetch sends the request, also where the address ends with a slash", async () => {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: `${server.url}/`,
    accessToken: "sandbox_acme",
    fetch: (request) => {
      sent.push(request.clone());
      return fetch(request);
    },
  });
  const body = refundOf("pay_settled");

  expect((await client.issueRefund(body)).status).toBe(201);
  const amount = { currency: "USD" as const, value: 1n as unknown as number };
  expect((await client.issueRefund({ ...refundOf("pay_settled"), amount })).status).toBe(201);

  const [request] = sent;
  expect(request).toMatchObject({ method: "POST", url: `${server.url}/v1/refunds` });
  expect(Object.fromEntries(request?.headers ?? [])).toEqual({
    authorization: "Bearer sandbox_acme",
    accept: "application/json",
    "content-type": "application/json",
  });
  expect(await request?.json()).toEqual(body);
});

describe("refunds.issue", () => {
  test("with a used requestKey throws a problem with its record, or resolves with that refund when it is repeated", async () => {
    const request = { ...refundOf("pay_settled"), amount: "1.50", clientRefefenceId: "order-7" };
    const { refunds } = createTestClient();
    const refund = await refunds.issue(request);

    const error = await problemOf(refunds.issue(request));

    expect(error).toMatchObject({ status: 409, errorCode: "DUPLICATE_REQUEST_KEY", outcomeUnknown: true });
    expect(error.existing).toEqual({
      ...refund,
      originalPaymentId: "pay_settled",
      amount: { currency: "USD", value: 1.5 },
    });
    expect(await refunds.issue(request, { repeated: true })).toEqual(refund);
    await problemOf(refunds.issue({ ...request, amount: "1.51" }, { repeated: true }));
  });

  test("that is malformed throws a problem with every violation, and its message lists them", async () => {
    const error = await problemOf(createTestClient().refunds.issue({ ...refundOf(""), softDescriptor: "!" }));

    expect(error).toBeInstanceOf(CallError);
    expect(error.violations.map(({ pointer }) => pointer)).toEqual(["/paymentId", "/softDescriptor"]);
    expect(error.message).toMatch(/^INVALID_REQUEST: .+\n\/paymentId: .+\n\/softDescriptor: .+$/);
  });

  test("of an unknown payment throws a problem with the id that the service logged", async () => {
    const error = await problemOf(createTestClient().refunds.issue(refundOf("pay_globex")));

    const problem = { name: "ProblemError", status: 404, errorCode: "PAYMENT_NOT_FOUND" };
    expect(error).toMatchObject({ ...problem, violations: [], existing: undefined });
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(server.logLines.join("")).toContain(`"requestId":"${error.requestId}"`);
  });

  test("of an amount that can't be sent exactly sends nothing", async () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:9", accessToken: "t" });
    const call = client.refunds.issue({ ...refundOf("pay_settled"), amount: 10.005 });

    await expect(call).rejects.toMatchObject({
      name: "InvalidAmountError",
      field: "amount",
      attempts: 0,
      outcomeUnknown: false,
    });
  });
});

async function respondingWith(
  status: number,
  headers: Record<string, string>,
  text: string,
): Promise<string> {
  const foreign = await serveLocally((_request, response) => response.writeHead(status, headers).end(text));
  onTestFinished(() => foreign[Symbol.asyncDispose]());
  return foreign.url;
}
