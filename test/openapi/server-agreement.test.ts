import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/read-contract.ts";
import { rows } from "../conformance/rows/calls.ts";
import { countRows } from "../helpers/factories.ts";
import { useTestServer } from "../helpers/server.ts";
import { forSuite } from "../helpers/suite.ts";
import { createFullMerchant, createMerchants } from "./merchants.ts";
import { findMismatches, sendRow } from "./rows.ts";

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
