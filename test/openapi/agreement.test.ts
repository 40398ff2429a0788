import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { messageTables, wrongRows } from "../conformance/expected/document-checks.ts";
import { EXCEPTIONS } from "../conformance/expected/exceptions.ts";
import { findMockMismatches } from "../conformance/expected/mock.ts";
import { requestTable } from "../conformance/expected/requests.ts";
import { findServerMismatches, sendRow } from "../conformance/expected/send.ts";
import { createMock } from "../conformance/prism.ts";
import { countRows } from "../helpers/factories.ts";
import { useTestServer } from "../helpers/server.ts";
import { forSuite } from "../helpers/suite.ts";
import { createFullMerchant, createMerchants } from "./merchants.ts";

const contract = readContract("openapi");

const server = useTestServer({ engine: "postgres" });
const mock = forSuite(() => createMock(contract.document));
const tokens = forSuite(async () => {
  const { db } = server.database;
  return createMerchants(db, await createFullMerchant(db));
});

describe("the table of calls", () => {
  test("has a name for each call", () => {
    const names = requestTable.map(({ name }) => name);

    expect(names).toEqual([...new Set(names)]);
  });

  test.each(requestTable)("server and mock agree on $name", async (row) => {
    const before = await countRows(server);

    const [fromServer, fromMock] = await Promise.all([
      sendRow(server.url, row, tokens[row.operation]),
      sendRow(mock.url, row, tokens[row.operation]),
    ]);

    expect({
      server: findServerMismatches(contract, row, fromServer),
      mock: findMockMismatches(contract, row, fromMock),
    }).toEqual({ server: [], mock: [] });
    if (row.expected.status >= 400) expect(await countRows(server)).toEqual(before);
  });

  test("needs every exception that is made for the mock", () => {
    const used = requestTable.flatMap(({ mock: exception = [] }) => exception);

    expect([...new Set(used)].toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });
});

describe("the tables of responses and deliveries", () => {
  test("have a name for each message", () => {
    const names = Object.values(messageTables).flatMap((rows) => rows.map(({ name }) => name));

    expect(names).toEqual([...new Set(names)]);
  });

  test("are decided by the document as the decisions say", () => {
    expect([...wrongRows(contract, messageTables)]).toEqual([]);
  });
});
