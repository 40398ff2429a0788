import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { rows } from "../conformance/rows/calls.ts";
import { countRows } from "../helpers/factories.ts";
import { useTestServer } from "../helpers/server.ts";
import { forSuite } from "../helpers/suite.ts";
import { createFullMerchant, createMerchants } from "./merchants.ts";
import { findMockMismatches, idleExceptions } from "./mock.ts";
import { createMock } from "./prism.ts";
import { deriveRows, findMismatches, sendRow } from "./rows.ts";

const contract = readContract("openapi");

const server = useTestServer({ engine: "postgres" });
const tokens = forSuite(async () => {
  const { db } = server.database;
  return createMerchants(db, await createFullMerchant(db));
});

test("each row has a name of its own", () => {
  const names = rows.map(({ name }) => name);

  expect(names).toEqual([...new Set(names)]);
});

test.each(rows)("the server responds as its row says: $name", async (row) => {
  const before = await countRows(server);

  const response = await sendRow(server.url, row, tokens[row.operation]);

  expect(findMismatches(contract, row, response)).toEqual([]);
  if (Number(row.expected.status) >= 400) expect(await countRows(server)).toEqual(before);
});

/** Requests that the mock gets at the same time. */
const IN_FLIGHT = 20;

test("the mock refuses and accepts what the document's constraints say", { timeout: 60_000 }, async () => {
  await using mock = await createMock(contract.document);
  const derived = deriveRows(contract.document);
  const wrong: Record<string, string[]> = {};
  const waiting = [...derived];
  const sendNext = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const response = await sendRow(mock.url, row, tokens[row.operation]);
      const mismatches = findMockMismatches(contract, row, response);
      if (mismatches.length > 0) wrong[row.name] = mismatches;
    }
  };

  await Promise.all(Array.from({ length: IN_FLIGHT }, sendNext));

  expect(wrong).toEqual({});
  expect(idleExceptions(derived)).toEqual([]);
});
