import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { type EraseParts, eraseCustomer, eraseMerchant } from "../../../server/operators/erase-command.ts";
import { getPayment } from "../../../server/storage/payments/payment-record.ts";
import { emitResourceEvent } from "../../../server/storage/webhooks/event-fan-out.ts";
import { endSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { collectOutput, runCommand } from "../../helpers/admin-command.ts";
import { dumpDatabase, useDatabase } from "../../helpers/databases.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import {
  createPayment,
  createRefund,
  createSubscription,
  decideRefund,
  issueRefund,
  LATER,
  newMerchant,
  saveRefund,
} from "../../helpers/store-factories.ts";

const MINUTE_MS = 60_000;
/** Later than everything in these tests. */
const BEFORE = new Date(Math.max(LATER.getTime(), Date.now()) + MINUTE_MS);
const TEXT = "order \u009b2J of Jane";

describe.each(engines)("the data of a merchant on %s", (engine) => {
  const database = useDatabase(engine);

  async function run<Choice>(
    command: (options: EraseParts, choice: Choice) => Promise<boolean>,
    choice: Choice,
  ) {
    const output = collectOutput();
    const { signal } = new AbortController();
    const complete = await command({ db: database.db, output, signal }, choice);
    return { complete, printed: output.printed, complaints: output.complaints };
  }

  /** Everything that is stored of a merchant. */
  async function readAll(merchant: string) {
    const tables = ["payments", "subscriptions", "events", "deliveries"];
    const found = tables.map(async (table) => {
      const { rows } = await sql<{ record: Record<string, unknown> }>`
        select to_jsonb(t) as record from ${sql.table(table)} t where merchant = ${merchant} order by t::text`.execute(
        database.db,
      );
      return rows.map(({ record }) => ({ table, ...record }));
    });
    return (await Promise.all(found)).flat();
  }

  /** A merchant with a refund whose delivery was made at the second attempt, by a subscription that has ended. */
  async function createHistory() {
    const { db } = database;
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(db, merchant);
    const payment = await createPayment(db, { merchant, clientReferenceId: TEXT });
    const { paymentId } = await createRefund(db, payment, {
      now: LATER,
      requestKey: "key",
      clientReferenceId: TEXT,
    });
    await sql`insert into delivery_attempts (webhook_id, merchant, number, at, milliseconds)
      select webhook_id, merchant, number, now(), 1 from deliveries, generate_series(1, 2) as number
      where merchant = ${merchant}`.execute(db);
    await sql`update deliveries set state = 'DELIVERED', due_at = null where merchant = ${merchant}`.execute(
      db,
    );
    await endSubscription(db, { merchant, subscriptionKey, now: LATER });
    return { merchant, payment, paymentId, subscriptionKey };
  }

  test("is erased, except for payments and refunds, which lose the merchant's texts", async () => {
    const { db } = database;
    const { merchant, payment, paymentId } = await createHistory();
    const other = await createHistory();
    const untouched = await readAll(other.merchant);

    const erased = await run(eraseMerchant, { merchant, before: BEFORE });
    const repeated = await run(eraseMerchant, { merchant, before: BEFORE });

    const nothing =
      "erased 0 deliveries, 0 events, 0 ended subscriptions, the texts of 0 payments, and who made 0 subscriptions";
    expect([erased, repeated]).toEqual([
      {
        complete: true,
        printed: [
          `${merchant}: erased 1 delivery, 1 event, 1 ended subscription, the texts of 2 payments, and who made 0 subscriptions`,
        ],
        complaints: [],
      },
      { complete: true, printed: [`${merchant}: ${nothing}`], complaints: [] },
    ]);
    expect(await getPayment(db, { merchant, paymentId })).toMatchObject({
      status: "AUTHORIZED",
      amountCents: 10_00,
      requestKey: "key",
      clientReferenceId: null,
    });
    expect(await issueRefund(db, payment, { requestKey: "key" })).toBe("duplicate");
    const left = await readAll(merchant);
    expect(left.map(({ table }) => table)).toEqual(["payments", "payments"]);
    expect(JSON.stringify(left)).not.toContain("Jane");
    expect(await readAll(other.merchant)).toEqual(untouched);
  });

  test("loses who called and the trace of the call when it is erased", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const caller = { subject: "jane", clientId: "shop", tokenId: "token-1", address: "203.0.113.7" };
    const payment = await createPayment(db, { merchant });
    const refund = await decideRefund(db, payment);
    const trace = {
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      tracestate: "shop=jane-1",
    };
    await saveRefund(db, { ...refund, caller, trace });
    await createSubscription(db, merchant, caller);

    const { printed } = await run(eraseMerchant, { merchant, before: BEFORE });

    expect(printed).toEqual([expect.stringMatching(/ 1 event, .* and who made 1 subscription$/)]);
    const left = await dumpDatabase(db);
    for (const text of [caller.address, trace.traceparent, trace.tracestate])
      expect(left).not.toContain(text);
  });

  test("is erased by a customer's reference, however new it is, once its deliveries are finished", async () => {
    const { db } = database;
    const { merchant, payment, paymentId } = await createHistory();
    const other = await createHistory();
    const unnamed = await createRefund(db, payment, { now: LATER });
    for (const resourceId of ["Jane", "Jim"]) {
      for (let number = 0; number < 2; number += 1)
        await emitResourceEvent(db, { merchant, type: "customer.created", resourceId, now: LATER });
    }
    const untouched = await readAll(other.merchant);
    const erase = async (reference: string) => run(eraseCustomer, { merchant, reference });
    const setState = (state: string) =>
      sql`update deliveries set state = ${state}, due_at = ${state === "PENDING" ? LATER : null}
        where merchant = ${merchant}`.execute(db);

    await setState("PENDING");
    const waiting = await erase(TEXT);
    await setState("DELIVERED");
    const done = await erase(TEXT);
    const repeated = await erase(TEXT);
    const customer = await erase("Jane");

    expect(
      [waiting, done, repeated, customer].map(({ complete, printed }) => [complete, ...printed]),
    ).toEqual([
      [false, `${merchant}: erased 0 deliveries, 0 events, and the texts of 1 payment`],
      [true, `${merchant}: erased 1 delivery, 1 event, and the texts of 1 payment`],
      [true, `${merchant}: erased 0 deliveries, 0 events, and the texts of 0 payments`],
      [false, `${merchant}: erased 0 deliveries, 1 event, and the texts of 0 payments`],
    ]);
    expect([waiting, customer].map(({ complaints }) => complaints)).toEqual(
      Array(2).fill([expect.stringMatching(/^1 event stayed: deliveries .* still pending, or/)]),
    );
    const left: Record<string, unknown>[] = await readAll(merchant);
    expect(JSON.stringify(left)).not.toContain(TEXT);
    const events = left.filter(({ table }) => table === "events").map(({ resource_id }) => resource_id);
    expect(events.map(String).toSorted()).toEqual(["Jane", "Jim", "Jim", unnamed.paymentId].toSorted());
    expect(await getPayment(db, { merchant, paymentId })).toMatchObject({
      clientReferenceId: null,
      amountCents: 10_00,
    });
    expect(await readAll(other.merchant)).toEqual(untouched);
  });

  test("is kept if it is newer, or a delivery is unfinished", async () => {
    const { merchant } = await createHistory();
    const stored = await readAll(merchant);

    const newer = await run(eraseMerchant, { merchant, before: new Date("2020-01-01T00:00:00Z") });
    await sql`update deliveries set state = 'PENDING', due_at = now() where merchant = ${merchant}`.execute(
      database.db,
    );
    const pending = await run(eraseMerchant, { merchant, before: BEFORE });

    expect(newer.printed).toEqual([expect.stringContaining("0 deliveries, 0 events, 0 ended subscriptions")]);
    expect([stored.length, newer.complete, pending.complete]).toEqual([5, true, false]);
    expect(pending.printed).toEqual([
      expect.stringContaining("0 deliveries, 0 events, 0 ended subscriptions"),
    ]);
    expect(pending.complaints).toEqual([
      expect.stringMatching(/^1 delivery stayed.* Disable .* run it again\.$/),
    ]);
  });
});

test.each([
  [["erase", "--merchant", "acme", "--reference", "Jane"], "(not recorded)"],
  [["erase", "--reference=Jane", "--merchant", "acme"], "--reference=(not recorded)"],
])("the record of commands contains no customer's reference: %j", async (args, recorded) => {
  await using production = await startProduction();
  const { DATABASE_URL = "" } = production.env;
  const { database } = await production.start();

  const { code, log } = await runCommand(args, { env: { DATABASE_URL } });

  const { rows } = await sql`select * from admin_actions`.execute(database.db);
  expect([code, rows.length]).toEqual([0, 2]);
  for (const text of [JSON.stringify(rows), log.join("")]) {
    expect(text).toContain(recorded);
    expect(text).not.toContain("Jane");
  }
});

describe("npm run admin", () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1:9/refunds" };

  test.each([
    "2099-01-01",
    "2026-02-30",
    "2026-02-30T00:00:00Z",
    "yesterday",
    "08/01/2026",
    "2026-08-01T10:00",
  ])("erases nothing when its date is not in the past (%s)", async (date) => {
    const { code, stderr } = await runCommand(["erase", "--merchant", "acme", "--before", date], { env });

    expect([code, stderr]).toEqual([2, expect.stringMatching(/--before.*must be a day such as/)]);
  });
});
