import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../server/storage/database.ts";
import { type AdminRun, spawnCommand } from "../../helpers/admin.ts";
import { GENEROUS_LIMITS } from "../../helpers/databases.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { allEvents, allRecords, newMerchant } from "../../helpers/store-factories.ts";
import { until } from "../../helpers/subscriber.ts";
import { createRandom, record, reportProgress, roundsOf } from "./setup/figures.ts";

const PAYMENTS = 2_000;

test("PostgreSQL killed in the middle of a feed of payments: it says so, and run again it does the rest", async () => {
  const rounds = roundsOf(0.2);
  const random = createRandom("feed");
  const postgres = await startPostgres({ durable: true });
  // Also when the test fails, because nothing else would end it.
  onTestFinished(postgres.stop);
  const databaseUrl = postgres.urlOf("postgres");
  const { db, close } = await openDatabase({ databaseUrl, dataDir: "unused", limits: GENEROUS_LIMITS });
  const counted = { "carried out before": 0, lost: 0, doubled: 0 };

  for (let round = 1; round <= rounds; round += 1) {
    const merchant = newMerchant();
    const stdin = linesFor(merchant);
    const feed = () => spawnCommand(["payments"], { env: { DATABASE_URL: databaseUrl }, stdin });
    const running = feed();
    const part = Math.ceil((random() * PAYMENTS) / 2);
    await until(async () => {
      const { length } = await db
        .selectFrom("payments")
        .select("payment_id")
        .where("merchant", "=", merchant)
        .execute();
      return length >= part || undefined;
    });
    await postgres.crash(round % 2 === 1 ? "SIGKILL" : "SIGQUIT");
    const first = await running;
    await postgres.restart();
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining("Broken off. Run it again") });
    const repeated = await feed();
    expect(repeated).toMatchObject({ code: 0, stdout: expect.stringMatching(/ 0 refused\n$/) });
    counted["carried out before"] += unchangedOf(repeated);

    const [records, events] = [await allRecords(db, merchant), await allEvents(db, merchant)];
    counted.lost += PAYMENTS - records.filter(({ status }) => status === "SETTLED").length;
    counted.doubled += records.length - PAYMENTS + (events.length - PAYMENTS);
    reportProgress("PostgreSQL killed during a feed", round, rounds, counted);
  }

  await close();
  record("PostgreSQL killed during a feed", { rounds, ...counted });
  expect(counted).toMatchObject({ lost: 0, doubled: 0 });
  expect(counted["carried out before"]).toBeGreaterThan(0);
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
