import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { post, startTestServer, type TestServer } from "../helpers/server.ts";

const contract = readContract("openapi");
const calls = contract.operations.flatMap((operation) =>
  operation.requests.map((request) => ({ operation, request, name: `${operation.id}: ${request.name}` })),
);

/** What the service generates anew each time; an example shows one of the forms. */
function masked(value: unknown): unknown {
  const text = JSON.stringify(value);
  return JSON.parse(
    text
      .replaceAll(/"(rfd|sub)_[0-9a-f-]{36}"/g, '"$1_…"')
      .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "urn:uuid:…"),
  );
}

describe("every example of the contract, sent to a fresh sandbox as printed", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    return () => server.close();
  });

  test("finds a documented answer of the same name for every request", () => {
    for (const { operation, request } of calls) {
      expect(operation.responses.map(({ name }) => name)).toContain(request.name);
    }
  });

  /** @clause 7.4 8.4 */
  test.each(calls)("$name is answered as the document says", async ({ operation, request }) => {
    const answer = await post(server.url, operation.path, request.value);

    const documented = operation.responses.find(({ name }) => name === request.name);
    expect(answer.status).toBe(documented?.status);
    expect(masked(answer.body)).toEqual(masked(documented?.value));
    expect(contract.faultsOf(operation.id, answer)).toEqual([]);
  });

  test("the same refund again is answered as a duplicate, as the document says", async () => {
    const { path, requests, responses } = contract.operation("issueRefund");
    const request = requests.find(({ name }) => name === "authorized")?.value;

    const answer = await post(server.url, path, request);

    const documented = responses.find(({ name }) => name === "duplicateOfRefund");
    expect(answer.status).toBe(409);
    expect(masked(answer.body)).toEqual(masked(documented?.value));
  });
});
