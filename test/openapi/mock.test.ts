import { describe, expect, test } from "vitest";
import { createClient } from "../../client/src/index.ts";
import { readContract } from "../../openapi/document/contract.ts";
import { createMock } from "../helpers/prism.ts";
import { forSuite } from "../helpers/suite.ts";

const contract = readContract("openapi");

type OperationId = "issueRefund" | "subscribeToWebhooks";

const mock = forSuite(
  () => createMock(contract.document),
  (opened) => opened.close(),
);

/** Calls the mock through the client, asking for one documented response by its name. */
function call(operationId: string, body: unknown, wanted: { status: number; name: string }) {
  const prefer = `code=${wanted.status}, example=${wanted.name}`;
  const client = createClient({
    baseUrl: mock.url,
    accessToken: "sandbox_acme",
    fetch: (request) => {
      request.headers.set("Prefer", prefer);
      return fetch(request);
    },
  });
  return client[operationId as OperationId](body as never); // the body is one of the contract's own examples
}

describe.each(contract.operations)("$id, client against the mock", ({ id, requests, responses }) => {
  test.each(requests)("sends the example $name", async ({ name, value }) => {
    const wanted = responses.find((response) => response.name === name);

    const result = await call(id, value, { status: wanted?.status ?? 0, name });

    expect({ status: result.status, body: result.body }).toEqual({
      status: wanted?.status,
      body: wanted?.value,
    });
  });

  test.each(responses)("receives $status $name", async ({ status, name, value }) => {
    const result = await call(id, requests[0]?.value, { status, name });

    expect({ status: result.status, body: result.body }).toEqual({ status, body: value });
    const { headers } = result.response;
    expect(contract.violationsOf(id, { status, headers, body: result.body })).toEqual([]);
  });
});
