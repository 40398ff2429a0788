/** A server notices that its database was restored from a backup, and holds refunds until an operator has reconciled them. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pino from "pino";
import { describe, expect, test } from "vitest";
import { startRestoreWatch } from "../../../server/process/restore-detection.ts";
import { openStore } from "../../../server/storage/open-store.ts";
import { backUp } from "../../helpers/databases.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, type Refund, refundOf } from "../../helpers/factories.ts";
import { until } from "../../helpers/receiver.ts";
import { post, type TestServer } from "../../helpers/server.ts";
import { createPayment as createOriginal, createRefund, LONG_AGO } from "../../helpers/store-factories.ts";
import { folderOfTest } from "../../helpers/suite.ts";

/*
 * A database that is restored from a backup has lost its latest refunds, which merchants would then issue and pay again. Each server
 * keeps a mark in a file, by which it notices the loss and holds all refunds until operators have added what is missing.
 */

/** A merchant's business in production, with two servers' marks in a folder. */
async function startBusiness() {
  const production = await startProduction();
  const folder = await folderOfTest();
  const databaseUrl = production.url;
  const token = await production.issuer.token({ merchant_id: "acme" });
  const start = (mark: string, more = {}) =>
    production.start({ env: { HIGH_WATER_MARK_FILE: join(folder, mark), ...more } });
  const run = production.admin;
  const issue = async ({ url }: TestServer, request: object) =>
    (await post<Refund>(url, "/v1/refunds", request, { token })).body;
  const payouts = async () => (await run(["payouts", "--after", "0"])).stdout;
  const untilPaid = (refund: Pick<Refund, "paymentId">) =>
    until(async () => (await payouts()).includes(refund.paymentId));
  const alarms = ({ logLines }: TestServer) =>
    logLines.filter((line) => line.includes("the database went back")).map((line) => JSON.parse(line).msg);
  return {
    ...{ production, folder, databaseUrl, start, run, issue, payouts, untilPaid, alarms },
    [Symbol.asyncDispose]: () => production.end(),
  };
}

const SENTENCE =
  /^the database went back to an earlier state and lacks the (refund rfd_\S+ of acme|payout at \d+), so all refunds are held: /;

describe("a database that was restored", () => {
  test("while no server ran makes the first server that starts hold all refunds, and no later one after their release", async () => {
    await using business = await startBusiness();
    const { start, run, issue, payouts, untilPaid, alarms } = business;
    const [firstServer, secondServer] = [await start("one"), await start("other")];
    const paymentId = await createPayment(firstServer);
    await Promise.all([firstServer.close(), secondServer.close()]);
    await using backup = await backUp(business.databaseUrl);
    const later = [await start("one"), await start("other")] as const;
    const request = refundOf(paymentId);
    const paid = await issue(later[0], request);
    await untilPaid(paid);
    const book = await payouts();
    await Promise.all(later.map((server) => server.close()));
    await backup.restore();

    const first = await start("one");
    const held = await run(["holds"]);
    const refund = await issue(first, refundOf(paymentId));
    const reconciled = await run(["reconcile"], book);
    const repeated = await issue(first, request);
    await run(["release", "--all"]);
    const second = await start("other");

    expect(alarms(first)).toEqual([expect.stringMatching(SENTENCE)]);
    expect(held.stdout).toContain("all merchants");
    expect(refund).toMatchObject({ errorDetails: { errorCode: "REFUNDS_HELD" } });
    expect(reconciled.stdout).toMatch(/^1 line: 1 inserted/);
    expect(repeated).toMatchObject({ existing: { paymentId: paid.paymentId } });
    expect([alarms(second), (await run(["holds"])).stdout]).toEqual([[], "None.\n"]);
    await untilPaid(await issue(second, refundOf(paymentId)));
    expect(await payouts()).not.toContain(paid.paymentId);
  });

  test("under a running server makes it hold all refunds before it publishes another payout", async () => {
    await using business = await startBusiness();
    const { production, start, run, payouts, untilPaid, alarms } = business;
    const { db, close } = await production.database.open();
    const original = await createOriginal(db, { merchant: "acme", settledAt: LONG_AGO });
    const { paymentId } = await createRefund(db, original);
    await close();
    await using backup = await backUp(business.databaseUrl);
    const server = await start("one");
    await untilPaid({ paymentId });

    await backup.restore();
    await until(async () => alarms(server)[0]);
    const held = await payouts();
    await run(["release", "--all"]);

    expect([held, alarms(server)]).toEqual(["", [expect.stringMatching(SENTENCE)]]);
    await untilPaid({ paymentId });
  });

  test("is not suspected after a restart or a complete move to another database", async () => {
    await using business = await startBusiness();
    const { start, issue, untilPaid, alarms } = business;
    const server = await start("one");
    await untilPaid(await issue(server, refundOf(await createPayment(server))));
    await server.close();
    await using moved = await backUp(business.databaseUrl);

    const restarted = await start("one");
    const elsewhere = await start("one", { DATABASE_URL: moved.url });
    await elsewhere.close();

    expect([alarms(restarted), alarms(elsewhere)]).toEqual([[], []]);
  });

  test("is noticed by servers that share one file", async () => {
    await using business = await startBusiness();
    const database = await business.production.database.open();
    const original = await createOriginal(database.db, { merchant: "acme" });
    const refunds = [await createRefund(database.db, original), await createRefund(database.db, original)];
    const [logger, file] = [pino({ level: "silent" }), join(business.folder, "shared")];
    const store = await openStore(database);
    const startOne = () => startRestoreWatch({ store, file, logger });
    const watches = [await startOne(), await startOne()];

    await Promise.all(
      watches.map(async (watch) => {
        for (let round = 0; round < 100; round += 1) {
          watch.onIssued({ merchant: "acme", paymentId: refunds[round % 2]?.paymentId ?? "" });
          await watch.check();
        }
      }),
    );

    expect(JSON.parse(await readFile(file, "utf8")).refunds).toHaveLength(2);
    expect(await readdir(business.folder)).toEqual(["shared"]);
    await database.close();
  });
});
