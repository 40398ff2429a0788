import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { createMock, type PrismServer } from "../../scripts/lib/prism.ts";
import { messageTables, wrongRows } from "../../scripts/lib/table/check.ts";
import { type Given, givenFullMerchant, givenMerchants } from "../../scripts/lib/table/given.ts";
import { EXCEPTIONS, faultsOfMock } from "../../scripts/lib/table/mock.ts";
import { faultsOfServer, sendRow } from "../../scripts/lib/table/send.ts";
import { requestTable } from "../../scripts/lib/table/table.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const contract = readContract("openapi");

let server: TestServer;
let mock: PrismServer;
let given: Given;
beforeAll(async () => {
  server = await startTestServer();
  mock = await createMock(contract.document);
  const { db } = server.database;
  given = await givenMerchants(db, await givenFullMerchant(db));
  return async () => {
    await mock.close();
    await server.close();
  };
});

/** @clause 1.5 7.3 8.3 12.1 12.2 12.3 @decision D01 D03 D04 D05 D07 D08 D13 D14 D15 */
describe("the table of calls", () => {
  test("has a name for each call", () => {
    const names = requestTable.map(({ name }) => name);

    expect(names).toEqual([...new Set(names)]);
  });

  test.each(requestTable)("server and mock agree on $name", async (row) => {
    const [fromServer, fromMock] = await Promise.all([
      sendRow(server.url, row, given),
      sendRow(mock.url, row, given),
    ]);

    expect({
      server: faultsOfServer(contract, row, fromServer),
      mock: faultsOfMock(contract, row, fromMock),
    }).toEqual({ server: [], mock: [] });
  });

  test("needs every exception that is made for the mock", () => {
    const used = requestTable.flatMap(({ mock: exception = [] }) => exception);

    expect([...new Set(used)].toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });
});

/** @decision D06 D07 D08 D09 D19 D21 D22 D23 */
describe("the tables of answers and deliveries", () => {
  test("have a name for each message", () => {
    const names = Object.values(messageTables).flatMap((rows) => rows.map(({ name }) => name));

    expect(names).toEqual([...new Set(names)]);
  });

  test("are decided by the document as the decisions say", () => {
    expect([...wrongRows(contract, messageTables)]).toEqual([]);
  });
});
