import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { feedPayments } from "../../../server/operators/import-payments.ts";
import { openStore } from "../../../server/storage/open-store.ts";
import { collectOutput, streamOf } from "../../helpers/admin-command.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { dollars } from "../../helpers/factories.ts";
import {
  allEvents,
  allRecords,
  getDebit,
  issueRefund,
  newMerchant,
  refuseEvents,
} from "../../helpers/store-factories.ts";

const NOW = new Date("2026-11-20T15:00:00.000Z");
const settledAt = "2026-11-18T15:30:00Z";

/** A line that puts a payment of 100.00. */
const put = (merchant: string, paymentId: string, more = {}) => ({
  ...{ op: "put", merchant, paymentId, amount: dollars(100) },
  ...more,
});

describe("original payments fed from lines", () => {
  const database = useDatabase("postgres");

  async function feed(lines: readonly unknown[]) {
    const output = collectOutput();
    const { signal } = new AbortController();
    const options = { store: await openStore(database), now: () => NOW, output, signal };
    const ok = await feedPayments({ ...options, input: streamOf(lines) });
    return { ok, printed: output.printed };
  }

  /** Every change of a payment, as lines of the payment system. */
  function storyOf(merchant: string) {
    const name = (paymentId: string) => ({ merchant, paymentId });
    return [
      put(merchant, "processing", { requestKey: "key", clientReferenceId: "order" }),
      put(merchant, "settled"),
      { op: "settle", ...name("settled"), settledAt },
      put(merchant, "failed"),
      { op: "fail", ...name("failed") },
      put(merchant, "reversed"),
      { op: "settle", ...name("reversed"), settledAt },
      { op: "fail", ...name("reversed") },
      put(merchant, "covered"),
      { op: "settle", ...name("covered"), settledAt },
      { op: "cover", ...name("covered") },
    ];
  }

  test("take the statuses of their lines, with their events", async () => {
    const merchant = newMerchant();

    const { ok, printed } = await feed(storyOf(merchant));

    expect([ok, printed]).toEqual([true, ["11 lines: 11 applied, 0 unchanged, 0 refused"]]);
    const records = await allRecords(database.db, merchant);
    expect(Object.fromEntries(records.map(({ paymentId, status }) => [paymentId, status]))).toEqual({
      processing: "PROCESSING",
      settled: "SETTLED",
      failed: "FAILED",
      reversed: "FAILED",
      covered: "COVERED",
    });
    expect(await getDebit(database.db, { merchant, paymentId: "processing" })).toMatchObject({
      amountCents: 100_00,
      requestKey: "key",
      clientReferenceId: "order",
    });
    expect((await allEvents(database.db, merchant)).map(({ type }) => type).sort()).toEqual([
      "payment.covered",
      "payment.failed",
      "payment.failed",
      "payment.settled",
      "payment.settled",
      "payment.settled",
    ]);
  });

  test("change nothing when the lines are fed again, as a whole or from the middle", async () => {
    const merchant = newMerchant();
    const story = storyOf(merchant);
    await feed(story);
    const before = [await allRecords(database.db, merchant), await allEvents(database.db, merchant)];

    const repeated = await feed(story);
    const fromTheMiddle = await feed(story.slice(5));

    expect(repeated).toEqual({ ok: true, printed: ["11 lines: 0 applied, 11 unchanged, 0 refused"] });
    expect(fromTheMiddle.printed).toEqual(["6 lines: 0 applied, 6 unchanged, 0 refused"]);
    expect([await allRecords(database.db, merchant), await allEvents(database.db, merchant)]).toEqual(before);
  });

  test("are refused line by line with the reason, and the others are carried out", async () => {
    const merchant = newMerchant();
    await feed(storyOf(merchant));
    const settled = await getDebit(database.db, { merchant, paymentId: "settled" });
    const refund = await issueRefund(database.db, settled, { now: NOW });
    const refundId = refund === "duplicate" ? "" : refund.paymentId;
    const name = (paymentId: string) => ({ merchant, paymentId });

    const { ok, printed } = await feed([
      put(merchant, "processing", { amount: dollars(99.99), requestKey: "other" }),
      put(merchant, "new", { requestKey: "key" }),
      put(merchant, refundId),
      "",
      { op: "settle", ...name("settled"), settledAt: "2026-11-17T15:30:00Z" },
      { op: "settle", ...name("unknown"), settledAt },
      { op: "settle", ...name("processing"), settledAt: "2026-11-20T15:00:00.001Z" },
      { op: "settle", ...name("processing"), settledAt: "2019-12-31T00:00:00Z" },
      { op: "cover", ...name("processing") },
      { op: "settle", ...name("failed"), settledAt },
      { op: "fail", ...name(refundId) },
      "{",
      `"${"x".repeat(70_000)}"`,
      { op: "fail", ...name("settled") },
    ]);

    expect(ok).toBe(false);
    expect(printed.toSorted(byLine)).toEqual([
      "line 1 refused: the payment exists with another amount, requestKey, clientReferenceId",
      "line 2 refused: requestKey is used by processing",
      "line 3 refused: paymentId names a refund",
      "line 5 refused: the payment settled at another time, 2026-11-18T15:30:00.000Z",
      "line 6 refused: there is no such payment of this merchant; put it first",
      "line 7 refused: settledAt lies after the present, which is 2026-11-20T15:00:00.000Z",
      "line 8 refused: settledAt must lie in the years 2020 to 2099",
      "line 9 refused: the payment is PROCESSING and can't become COVERED",
      "line 10 refused: the payment is FAILED and can't become SETTLED",
      "line 11 refused: there is no such payment of this merchant; put it first",
      "line 12 refused: is not valid JSON",
      "line 13 refused: is longer than 65536 bytes",
      "13 lines: 1 applied, 0 unchanged, 12 refused",
    ]);
    expect(await getDebit(database.db, { merchant, paymentId: "settled" })).toMatchObject({
      status: "FAILED",
      refundedCents: 0,
    });
  });

  test("that take too long are refused with the lines that depend on them, and delay no others", async () => {
    const merchant = newMerchant();
    const lines = [
      put(merchant, "slow"),
      { op: "settle", merchant, paymentId: "slow", settledAt },
      { op: "fail", merchant, paymentId: "slow" },
      put(merchant, "quick"),
      { op: "fail", merchant, paymentId: "quick" },
    ];
    const allowEvents = await refuseEvents(database.db, "payment.settled", "57014"); // as after the limit for a statement

    const { ok, printed } = await feed(lines);
    await allowEvents();
    const repeated = await feed(lines);

    const tooLong =
      "the database took too long for it, or for an earlier line that it must follow; feed both in another run";
    expect(ok).toBe(false);
    expect(printed.toSorted(byLine)).toEqual([
      `line 2 refused: ${tooLong}`,
      `line 3 refused: ${tooLong}`,
      "5 lines: 3 applied, 0 unchanged, 2 refused",
    ]);
    expect(repeated).toEqual({ ok: true, printed: ["5 lines: 2 applied, 3 unchanged, 0 refused"] });
    const { history } = await getDebit(database.db, { merchant, paymentId: "slow" });
    expect(history.map(({ status }) => status)).toEqual(["PROCESSING", "SETTLED", "FAILED"]);
  });

  test("are applied in the order of their lines, also when hundreds are under way", async () => {
    const merchant = newMerchant();
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const lines = ids.flatMap((paymentId) => [
      put(merchant, paymentId, { requestKey: `key of ${paymentId}` }),
      put(merchant, `${paymentId}-2`.slice(1), { requestKey: `key of ${paymentId}` }),
      { op: "settle", merchant, paymentId, settledAt },
      { op: "cover", merchant, paymentId },
    ]);

    const { printed } = await feed(lines);

    expect(printed.at(-1)).toBe("240 lines: 180 applied, 0 unchanged, 60 refused");
    expect(printed.filter((line) => line.includes("requestKey is used by"))).toHaveLength(60);
    expect(new Set((await allRecords(database.db, merchant)).map(({ status }) => status))).toEqual(
      new Set(["COVERED"]),
    );
  });
});

function byLine(a: string, b: string): number {
  const numberOf = (line: string) => Number(/^line (\d+)/.exec(line)?.[1] ?? Number.POSITIVE_INFINITY);
  return numberOf(a) - numberOf(b);
}
