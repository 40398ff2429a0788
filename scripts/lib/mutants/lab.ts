import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { sandboxAccess } from "../../../server/access.ts";
import { createApp } from "../../../server/app.ts";
import { readConfig } from "../../../server/config.ts";
import { admitAtMost } from "../../../server/http/backpressure.ts";
import type { ContractDocument } from "../../../server/http/contract.ts";
import { noMetrics } from "../../../server/metrics/metrics.ts";
import { bindStore } from "../../../server/storage/bind.ts";
import { openDatabase } from "../../../server/storage/database.ts";
import { storage } from "../../../server/storage/storage.ts";
import type { Node } from "../constraints/pointer.ts";
import { toContract } from "../contract.ts";
import { createMock } from "../prism.ts";
import { type Given, givenFullMerchant, givenMerchants } from "../table/given.ts";
import { faultsOfMock } from "../table/mock.ts";
import type { Row } from "../table/row.ts";
import { faultsOfServer, sendRow } from "../table/send.ts";

/** A store and an address, for servers that live as long as one document is tried. */
export interface Lab extends AsyncDisposable {
  /**
   * Makes the calls to a mock and to the server, both of this document, until one is answered otherwise than expected, and
   * says which. Rejects when one of the two does not start.
   */
  findFault(document: Node, rows: readonly Row[]): Promise<string | undefined>;
  /** Serves a document, until the next one is tried, to new merchants. */
  serve(document: Node): Promise<{ readonly url: string; readonly given: Given }>;
  /** Calls made so far. */
  readonly calls: number;
}

/** Opens a lab with its store in a folder. Nothing is delivered: nobody runs the dispatcher. */
export async function openLab(dataDir: string): Promise<Lab> {
  const database = await openDatabase({ dataDir });
  const { db } = database;
  const full = await givenFullMerchant(db);
  const realNow = () => new Date();
  const store = bindStore(db, storage);
  const parts = {
    // Without the sandbox's contract, which is not tried here and takes as long to compile.
    config: { ...readConfig({ DATA_DIR: dataDir }), mode: "production" as const },
    store,
    findCaller: sandboxAccess(store.findToken).findCaller,
    admission: admitAtMost(Number.POSITIVE_INFINITY),
    metrics: noMetrics,
    clock: { realNow, now: async () => realNow() },
    encryptionKeys: [Buffer.alloc(32)],
    targetPolicy: { allowLocal: false, allowPrivate: false },
    logger: pino({ level: "silent" }),
    checkReady: database.ping,
    runDue: async () => {},
    isDraining: () => false,
    bodyTimeoutMs: 10_000,
    callLimitMs: 60_000,
  };

  let listener: RequestListener = () => {};
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const serve = async (document: Node) => {
    // The server reads of a document what every document has; where this one lacks it, it does not start.
    listener = await createApp({ ...parts, document: document as unknown as ContractDocument });
    return { url, given: await givenMerchants(db, full) };
  };

  let calls = 0;
  const findFault = async (document: Node, rows: readonly Row[]) => {
    const contract = toContract(document);
    const given = await givenMerchants(db, full);
    const firstFault = async (baseUrl: string, faultsOf: typeof faultsOfServer) => {
      for (const row of rows) {
        calls += 1;
        const [fault] = faultsOf(contract, row, await sendRow(baseUrl, row, given));
        if (fault !== undefined) return `${row.name}: ${fault}`;
      }
      return undefined;
    };
    // The mock takes a tenth of the time to make.
    await using mock = await createMock(document);
    const fault = await firstFault(mock.url, faultsOfMock);
    if (fault !== undefined) return `mock: ${fault}`;
    await serve(document);
    const other = await firstFault(url, faultsOfServer);
    return other && `server: ${other}`;
  };

  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await database.close();
  };
  return {
    findFault,
    serve,
    get calls() {
      return calls;
    },
    [Symbol.asyncDispose]: close,
  };
}
