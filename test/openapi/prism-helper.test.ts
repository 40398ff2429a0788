import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { BASE_REFUND } from "../conformance/expected/refunds.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import { createProxy } from "../helpers/prism.ts";
import { post } from "../helpers/server.ts";

const { jsonSchemaDialect: _, ...contract } = readContract("openapi").document as unknown as {
  jsonSchemaDialect: string;
  components: { schemas: { Refund: { type: string; required: string[]; properties: object } } };
};
const { type, required, properties } = contract.components.schemas.Refund;
/** The contract without its dialect, and with Refund closed by a keyword that draft 7, which Prism then uses, does not have. */
const document = {
  ...contract,
  components: {
    ...contract.components,
    schemas: {
      ...contract.components.schemas,
      Refund: { type, required, properties, unevaluatedProperties: false },
    },
  },
};
const REFUND = { paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null };

/** Sends a refund through the proxy to a server that gives every call the same response. */
async function callThroughProxy({ status = 201, received = REFUND as object, sent = BASE_REFUND as object }) {
  await using upstream = await serveLocally((request, response) => {
    request.resume();
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(received));
  });
  await using proxy = await createProxy(document, upstream.url);
  const response = await post(proxy.url, "/v1/refunds", sent, { token: "t" });
  return { status: response.status, body: response.body, violations: proxy.violations };
}

test("the proxy hands over a response that is as documented, and reports nothing", async () => {
  expect(await callThroughProxy({})).toEqual({ status: 201, body: REFUND, violations: [] });
});

test.each([
  ["a field that is not documented", 201, { ...REFUND, colour: "red" }, "body"],
  ["a value that is not documented", 201, { ...REFUND, paymentStatus: "FAILED" }, "body.paymentStatus"],
  ["a client error that is not documented", 418, {}, ""],
  ["a server error that is not documented", 502, {}, ""],
])("the proxy reports %s in the upstream's response", async (_fault, status, received, location) => {
  const { violations } = await callThroughProxy({ status, received });

  const violation = { call: "POST /v1/refunds", side: "response", location, message: expect.any(String) };
  expect(violations).toContainEqual(violation);
});

test("the proxy responds by itself to a request that is not as documented", async () => {
  expect((await callThroughProxy({ sent: { ...BASE_REFUND, amount: 1 } })).status).toBe(422);
});
