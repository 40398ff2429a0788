import { expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { findMockMismatches, unusedDifferences } from "../../openapi/mock-differences.ts";
import { createMock } from "../../openapi/prism.ts";
import { deriveRows, sendRow } from "../../openapi/rows.ts";

const contract = readContract("openapi");
/** The mock accepts any. */
const TOKENS = { valid: "valid", unscoped: "unscoped", other: "other", unknown: "unknown" };

/** Requests that the mock gets at the same time. */
const IN_FLIGHT = 20;

test("the mock refuses and accepts what the document's constraints say", { timeout: 60_000 }, async () => {
  await using mock = await createMock(contract.document);
  const derived = deriveRows(contract.document);
  const wrong: Record<string, string[]> = {};
  const waiting = [...derived];
  const sendNext = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const response = await sendRow(mock.url, row, TOKENS);
      const mismatches = findMockMismatches(contract, row, response);
      if (mismatches.length > 0) wrong[row.name] = mismatches;
    }
  };

  await Promise.all(Array.from({ length: IN_FLIGHT }, sendNext));

  expect(wrong).toEqual({});
  expect(unusedDifferences(derived)).toEqual([]);
});

test("the proxy reports a problem whose status is that of another response", async () => {
  const { responses, path, requests } = contract.operation("issueRefund");
  const problems = responses.filter(({ status }) => status >= 400);
  await using upstream = await serveLocally((request, response) => {
    request.resume();
    response.writeHead(Number(request.headers["x-status"]), { "Content-Type": "application/problem+json" });
    response.end(request.headers["x-body"]);
  });
  await using proxy = await createMock(contract.document, upstream.url);
  const violationsOf = async (status: number, problem: unknown) => {
    const headers = {
      Authorization: "Bearer any",
      "Content-Type": "application/json",
      Accept: "application/problem+json",
      "X-Status": String(status),
      "X-Body": JSON.stringify(problem),
    };
    const sent = { method: "POST", headers, body: JSON.stringify(requests[0]?.value) };
    const response = await fetch(proxy.url + path, sent);
    return (JSON.parse(response.headers.get("sl-violations") ?? "[]") as { location: string[] }[])
      .map(({ location }) => location.join("."))
      .filter((location) => /body\.status$/.test(location));
  };

  for (const { name, status, value } of problems) {
    const other = problems.find((problem) => problem.status !== status)?.value as Node;

    expect(await violationsOf(status, value), name).toEqual([]);
    expect(await violationsOf(status, { ...(value as Node), status: other.status }), name).toEqual([
      "response.body.status",
    ]);
  }
});
