import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/read-contract.ts";
import { cases } from "../conformance/cases/headers-and-bodies.ts";
import { countRows } from "../helpers/factories.ts";
import { useTestServer } from "../helpers/server.ts";
import { forSuite } from "../helpers/suite.ts";
import { createFullMerchant, createMerchants } from "./merchants.ts";
import { findMismatches, sendCase } from "./send-case.ts";

const contract = readContract("openapi");

const server = useTestServer({ engine: "postgres" });
const tokens = forSuite(async () => {
  const { db } = server.database;
  return createMerchants(db, await createFullMerchant(db));
});

test("each case has a name of its own", () => {
  const names = cases.map(({ name }) => name);

  expect(names).toEqual([...new Set(names)]);
});

test.each(cases)("the server responds as the case says: $name", async (requestCase) => {
  const before = await countRows(server);

  const response = await sendCase(server.url, requestCase, tokens[requestCase.operation]);

  expect(findMismatches(contract, requestCase, response)).toEqual([]);
  if (Number(requestCase.expected.status) >= 400) expect(await countRows(server)).toEqual(before);
});
