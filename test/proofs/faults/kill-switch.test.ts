import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Store } from "../../../server/storage/database/tables.ts";
import { dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { record, reportProgress, roundsOf } from "./setup/figures.ts";
import { repeatUntilStopped, send } from "./setup/load.ts";
import { MERCHANT, startProductive } from "./setup/productive.ts";

const LOAD_MS = 500;
/** Within which a block is in force on every server. */
const LIMIT_MS = 1_000;
const CALLERS = 4;

type Call = { sentAtMs: number; status: number | undefined; paymentStatus: string | undefined };

/** Three servers, callers who refund at all of them, and an operator. */
async function startReplicas() {
  const { production, db, paymentId, token, start } = await startProductive();
  const urls = [(await start()).url, (await start()).url, (await start()).url];
  return {
    db,
    /** Refunds until it is stopped. */
    async startCalls(claims = {}) {
      const calls: Call[] = [];
      const ownToken = await token(claims);
      const call = async (url: string) => {
        const sentAtMs = performance.now();
        const body = refundOf(paymentId, { amount: dollars(0.01) });
        const response = await send<Refund>(url, "/v1/refunds", body, ownToken);
        const { status, body: refund } = response ?? {};
        calls.push({ sentAtMs, status, paymentStatus: refund?.paymentStatus });
      };
      const callers = urls.flatMap((url) => Array.from({ length: CALLERS }, () => () => call(url)));
      return { calls, stop: repeatUntilStopped(callers).stop };
    },
    /** Resolves with the time of its end. */
    async admin(...args: string[]) {
      const { code, stderr } = await production.admin(args);
      expect([code, stderr]).toEqual([0, ""]);
      return performance.now();
    },
  };
}

/** Ends the connections by which servers are notified. */
async function cutListeners(db: Store): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`.execute(db);
}

test("a stolen token is refused by every server within a second, also when none could be notified", async () => {
  const { db, startCalls, admin } = await startReplicas();
  const own = await startCalls({ jti: "own" });
  const rounds = roundsOf(0.2);
  const stolen: Call[] = [];
  let late = 0;
  let lastMs = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const jti = `stolen ${round}`;
    const load = await startCalls({ jti });
    await setTimeout(LOAD_MS);
    if (round % 2 === 0) await cutListeners(db);
    const blockedAtMs = await admin("block", "--token", jti, "--reason", "stolen");
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
  const { db, startCalls, admin } = await startReplicas();
  const count = async (status: "AUTHORIZED" | "PENDING") => {
    const refunds = db.selectFrom("payments").where("kind", "=", "REFUND").where("status", "=", status);
    const counted = refunds.select((select) => select.fn.countAll<number>().as("rows"));
    return (await counted.executeTakeFirstOrThrow()).rows;
  };
  const load = await startCalls();
  const rounds = roundsOf(0.2);
  let authorized = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await setTimeout(LOAD_MS);
    // Also while a scan authorizes those of the round before.
    const whom = round % 2 === 0 ? ["--all"] : ["--merchant", MERCHANT];
    await admin("hold", ...whom, "--reason", "a test");
    const before = await count("AUTHORIZED");
    await setTimeout(2 * LIMIT_MS);
    authorized += (await count("AUTHORIZED")) - before;
    expect(await count("PENDING")).toBeGreaterThan(0);
    await admin("release", ...whom);
    reportProgress("held refunds", round, rounds, { calls: load.calls.length, authorized });
  }
  await load.stop();

  const held = load.calls.filter(({ paymentStatus }) => paymentStatus === "PENDING").length;
  record("held refunds", { rounds, calls: load.calls.length, held, "authorized while held": authorized });
  expect(authorized).toBe(0);
  expect(new Set(load.calls.map(({ status }) => status))).toEqual(new Set([201]));
  await expect.poll(() => count("PENDING"), { timeout: 30_000 }).toBe(0);
});
