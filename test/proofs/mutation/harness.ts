import type { RequestListener } from "node:http";
import { pino } from "pino";
import { toContract } from "../../../openapi/document/contract.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { createConcurrencyLimit } from "../../../server/admission/concurrency-limit.ts";
import { createApp } from "../../../server/app.ts";
import { sandboxAccess } from "../../../server/auth/access.ts";
import { readConfig } from "../../../server/config/config.ts";
import type { ContractDocument } from "../../../server/contract/document.ts";
import { noObserver } from "../../../server/observability/observer.ts";
import { openDatabase } from "../../../server/storage/database/database.ts";
import { openStore } from "../../../server/storage/store.ts";
import { createEncryptionKeys, ownKey } from "../../../server/storage/webhooks/secrets.ts";
import type { Row } from "../../conformance/rows/row.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { createFullMerchant, createMerchants } from "../../openapi/merchants.ts";
import { findMockMismatches } from "../../openapi/mock.ts";
import { createMock } from "../../openapi/prism.ts";
import { findMismatches, sendRow } from "../../openapi/rows.ts";
import type { Calls } from "./reach.ts";

/** A store and an address, for servers that run while one document is tested. */
export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** How many derived requests are sent at the same time. After some of the rows, the server closes the connection. */
const AT_ONCE = 10;

/** Opens a harness with a store of its own. Nothing is delivered, because no dispatcher runs. */
export async function openHarness() {
  await using opened = new AsyncDisposableStack();
  const { path: dataDir } = opened.use(await createTempDir());
  const database = await openDatabase({ dataDir });
  opened.defer(() => database.close());
  const { db } = database;
  const full = await createFullMerchant(db);
  const realNow = () => new Date();
  const store = await openStore(database);
  const parts = {
    // Without the sandbox's contract, which is not tested here and takes as long to compile.
    config: { ...readConfig({ DATA_DIR: dataDir }), mode: "production" as const },
    store,
    findCaller: sandboxAccess(store.findToken).findCaller,
    refuseBlocked: () => {},
    concurrency: createConcurrencyLimit({
      total: Number.POSITIVE_INFINITY,
      perMerchant: Number.POSITIVE_INFINITY,
    }),
    observer: noObserver,
    clock: { realNow, now: async () => realNow(), isOff: () => false },
    encryptionKeys: createEncryptionKeys([ownKey(Buffer.alloc(32))]),
    targetPolicy: { allowLocal: false, allowPrivate: false },
    logger: pino({ level: "silent" }),
    rateLimiter: undefined,
    readinessChecks: [database.checkWrites],
    isDraining: () => false,
    bodyTimeoutMs: 10_000,
    callLimitMs: 60_000,
  };

  let listener: RequestListener = () => {};
  const server = opened.use(await serveLocally((request, response) => listener(request, response)));

  /**
   * Makes the calls to a mock and to the server, both with this document, until a response differs from the expected one,
   * and returns the difference. Rejects when one of the two does not start.
   */
  const findMismatch = async (document: Node, { derived, rows }: Calls) => {
    const contract = toContract(document);
    const tokens = await createMerchants(db, full);
    const firstMismatch = async (
      baseUrl: string,
      rows: readonly Row[],
      find: typeof findMismatches,
      atOnce = AT_ONCE,
    ) => {
      for (let sent = 0; sent < rows.length; sent += atOnce) {
        const sending = rows.slice(sent, sent + atOnce).map(async (row) => {
          const [mismatch] = find(contract, row, await sendRow(baseUrl, row, tokens[row.operation]));
          return mismatch && `${row.name}: ${mismatch}`;
        });
        const found = (await Promise.all(sending)).find((mismatch) => mismatch !== undefined);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    // The mock starts in a tenth of the time.
    await using mock = await createMock(document);
    const mismatch = await firstMismatch(mock.url, derived, findMockMismatches);
    if (mismatch !== undefined) return `mock: ${mismatch}`;
    // The server does not start with a document that lacks a required part.
    listener = await createApp(parts, document as unknown as ContractDocument);
    const other =
      (await firstMismatch(server.url, rows, findMismatches, 1)) ??
      (await firstMismatch(server.url, derived, findMismatches));
    return other && `server: ${other}`;
  };

  const all = opened.move();
  return { findMismatch, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
