import { describe, expect, onTestFinished, test } from "vitest";
import {
  createClient,
  newRequestKey,
  type RefundRequest,
  UnexpectedResponseError,
} from "../../client/src/index.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import { useTestServer } from "../helpers/server.ts";

const server = useTestServer();

const refundOf = (paymentId: string): RefundRequest => ({
  paymentId,
  amount: { currency: "USD", value: 1.5 },
  requestKey: newRequestKey(),
});

test("the address of the service may have a slash at its end", async () => {
  const client = createClient({ baseUrl: `${server.url}/`, accessToken: "sandbox_acme" });

  expect((await client.issueRefund(refundOf("pay_settled"))).status).toBe(201);
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

async function respondingWith(
  status: number,
  headers: Record<string, string>,
  text: string,
): Promise<string> {
  const foreign = await serveLocally((_request, response) => response.writeHead(status, headers).end(text));
  onTestFinished(() => foreign[Symbol.asyncDispose]());
  return foreign.url;
}
