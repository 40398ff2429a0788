/** Triggers in the database that refuse wrong changes of payments and refunds, even of somebody with SQL. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import {
  ORIGINAL_TRANSITIONS,
  type OriginalStatus,
  REFUND_TRANSITIONS,
  type RefundStatus,
} from "../../../../server/domain/refund-rules.ts";
import {
  accepts,
  beginTransaction,
  refundInsert,
  statusChange,
  useDatabase,
} from "../../../helpers/databases.ts";
import { startProduction } from "../../../helpers/deployment.ts";
import { engines } from "../../../helpers/engine.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import {
  createPayment,
  createRefund,
  LONG_AGO,
  NOW,
  newMerchant,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";

const ORIGINAL_STATUSES: readonly OriginalStatus[] = ["PROCESSING", "SETTLED", "FAILED", "COVERED"];
const REFUND_STATUSES: readonly RefundStatus[] = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"];

const pairsOf = <Status>(statuses: readonly Status[]) =>
  statuses.flatMap((from) => statuses.filter((to) => to !== from).map((to) => [from, to] as const));

describe.each(engines)("whatever SQL the owner of the tables sends to %s,", (engine) => {
  const database = useDatabase(engine);
  const merchant = newMerchant();
  /** Payments of 100.00, the first two with a refund of 60.00, and those refunds. */
  const ids = {
    settled: `pay_${randomUUID()}`,
    processing: "",
    failed: "",
    authorized: "",
    pending: "",
    terminal: "",
  };

  beforeAll(async () => {
    const { db } = database;
    const settled = await createPayment(db, { merchant, paymentId: ids.settled, settledAt: LONG_AGO });
    const processing = await createPayment(db, { merchant, status: "PROCESSING" });
    const failed = await createPayment(db, { merchant, status: "FAILED", settledAt: null });
    ids.processing = processing.paymentId;
    ids.failed = failed.paymentId;
    ids.authorized = (await createRefund(db, settled, { amountCents: 60_00 })).paymentId;
    ids.pending = (await createRefund(db, processing, { amountCents: 60_00 })).paymentId;
    ids.terminal = (await createRefund(db, failed)).paymentId;
  });

  type Which = keyof typeof ids;
  const row = (of: Which, cents: number, status?: string) => ({
    of: ids[of],
    cents,
    ...(status && { status }),
  });
  const refund = (of: Which, cents: number, status?: string) => () =>
    refundInsert(merchant, [row(of, cents, status)]);
  const remove = (which: Which) => () => `delete from payments where payment_id = '${ids[which]}'`;
  const change = (which: Which, columns: string) => () =>
    `update payments set ${columns} where payment_id = '${ids[which]}'`;
  const readRows = async () =>
    (await sql`select * from payments order by payment_id`.execute(database.db)).rows;

  test.each<[string, () => string]>([
    ["a second refund of the same amount", refund("settled", 60_00)],
    [
      "two refunds by one statement",
      () => refundInsert(merchant, [row("settled", 20_01), row("settled", 20_00)]),
    ],
    ["a refund of more than its payment", refund("processing", 100_01, "PENDING")],
    ["a refund of a refund", refund("authorized", 1)],
    ["a refund of a payment that has failed", refund("failed", 1)],
    ["a refund of an unknown payment", () => refundInsert(merchant, [{ of: "pay_unknown", cents: 1 }])],
    [
      "a failed refund of an unknown payment",
      () => refundInsert(merchant, [{ of: "pay_unknown", cents: 1, status: "TERMINAL_FAILED" }]),
    ],
    ["a refund of another merchant's payment", () => refundInsert(newMerchant(), [row("settled", 1)])],
    ["a refund of nothing", () => refundInsert(merchant, [{ of: ids.settled, cents: 0 }])],
    ["a refund with an unknown status", refund("settled", 1, "PAID")],
    ["a refund without its payment", change("authorized", "original_payment_id = null")],
    ["an authorized refund of a payment that has not settled", refund("processing", 1)],
    ["a due refund of a payment that has not settled", change("pending", "due_at = now()")],
    [
      "a refund that is added with a due date before its payment has settled",
      () => copy("pending", { due_at: NOW, amount_cents: 1 }),
    ],
    ["a refund authorized without a due date", () => statusChange(ids.pending, "AUTHORIZED")],
    ["the failure of a payment before that of its refunds", () => statusChange(ids.settled, "FAILED")],
    ["another sum of refunds", change("settled", "refunded_cents = 0")],
    ["another amount of a payment", change("settled", "amount_cents = 200000")],
    ["another amount of a refund", change("authorized", "amount_cents = 1")],
    ["another kind", change("failed", "kind = 'REFUND'")],
    ["another payment for a refund", change("terminal", `original_payment_id = payment_id`)],
    ["another requestKey", change("authorized", "request_key = 'x'")],
    ["a status that the history lacks", change("pending", "status = 'AUTHORIZED', due_at = now()")],
    ["a history with another beginning", change("settled", `history = '[{"status": "SETTLED"}]'`)],
    ["a history without its end", change("settled", "history = '[]'")],
    ["a sequence that goes back", change("authorized", "sequence = 0")],
    ["a sequence that leaves no number for a later event", change("authorized", "sequence = 2147483647")],
    [
      "an error of a refund that has not failed",
      change("authorized", "error_code = 'X', error_message = 'X'"),
    ],
    ["a settled payment without its date", change("settled", "settled_at = null")],
    ["a due date of a payment", change("settled", "due_at = now()")],
    ["a payment deleted before its refund", remove("settled")],
    ["a payment deleted before a failed refund", remove("failed")],
  ])("there is never %s", async (_, attack) => {
    const before = await readRows();

    expect(await accepts(database.db, attack())).toBe(false);

    expect(await readRows()).toEqual(before);
  });

  /** Adds a copy of a payment or a refund of 0.01, with other values in some columns. */
  const copy = (which: Which, columns: object) => {
    const changes = {
      payment_id: `pay_${randomUUID()}`,
      request_key: randomUUID(),
      amount_cents: 1,
      refunded_cents: 0,
      ...columns,
    };
    return `insert into payments select (jsonb_populate_record(original, '${JSON.stringify(changes)}')).*
      from payments original where payment_id = '${ids[which]}'`;
  };
  const withStatus = (status: string) => ({ status, history: [{ status }] });

  test("a copy of a payment or a refund that contradicts nothing is accepted", async () => {
    expect(await accepts(database.db, copy("settled", {}))).toBe(true);
    expect(await accepts(database.db, copy("authorized", {}))).toBe(true);
    expect(await accepts(database.db, copy("terminal", {}))).toBe(true);
  });

  test.each<[string, Which, object]>([
    ["another kind", "settled", { kind: "CREDIT" }],
    ["a sequence below 0", "settled", { sequence: -1 }],
    ["a sequence far above its history", "settled", { sequence: 2_147_483_647 }],
    ["a status that its history lacks", "settled", { history: [{ status: "PROCESSING" }] }],
    ["an unknown status", "settled", withStatus("PAID")],
    ["the status of a refund, though it is none", "settled", withStatus("AUTHORIZED")],
    ["no date of settlement", "settled", { settled_at: null }],
    ["a sum of refunds that nobody has added", "settled", { refunded_cents: 1 }],
    ["refunds of a failed payment", "settled", { ...withStatus("FAILED"), refunded_cents: 1 }],
    ["refunds of a covered payment", "settled", { ...withStatus("COVERED"), refunded_cents: 1 }],
    ["an original payment, though it is no refund", "settled", { original_payment_id: ids.settled }],
    ["a due date, though it is no refund", "settled", { due_at: NOW }],
    ["an error code, though it is no refund", "settled", { error_code: "X" }],
    ["an error message, though it is no refund", "settled", { error_message: "X" }],
    ["the status of a payment, though it is a refund", "authorized", withStatus("SETTLED")],
    ["no requestKey", "authorized", { request_key: null }],
    ["no original", "authorized", { original_payment_id: null }],
    ["refunds of a refund", "authorized", { refunded_cents: 1 }],
    ["a date of settlement of a refund", "authorized", { settled_at: NOW }],
    ["an error of a refund that has not failed", "authorized", { error_code: "X", error_message: "X" }],
    ["no error code of a failed refund", "terminal", { error_code: null }],
    ["no error message of a failed refund", "terminal", { error_message: null }],
  ])("no row is added that has %s", async (_, which, columns) => {
    const before = await readRows();

    expect(await accepts(database.db, copy(which, columns))).toBe(false);

    expect(await readRows()).toEqual(before);
  });

  test("a temporary table does not hide a refund from the sum", async () => {
    const { paymentId } = await createPayment(database.db, { merchant, settledAt: LONG_AGO });

    const accepted = await database.db.connection().execute(async (connection) => {
      await sql`create temporary table payments (like public.payments)`.execute(connection);
      try {
        const insert = () =>
          refundInsert(merchant, [{ of: paymentId, cents: 60_00 }]).replace(
            "into payments",
            "into public.payments",
          );
        return [await accepts(connection, insert()), await accepts(connection, insert())];
      } finally {
        await sql`drop table pg_temp.payments`.execute(connection);
      }
    });

    expect(accepted).toEqual([true, false]);
  });

  const originalTransitions = pairsOf(ORIGINAL_STATUSES).map(
    ([from, to]) =>
      [from, to, ORIGINAL_TRANSITIONS.some((one) => one.from === from && one.to === to)] as const,
  );
  const refundTransitions = pairsOf(REFUND_STATUSES).map(
    ([from, to]) => [from, to, REFUND_TRANSITIONS.some((one) => one.from === from && one.to === to)] as const,
  );

  test.each(originalTransitions)("a payment gets from %s to %s: %s", async (from, to, allowed) => {
    const settledAt = from === "SETTLED" || from === "COVERED" ? NOW : null;
    const { paymentId } = await createPayment(database.db, { merchant, status: from, settledAt });

    expect(await accepts(database.db, statusChange(paymentId, to))).toBe(allowed);
  });

  test.each(refundTransitions)("a refund gets from %s to %s: %s", async (from, to, allowed) => {
    const { paymentId } = await createPayment(database.db, { merchant, settledAt: LONG_AGO });
    await sql.raw(refundInsert(merchant, [{ of: paymentId, cents: 1, status: from }])).execute(database.db);
    const { rows } = await sql<{ payment_id: string }>`
      update payments set due_at = now() where original_payment_id = ${paymentId} returning payment_id`.execute(
      database.db,
    );

    expect(await accepts(database.db, statusChange(rows[0]?.payment_id ?? "", to))).toBe(allowed);
  });
});

describe("transactions at the same time", () => {
  const database = useDatabase("postgres");
  const create = () => createPayment(database.db, { merchant: newMerchant(), settledAt: LONG_AGO });
  type Payment = Awaited<ReturnType<typeof create>>;
  const add = (cents: number, status?: string) => (payment: Payment) =>
    refundInsert(payment.merchant, [{ of: payment.paymentId, cents, ...(status && { status }) }]);
  const fail = ({ paymentId }: Payment) => statusChange(paymentId, "FAILED");
  const remove = ({ paymentId }: Payment) => `delete from payments where payment_id = '${paymentId}'`;

  test.each([
    ["together refund more than the amount", add(60_00), add(60_00)],
    ["add a refund to a payment that fails meanwhile", fail, add(60_00)],
    ["fail a payment to which a refund is added", add(60_00), fail],
    ["delete a payment to which a refund is added", add(1), remove],
    ["delete a payment to which a failed refund is added", add(1, "TERMINAL_FAILED"), remove],
  ])("can't %s", async (_, first, second) => {
    const { db } = database;
    const payment = await create();
    const transaction = await beginTransaction(db);
    await sql.raw(first(payment)).execute(transaction);

    const accepted = accepts(db, second(payment));
    await untilWaitingForLock(db, accepted);
    await transaction.commit().execute();

    expect(await accepted).toBe(false);
  });
});

test("a server starts only where the database adds up refunds", async () => {
  await using production = await startProduction();
  const url = production.url;
  await runStatement(url, "alter table payments disable trigger payments_add_refunds");

  await expect(production.start()).rejects.toMatchObject({
    name: "StoreStartError",
    message: expect.stringMatching(/payments_add_refunds\. .*: select guard_payments\(\)$/),
  });
  await runStatement(url, "select guard_payments()");
  await production.start();
});

test("a server starts only where a crash of PostgreSQL empties none of its tables", async () => {
  await using production = await startProduction();
  await runStatement(production.url, "alter table payouts set unlogged");

  await expect(production.start()).rejects.toThrow(/empty the table payouts, .* set logged$/);
  await runStatement(production.url, "alter table payouts set logged");
  await production.start();
});

test("settings of a role or a database that switch triggers off or change the meaning of statements change no refund", async () => {
  await using production = await startProduction();
  const { url } = production;
  const name = new URL(url).pathname.slice(1);
  for (const setting of [
    "session_replication_role = replica",
    "array_nulls = off",
    "timezone = 'Asia/Kathmandu'",
    "transform_null_equals = on",
  ])
    await runStatement(url, `alter database ${name} set ${setting}`);

  await production.start();

  await runStatement(
    url,
    "create or replace trigger payments_add_refunds after insert on payments referencing new table as added for each statement execute function add_refunds()",
  );
  await expect(production.start()).rejects.toThrow(
    /took a refund of more than its payment.*session_replication_role/,
  );
});
