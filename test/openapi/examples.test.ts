import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { post, useTestServer } from "../helpers/server.ts";

const contract = readContract("openapi");
const calls = contract.operations.flatMap((operation) =>
  operation.requests.map((request) => ({ operation, request, name: `${operation.id}: ${request.name}` })),
);

/** Values that the service generates for each call; an example shows one of them. */
function masked(value: unknown): unknown {
  const text = JSON.stringify(value);
  return JSON.parse(
    text
      .replaceAll(/"(rfd|sub)_[0-9a-f-]{36}"/g, '"$1_…"')
      .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "urn:uuid:…"),
  );
}

describe("every example of the contract, sent to a fresh sandbox as printed", () => {
  const server = useTestServer();

  test("finds a documented response of the same name for every request", () => {
    for (const { operation, request } of calls) {
      expect(operation.responses.map(({ name }) => name)).toContain(request.name);
    }
  });

  /** @clause 7.4 8.4 */
  describe("gets the documented response", () => {
    test.each(calls)("$name", async ({ operation, request }) => {
      const response = await post(server.url, operation.path, request.value);

      const documented = operation.responses.find(({ name }) => name === request.name);
      expect(response.status).toBe(documented?.status);
      expect(masked(response.body)).toEqual(masked(documented?.value));
      expect(contract.violationsOf(operation.id, response)).toEqual([]);
    });
  });

  test("the same refund again gets the documented duplicate response", async () => {
    const { path, requests, responses } = contract.operation("issueRefund");
    const request = requests.find(({ name }) => name === "authorized")?.value;

    const response = await post(server.url, path, request);

    const documented = responses.find(({ name }) => name === "duplicateOfRefund");
    expect(response.status).toBe(409);
    expect(masked(response.body)).toEqual(masked(documented?.value));
  });
});
