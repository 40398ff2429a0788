/** A server of the original contract, whose responses are compared with those that a mutant promises. */
import type { RequestListener } from "node:http";
import { pino } from "pino";
import type { Node } from "../../../openapi/document/document-node.ts";
import { toContract } from "../../../openapi/document/read-contract.ts";
import { sandboxAccess } from "../../../server/auth/access-tokens.ts";
import { readConfig } from "../../../server/config/config.ts";
import type { ContractDocument } from "../../../server/contract/contract-document.ts";
import { createConcurrencyLimit } from "../../../server/http/concurrency-limit.ts";
import { noObserver } from "../../../server/observability/observer.ts";
import { createApp } from "../../../server/process/express-app.ts";
import { openDatabase } from "../../../server/storage/database/database.ts";
import { openStore } from "../../../server/storage/open-store.ts";
import { createEncryptionKeys } from "../../../server/storage/webhooks/secret-encryption.ts";
import type { RequestCase } from "../../conformance/cases/request-case.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { createFullMerchant, createMerchants } from "../../openapi/merchants.ts";
import { findMockMismatches } from "../../openapi/mock-differences.ts";
import { createMock } from "../../openapi/prism.ts";
import { type DerivedCase, findMismatches, sendCase } from "../../openapi/send-case.ts";

/** Requests by where they come from: a mock can only get those that are derived from the document. */
export type Calls = { readonly derived: readonly DerivedCase[]; readonly cases: readonly RequestCase[] };

/** A store and an address, for servers that run while one document is tested. */
export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** How many derived requests are sent at the same time. After some of the cases, the server closes the connection. */
const AT_ONCE = 10;

/** Opens a harness with a store of its own. Nothing is delivered, because no dispatcher runs. */
export async function openHarness() {
  await using opened = new AsyncDisposableStack();
  const { path: dataDir } = opened.use(await createTempDir());
  const database = await openDatabase({ dataDir });
  opened.defer(() => database.close());
  const full = await createFullMerchant(database.db);
  const realNow = () => new Date();
  const store = await openStore(database);
  const parts = {
    // Without the sandbox's contract, which is not tested here and takes as long to compile.
    config: { ...readConfig({ DATA_DIR: dataDir }), mode: "production" as const },
    ...{ store, findCaller: sandboxAccess(store.findToken).findCaller, refuseBlocked: () => {} },
    concurrency: createConcurrencyLimit({ total: 1_000, perMerchant: 1_000 }),
    ...{ observer: noObserver, clock: { realNow, now: async () => realNow(), isWrong: () => false } },
    encryptionKeys: createEncryptionKeys([Buffer.alloc(32)]),
    targetPolicy: { allowLocal: false, allowPrivate: false },
    ...{ logger: pino({ level: "silent" }), rateLimiter: undefined, readinessChecks: [] },
    ...{ isDraining: () => false, bodyTimeoutMs: 10_000, callLimitMs: 60_000 },
  };
  let listener: RequestListener = () => {};
  const server = opened.use(await serveLocally((request, response) => listener(request, response)));

  /**
   * Makes the calls to a mock and to the server, both with this document, until a response differs from the expected one,
   * and returns the difference. Rejects when one of the two does not start.
   */
  const findMismatch = async (document: Node, { derived, cases }: Calls): Promise<string | undefined> => {
    const contract = toContract(document);
    const tokens = await createMerchants(database.db, full);
    const firstMismatch = async (
      url: string,
      all: readonly RequestCase[],
      find: typeof findMismatches,
      atOnce = AT_ONCE,
    ) => {
      // A connection that the other side has just closed proves nothing.
      const send = (requestCase: RequestCase) => sendCase(url, requestCase, tokens[requestCase.operation]);
      for (let sent = 0; sent < all.length; sent += atOnce) {
        const sending = all.slice(sent, sent + atOnce).map(async (requestCase) => {
          const [mismatch] = find(
            contract,
            requestCase,
            await send(requestCase).catch(() => send(requestCase)),
          );
          return mismatch && `${requestCase.name}: ${mismatch}`;
        });
        const found = (await Promise.all(sending)).find((mismatch) => mismatch !== undefined);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    // The mock starts in a tenth of the time. The server does not start with a document that lacks a required part.
    await using mock = await createMock(document);
    const mismatch = await firstMismatch(mock.url, derived, findMockMismatches);
    if (mismatch !== undefined) return `mock: ${mismatch}`;
    listener = await createApp(parts, document as unknown as ContractDocument);
    return (
      (await firstMismatch(server.url, cases, findMismatches, 1)) ??
      (await firstMismatch(server.url, derived, findMismatches))
    );
  };

  const all = opened.move();
  return { findMismatch, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
