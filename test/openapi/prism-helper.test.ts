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

test.each([
  ["nothing of what is as documented", 201, REFUND, []],
  ["a field that is not documented", 201, { ...REFUND, colour: "red" }, ["body"]],
  ["a value that is not documented", 201, { ...REFUND, paymentStatus: "FAILED" }, ["body.paymentStatus"]],
  ["a status that is not documented", 418, {}, [""]],
])("the proxy to a server reports %s", async (_, status, received, locations) => {
  await using upstream = await serveLocally((request, response) => {
    request.resume();
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(received));
  });
  await using proxy = await createProxy(document, upstream.url);

  const { body } = await post(proxy.url, "/v1/refunds", BASE_REFUND, { token: "t" });

  if (locations.length === 0) expect(body).toEqual(received);
  const violation = { call: "POST /v1/refunds", side: "response", message: expect.any(String) };
  expect(proxy.violations).toMatchObject(locations.map((location) => ({ ...violation, location })));
});
