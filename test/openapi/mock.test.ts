import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/read-contract.ts";
import { findMockMismatches, unusedDifferences } from "./mock-differences.ts";
import { createMock } from "./prism.ts";
import { deriveCases, sendCase } from "./send-case.ts";

const contract = readContract("openapi");
/** The mock accepts any. */
const TOKENS = { valid: "valid", unscoped: "unscoped", other: "other", unknown: "unknown" };

/** Requests that the mock gets at the same time. */
const IN_FLIGHT = 20;

test("the mock refuses and accepts what the document's constraints say", async () => {
  await using mock = await createMock(contract.document);
  const derived = deriveCases(contract.document);
  const wrong: Record<string, string[]> = {};
  const waiting = [...derived];
  const sendNext = async () => {
    for (let requestCase = waiting.shift(); requestCase; requestCase = waiting.shift()) {
      const response = await sendCase(mock.url, requestCase, TOKENS);
      const mismatches = findMockMismatches(contract, requestCase, response);
      if (mismatches.length > 0) wrong[requestCase.name] = mismatches;
    }
  };

  await Promise.all(Array.from({ length: IN_FLIGHT }, sendNext));

  expect(wrong).toEqual({});
  expect(unusedDifferences(derived)).toEqual([]);
});
