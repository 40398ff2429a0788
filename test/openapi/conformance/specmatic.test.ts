import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeSpecmatic, prepareContract, readOutput } from "../../proofs/specmatic/specmatic.ts";

const block = (scenario: string, response: string) => `
  Request to http://127.0.0.1:3000 at 2026-11-22 5:23:53.1
    POST /v1/refunds
  Response at 2026-11-22 5:23:53.2
    ${response}

${scenario} has FAILED
Reason:
`;

const violation = (pointer: string) =>
  `400 Bad Request\n "errorCode": "INVALID_REQUEST", "violations": [{"pointer": "${pointer}"}]`;

const OUTPUT = [
  "+ve  Scenario: POST /v1/refunds -> 201 with a request has SUCCEEDED",
  block("+ve  Scenario: POST /v1/refunds -> 201 with a long amount", violation("/amount/value")),
  block("+ve  Scenario: POST /v1/refunds -> 201 with a short key", '409 Conflict\n "DUPLICATE_REQUEST_KEY"'),
  block("+ve  Scenario: POST /v1/webhook/subscribe -> 200", '409 Conflict\n "SUBSCRIPTION_LIMIT"'),
  block("+ve  Scenario: POST /v1/refunds -> 201 with a payment", "404 Not Found\n"),
  block("+ve  Scenario: POST /v1/refunds -> 201 with a descriptor", violation("/softDescriptor")),
  block("-ve  Scenario: POST /v1/refunds -> 4xx with a boolean amount", "201 Created\n"),
  "Tests run: 7, Successes: 1, Failures: 6, WIP: 0, Errors: 0",
].join("\n--------------------\n");

test("tells false alarms of Specmatic from failures", () => {
  const report = readOutput(OUTPUT);

  expect(report).toMatchObject({ tests: 7, asExpected: 1 });
  expect([...report.explained.values()]).toEqual([1, 1, 1, 1]);
  expect(report.failures).toEqual([
    expect.stringContaining("with a descriptor"),
    expect.stringContaining("with a boolean amount"),
  ]);
  expect(describeSpecmatic(report).at(-1)).toBe("1 passed, 2 failed, 4 false alarms");
});

test("refuses output without a result", () => {
  expect(() => readOutput("java.lang.OutOfMemoryError")).toThrow("did not come to its end");
});

test("prepares the contract with acceptable values, and leaves its other rules", async () => {
  const contract = JSON.parse(await readFile("openapi/generated/openapi.json", "utf8"));
  const prepared = JSON.parse(JSON.stringify(prepareContract(contract, "pay_1")));
  const { Amount, RefundRequest } = prepared.components.schemas;

  expect(JSON.stringify(prepared)).not.toMatch(/"examples?":/);
  expect(RefundRequest.properties.paymentId).toEqual({ type: "string", enum: ["pay_1"] });
  expect(RefundRequest.properties).not.toHaveProperty("clientRefefenceId");
  expect(RefundRequest.required).toEqual(contract.components.schemas.RefundRequest.required);
  expect(Amount.properties.value.maximum).toBe(9999999999.99);
});
