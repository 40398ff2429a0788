import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { openDatabase } from "../../server/storage/database.ts";
import { type AdminRun, spawnCommand } from "../admin/given.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { allEvents, allRecords, newMerchant } from "../storage/given.ts";
import { createRandom, record, roundsOf, tell } from "./figures.ts";

const PAYMENTS = 2_000;
/** About what the command needs to start, and to carry all lines out. */
const FEED_MS = 4_000;

test("PostgreSQL killed in the middle of a feed of payments: it says so, and run again it does the rest", async () => {
  const rounds = roundsOf(0.2);
  const random = createRandom("feed");
  const postgres = await startPostgres({ durable: true });
  const databaseUrl = postgres.urlOf("postgres");
  const counted = { "broken off": 0, "carried out before": 0, lost: 0, doubled: 0 };

  for (let round = 1; round <= rounds; round += 1) {
    const merchant = newMerchant();
    const stdin = linesFor(merchant);
    const feed = () => spawnCommand(["payments"], { env: { DATABASE_URL: databaseUrl }, stdin });
    const running = feed();
    await setTimeout(random() * FEED_MS);
    await postgres.crash(round % 2 === 1 ? "SIGKILL" : "SIGQUIT");
    const first = await running;
    await postgres.restart();
    if (first.code !== 0) {
      counted["broken off"] += 1;
      expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining("run it again") });
    }
    const again = await feed();
    expect(again).toMatchObject({ code: 0, stderr: "" });
    counted["carried out before"] += unchangedOf(again);

    const { db, close } = await openDatabase({ databaseUrl, dataDir: "unused" });
    const [records, events] = [await allRecords(db, merchant), await allEvents(db, merchant)];
    await close();
    counted.lost += PAYMENTS - records.filter(({ status }) => status === "SETTLED").length;
    counted.doubled += records.length - PAYMENTS + (events.length - PAYMENTS);
    tell("PostgreSQL killed during a feed", round, rounds, counted);
  }

  await postgres.stop();
  record("PostgreSQL killed during a feed", { rounds, ...counted });
  expect(counted).toMatchObject({ lost: 0, doubled: 0 });
  expect(counted["broken off"]).toBeGreaterThan(0);
});

function linesFor(merchant: string): string {
  const ofPayment = (_: unknown, index: number) => [
    { op: "put", merchant, paymentId: `pay_${index}`, amount: { currency: "USD", value: 1 } },
    { op: "settle", merchant, paymentId: `pay_${index}`, settledAt: "2026-11-18T15:30:00Z" },
  ];
  const lines = Array.from({ length: PAYMENTS }, ofPayment).flat();
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function unchangedOf({ stdout }: AdminRun): number {
  return Number(/(\d+) unchanged/.exec(stdout)?.[1] ?? 0);
}
