import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Store } from "../../../server/storage/database/tables.ts";
import { runCommand } from "../../helpers/admin.ts";
import { createPayment, dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { type Production, startProduction } from "../../helpers/production.ts";
import { spawnServer } from "../../helpers/server.ts";
import { record, reportProgress, roundsOf } from "./setup/figures.ts";
import { send } from "./setup/load.ts";

const LOAD_MS = 500;
/** Within which a block is in force on every server. */
const LIMIT_MS = 1_000;
const CALLERS = 4;
const MERCHANT = "merchant";

type Call = { sentAtMs: number; status: number | undefined; paymentStatus: string | undefined };

/** Three servers, and one more in this process for its database. */
async function startReplicas() {
  await using started = new AsyncDisposableStack();
  const production = started.use(await startProduction());
  const { database } = await production.start();
  const paymentId = await createPayment({ database }, { merchant: MERCHANT, amountCents: 9_999_999_00 });
  const urls: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    urls.push(started.use(await spawnServer({ dataDir: "unused", env: production.env })).url);
  }
  const all = started.move();
  const dispose = () => all.disposeAsync();
  return { production, db: database.db, paymentId, urls, [Symbol.asyncDispose]: dispose };
}

/** Refunds a payment at all servers until it is stopped. */
function startCalls({ urls, paymentId }: { urls: readonly string[]; paymentId: string }, token: string) {
  const calls: Call[] = [];
  let stopped = false;
  const call = async (url: string) => {
    while (!stopped) {
      const sentAtMs = performance.now();
      const body = refundOf(paymentId, { amount: dollars(0.01) });
      const response = await send<Refund>(url, "/v1/refunds", body, token);
      const { status, body: refund } = response ?? {};
      calls.push({ sentAtMs, status, paymentStatus: refund?.paymentStatus });
    }
  };
  const callers = urls.flatMap((url) => Array.from({ length: CALLERS }, () => call(url)));
  return {
    calls,
    async stop() {
      stopped = true;
      await Promise.all(callers);
    },
  };
}

async function runAdmin({ env }: Production, ...args: string[]): Promise<number> {
  const { code, stderr } = await runCommand(args, { env: { DATABASE_URL: env.DATABASE_URL ?? "" } });
  expect([code, stderr]).toEqual([0, ""]);
  return performance.now();
}

/** Ends the connections by which servers are notified. */
async function cutListeners(db: Store): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`.execute(db);
}

test("a stolen token is refused by every server within a second, also when none could be notified", async () => {
  await using replicas = await startReplicas();
  const { production, db } = replicas;
  const own = startCalls(replicas, await production.issuer.token({ merchant_id: MERCHANT, jti: "own" }));
  const rounds = roundsOf(0.2);
  const stolen: Call[] = [];
  let late = 0;
  let lastMs = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const jti = `stolen ${round}`;
    const load = startCalls(replicas, await production.issuer.token({ merchant_id: MERCHANT, jti }));
    await setTimeout(LOAD_MS);
    if (round % 2 === 0) await cutListeners(db);
    const blockedAtMs = await runAdmin(production, "block", "--token", jti, "--reason", "stolen");
    await setTimeout(2 * LIMIT_MS);
    await load.stop();

    const accepted = load.calls.filter(({ status }) => status !== 401);
    expect(accepted.length).toBeGreaterThan(0);
    const delays = accepted.map(({ sentAtMs }) => sentAtMs - blockedAtMs);
    late += delays.filter((ms) => ms > LIMIT_MS).length;
    lastMs = Math.max(lastMs, ...delays);
    stolen.push(...load.calls);
    reportProgress("stolen token", round, rounds, { calls: stolen.length, late });
  }
  await own.stop();

  record("stolen token", {
    rounds,
    calls: stolen.length,
    refused: stolen.filter(({ status }) => status === 401).length,
    "accepted after a second": late,
    "ms at most from the end of the command until all are refused": Math.round(lastMs),
  });
  expect(late).toBe(0);
  expect(new Set(own.calls.map(({ status }) => status))).toEqual(new Set([201]));
});

test("held refunds are accepted, and none is authorized at any server until they are released", async () => {
  await using replicas = await startReplicas();
  const { production, db } = replicas;
  const count = async (status: string) => {
    const refunds = db
      .selectFrom("payments")
      .where("kind", "=", "REFUND")
      .where("status", "=", status as "PENDING");
    const { rows } = await refunds
      .select((select) => select.fn.countAll<number>().as("rows"))
      .executeTakeFirstOrThrow();
    return rows;
  };
  const load = startCalls(replicas, await production.issuer.token({ merchant_id: MERCHANT }));
  const rounds = roundsOf(0.2);
  let authorized = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await setTimeout(LOAD_MS);
    // Also while a scan authorizes those of the round before.
    const whom = round % 2 === 0 ? ["--all"] : ["--merchant", MERCHANT];
    await runAdmin(production, "hold", ...whom, "--reason", "a test");
    const before = await count("AUTHORIZED");
    await setTimeout(2 * LIMIT_MS);
    authorized += (await count("AUTHORIZED")) - before;
    expect(await count("PENDING")).toBeGreaterThan(0);
    await runAdmin(production, "release", ...whom);
    reportProgress("held refunds", round, rounds, { calls: load.calls.length, authorized });
  }
  await load.stop();

  const held = load.calls.filter(({ paymentStatus }) => paymentStatus === "PENDING").length;
  record("held refunds", { rounds, calls: load.calls.length, held, "authorized while held": authorized });
  expect(authorized).toBe(0);
  expect(new Set(load.calls.map(({ status }) => status))).toEqual(new Set([201]));
  await expect.poll(() => count("PENDING"), { timeout: 30_000 }).toBe(0);
});
