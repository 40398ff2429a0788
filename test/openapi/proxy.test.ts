import { beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../client/src/index.ts";
import { readContract } from "../../openapi/document/contract.ts";
import { createProxy, type PrismProxy } from "../helpers/prism.ts";
import { startTestServer } from "../helpers/server.ts";

const contract = readContract("openapi");

type OperationId = "issueRefund" | "subscribeToWebhooks";

/** Prism takes the calls, validates them and their responses against the document, and hands them to the real server. */
let proxy: PrismProxy;
let client: Client;

beforeAll(async () => {
  const server = await startTestServer();
  proxy = await createProxy(contract.document, server.url);
  client = createClient({ baseUrl: proxy.url, accessToken: "sandbox_acme" });
  return async () => {
    await proxy.close();
    await server.close();
  };
});

function send(operationId: string, body: unknown) {
  return client[operationId as OperationId](body as never); // an example of the contract, or derived from one
}

describe.each(contract.operations)("$id, client against the server behind the proxy", (operation) => {
  test.each(operation.requests)(
    "the example $name gets a response without a violation",
    async ({ name, value }) => {
      const result = await send(operation.id, value);

      const documented = operation.responses.find((response) => response.name === name);
      expect(result.status).toBe(documented?.status);
      expect(proxy.violations).toEqual([]);
    },
  );
});

describe("a day at the proxy", () => {
  const refund = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 1 },
    requestKey: "proxy-1",
  } as const;

  test("a refund, and the same call again", async () => {
    const first = await client.issueRefund(refund);
    const repeated = await client.issueRefund(refund);

    expect(first).toMatchObject({ status: 201, body: { paymentStatus: "PENDING", clientReferenceId: null } });
    expect(repeated).toMatchObject({ status: 409, body: { existing: first.body } });
    expect(proxy.violations).toEqual([]);
  });

  test("what only the server refuses is a documented problem", async () => {
    const decimals = await client.issueRefund({ ...refund, amount: { currency: "USD", value: 1.001 } });
    const conflict = await client.issueRefund({ ...refund, clientReferenceId: "a", clientRefefenceId: "b" });
    const target = await client.subscribeToWebhooks({
      url: "https://10.0.0.7/webhooks",
      secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
      subscriptionDetails: { type: "ALL" },
    });

    expect(decimals).toMatchObject({ status: 400, body: { violations: [{ pointer: "/amount/value" }] } });
    expect(conflict).toMatchObject({
      status: 400,
      body: { violations: [{ pointer: "/clientRefefenceId" }] },
    });
    expect(target).toMatchObject({ status: 400, body: { violations: [{ pointer: "/url" }] } });
    expect(proxy.violations).toEqual([]);
  });
});
