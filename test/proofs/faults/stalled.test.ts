import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPayment } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { startProduction } from "../../helpers/production.ts";
import { spawnServer } from "../../helpers/server.ts";
import { createRandom, reportProgress, roundsOf } from "./setup/figures.ts";
import { createBusiness, createLastingStore } from "./setup/lasting-store.ts";
import { createLedger, type Ledger, startLoad } from "./setup/load.ts";
import { countLosses, expectIntact, type Losses, repeatUnknown } from "./setup/losses.ts";

const LOAD_MS = 800;
/** How long a stop waits for stalled callers. A stop that takes less time had none to wait for, so it would prove nothing. */
const STALL_MS = 6_500;
const EXIT_LIMIT_MS = 10_000;
/** Requests for a response of many kilobytes: together more than all buffers on the way can contain. */
const UNREAD_RESPONSES = 300;

type Business = AsyncDisposable & {
  start(): Promise<ServerProcess>;
  ledger: Ledger;
  countLosses(server: { url: string }): Promise<Losses>;
};

async function createSandbox(): Promise<Business> {
  const store = await createLastingStore("embedded");
  const server = await store.start();
  const { ledger, receiver } = await createBusiness(server);
  server.kill("SIGTERM");
  await server.exit;
  return {
    start: store.start,
    ledger,
    countLosses: (server) => countLosses(server, ledger, receiver),
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

async function createProductive(): Promise<Business> {
  const production = await startProduction();
  const database = await production.database.open();
  const paymentId = await createPayment({ database }, { merchant: "merchant", amountCents: 9_999_999_00 });
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const ledger = createLedger(paymentId, await production.issuer.token({ exp }));
  return {
    start: () => spawnServer({ dataDir: "unused", env: { ...production.env } }),
    ledger,
    async countLosses() {
      const query = database.db.selectFrom("payments").select(["payment_id", "request_key"]);
      const stored = await query.where("original_payment_id", "=", paymentId).execute();
      const idOf = new Map(stored.map((row) => [row.request_key, row.payment_id]));
      const subscriptions = await database.db
        .selectFrom("subscriptions")
        .select("subscription_key")
        .execute();
      const subscriptionKeys = new Set(subscriptions.map((row) => row.subscription_key));
      const { acknowledged } = ledger;
      const isThere = ([key, refund]: [string, { paymentId: string }]) => idOf.get(key) === refund.paymentId;
      return {
        lost: [
          ...[...acknowledged].filter((entry) => !isThere(entry)).map(([key]) => key),
          ...[...ledger.subscriptions].filter((key) => !subscriptionKeys.has(key)),
        ],
        doubled: stored.flatMap((row) => (acknowledged.has(row.request_key ?? "") ? [] : [row.payment_id])),
      };
    },
    [Symbol.asyncDispose]: production.end,
  };
}

/**
 * Callers that have begun a request, and neither continue nor disconnect. Resolves when the server has noticed all of them.
 */
async function stall(url: string, token: string): Promise<Disposable> {
  const [inHead, inBody] = [await openConnection(url), await openConnection(url)];
  inHead.send("POST /v1/refunds HTTP/1.1\r\nHost: localhost\r\n");
  const Authorization = `Bearer ${token}`;
  inBody.send(head("/v1/refunds", { Authorization, "Content-Length": 100, Expect: "100-continue" }));
  expect(await inBody.response()).toMatchObject({ status: 100 });
  inBody.send('{"paymentId":');

  const { hostname, port } = new URL(url);
  const reader = connect(Number(port), hostname);
  await once(reader, "connect");
  reader.on("error", () => {}).write(head("GET /openapi.json").repeat(UNREAD_RESPONSES));
  // The responses are not read: the socket's own buffer fills up, and then those of the system on both sides.
  await once(reader, "readable");
  return {
    [Symbol.dispose]() {
      for (const connection of [inHead, inBody]) connection[Symbol.dispose]();
      reader.destroy();
    },
  };
}

test.each([
  ["sandbox", createSandbox],
  ["production", createProductive],
])(
  "SIGTERM under load in %s mode, with callers who have stalled: accepted requests get their responses, and it exits 0 in time",
  async (mode, given) => {
    const rounds = roundsOf(0.06);
    const random = createRandom(`stalled ${mode}`);
    await using business = await given();
    const { ledger } = business;
    let withoutResponse = 0;
    let slowestMs = 0;

    for (let round = 1; round <= rounds; round += 1) {
      const server = await business.start();
      const load = startLoad([server], ledger);
      using _ = await stall(server.url, ledger.token);
      await setTimeout(random() * LOAD_MS);
      const stoppedAtMs = performance.now();
      server.kill("SIGTERM");
      expect(await server.exit).toMatchObject({ code: 0, signal: null });
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - stoppedAtMs));
      await load.stop();

      const repeated = await business.start();
      withoutResponse += await repeatUnknown(repeated, ledger);
      repeated.kill("SIGTERM");
      await repeated.exit;
      reportProgress(`SIGTERM, stalled callers, ${mode}`, round, rounds, {
        acknowledged: ledger.acknowledged.size,
      });
    }

    await using last = await business.start();
    const subscribed = ledger.subscriptions.size;
    const figures = { rounds, "done without a response": withoutResponse, "ms at most to exit": slowestMs };
    const losses = await business.countLosses(last);
    expectIntact(`SIGTERM, stalled callers, ${mode}`, ledger, losses, figures);
    expect(withoutResponse).toBe(0);
    expect(ledger.acknowledged.size).toBeGreaterThan(rounds);
    expect(subscribed).toBeGreaterThan(0);
    expect(slowestMs).toBeGreaterThan(STALL_MS);
    expect(slowestMs).toBeLessThan(EXIT_LIMIT_MS);
  },
);
