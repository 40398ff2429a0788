/** `refunds-admin check`: compares the records in the database with each other, and lists differences. */
import { expect, test } from "vitest";
import { readLastCheck } from "../../../server/storage/backlog.ts";
import type { Db } from "../../../server/storage/database/db-types.ts";
import { transitionOriginal } from "../../../server/storage/payments/original-transitions.ts";
import { type AdminRun, runCommand } from "../../helpers/admin-command.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { query } from "../../helpers/postgres.ts";
import {
  authorizeDueIn,
  createPayment,
  createRefund,
  createSubscription,
  decideRefund,
  LATER,
  LONG_AGO,
  NOW,
  saveRefund,
} from "../../helpers/store-factories.ts";
import { forEachTest } from "../../helpers/suite.ts";

const stored = useDatabase("postgres", forEachTest);

const run = (...args: string[]): Promise<AdminRun> =>
  runCommand(args, { env: { DATABASE_URL: stored.url, RETENTION_DAYS: "off" } });

/** A payment of 100.00 with a refund of 10.00, both named after what will be done to them. */
async function createPair(db: Db, name: string) {
  const payment = await createPayment(db, {
    merchant: "acme",
    paymentId: `pay_${name}`,
    settledAt: LONG_AGO,
  });
  await saveRefund(db, { ...(await decideRefund(db, payment)), paymentId: `rfd_${name}` });
}

/** Needed first, or the database refuses the corruptions below; and the line that `check` then prints. */
const GUARDS = [
  "alter table payments disable trigger payments_sum",
  "table payments: the trigger payments_sum is missing or disabled, and should be enabled",
] as const;

async function dropConstraints(): Promise<void> {
  const statements = await query<{ statement: string }>(
    stored.url,
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement from pg_constraint
     where connamespace = 'public'::regnamespace and (contype = 'f' or conname = 'refunded_within_amount')`,
  );
  for (const { statement } of [...statements, { statement: GUARDS[0] }]) await query(stored.url, statement);
}

/** Each corruption, and what `check` must report. */
const CORRUPTIONS: Readonly<Record<string, readonly [change: string, ...lines: string[]]>> = {
  sum: [
    "update payments set refunded_cents = 0 where payment_id = 'pay_sum'",
    "pay_sum of acme: refunded_cents is 0, and should be 1000 by its refunds, at most 10000",
  ],
  over: [
    "update payments set amount_cents = 999 where payment_id = 'pay_over'",
    "pay_over of acme: refunded_cents is 1000, and should be 1000 by its refunds, at most 999",
  ],
  amount: [
    "update payments set amount_cents = 1 where payment_id = 'rfd_amount'",
    "pay_amount of acme: refunded_cents is 1000, and should be 1 by its refunds, at most 10000",
  ],
  chain: [
    `update payments set refunded_cents = 0 where payment_id = 'pay_chain';
     update payments set original_payment_id = 'rfd_sum' where payment_id = 'rfd_chain'`,
    "rfd_chain of acme: status is AUTHORIZED, and should be one that fits rfd_sum, which is REFUND AUTHORIZED",
    "rfd_sum of acme: refunded_cents is 0, and should be 1000 by its refunds, at most 1000",
  ],
  failed: [
    `update payments set status = 'FAILED', refunded_cents = 1000, history = history || '{"status": "FAILED"}'
     where payment_id = 'pay_failed'`,
    "rfd_failed of acme: status is AUTHORIZED, and should be one that fits pay_failed, which is DEBIT FAILED",
  ],
  gone: [
    "delete from payments where payment_id = 'pay_gone'",
    "rfd_gone of acme: status is AUTHORIZED, and should be one that fits pay_gone, which is missing",
  ],
  status: [
    'update payments set history = \'[{"status": "SETTLED"}, {"status": "FAILED"}]\' where payment_id = \'pay_status\'',
    "pay_status of acme: status is SETTLED, and should be FAILED by its history",
  ],
  history: [
    'update payments set history = \'[{"status": "FAILED"}, {"status": "SETTLED"}]\' where payment_id = \'pay_history\'',
    "pay_history of acme: history is FAILED SETTLED, and should be a transition that there is",
  ],
  lost: [
    "delete from events where resource_id = 'rfd_lost'",
    "rfd_lost of acme: event 1 is none, and should be refund.authorized by its history",
  ],
  type: [
    "update events set type = 'refund.pending', event_id = 'evt_type' where resource_id = 'rfd_type'",
    "rfd_type of acme: event 1 is refund.pending (evt_type), and should be refund.authorized by its history",
  ],
  extra: [
    "insert into events values ('evt_extra', 'acme', 'payment.failed', 'pay_extra', 1, now(), '{}')",
    "pay_extra of acme: event 1 is payment.failed (evt_extra), and should be none by its history",
  ],
  delivery: [
    `insert into deliveries (webhook_id, event_id, merchant, subscription_key, state)
     values ('msg_delivery', 'evt_gone', 'acme', 'sub_gone', 'DELIVERED')`,
    "msg_delivery of acme: delivery is DELIVERED of evt_gone to sub_gone after 0, and should be no event, no subscription, 0 attempts",
  ],
};

test("a check finds no difference in what servers and operators write, and the metrics have its result", async () => {
  const { db } = stored;
  await createSubscription(db, "acme");
  await createPair(db, "whole");
  const processing = await createPayment(db, { merchant: "acme", status: "PROCESSING" });
  await createRefund(db, processing);
  await transitionOriginal(db, processing, { to: "FAILED", now: NOW });
  const recent = await createPayment(db, { merchant: "other" });
  // Of an erased merchant, and of one that is not.
  const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
  await saveRefund(db, { ...(await decideRefund(db, recent, { now: new Date() })), trace });
  const traced = await decideRefund(db, await createPayment(db, { merchant: "acme" }));
  await saveRefund(db, { ...traced, trace });
  const erased = await run("erase", "--merchant", "other", "--before", new Date().toISOString());

  expect(erased.code).toBe(0);
  expect(await run("check")).toMatchObject({ code: 0, stdout: "13 records: 0 differences\n", stderr: "" });
  expect(await readLastCheck(db)).toEqual({ differences: 0, ageSeconds: expect.any(Number) });
});

test("a check accepts what was erased by a customer's reference, and reports what was lost before or after", async () => {
  const { db } = stored;
  const payment = await createPayment(db, {
    merchant: "acme",
    paymentId: "pay_1",
    clientReferenceId: "jane",
  });
  const [erased, waiting] = [
    await createRefund(db, payment, { clientReferenceId: "jane" }),
    await createRefund(db, await createPayment(db, { merchant: "acme", paymentId: "pay_2" })),
  ];
  await createPair(db, "lost");
  await query(stored.url, "delete from events where resource_id = 'rfd_lost'");
  const { code } = await run("erase", "--merchant", "acme", "--reference", "jane");
  const whole = await run("check");
  await authorizeDueIn(db, LATER);
  const later = [erased, waiting].map(({ paymentId }) => paymentId);
  await query(
    stored.url,
    `delete from events where sequence = 2 and resource_id in ('${later.join("', '")}')`,
  );

  const lost = "rfd_lost of acme: event 1 is none, and should be refund.authorized by its history";
  expect([code, whole.stdout]).toEqual([0, `${lost}\n6 records: 1 difference\n`]);
  const lines = (await run("check")).stdout.trim().split("\n").slice(0, -1);
  expect(lines.toSorted()).toEqual(
    [
      lost,
      ...later.map((id) => `${id} of acme: event 2 is none, and should be refund.authorized by its history`),
    ].toSorted(),
  );
});

test("a check names every record that was changed in spite of the constraints, and no other record", async () => {
  const { db } = stored;
  const names = Object.keys(CORRUPTIONS);
  for (const name of [...names, "whole"]) await createPair(db, name);
  await dropConstraints();
  await query(
    stored.url,
    [
      "set session_replication_role = replica",
      "alter table payments disable trigger user",
      ...names.map((name) => CORRUPTIONS[name]?.[0]),
      "select guard_payments()",
      GUARDS[0],
    ].join("; "),
  );

  const { code, stdout } = await run("check");

  const expected = [...names.flatMap((name) => CORRUPTIONS[name]?.slice(1) ?? []), ...GUARDS.slice(1)];
  const lines = stdout.trim().split("\n");
  expect([code, lines.at(-1)]).toEqual([1, `26 records: ${expected.length} differences`]);
  expect(lines.slice(0, -1).sort()).toEqual(expected.sort());
  expect((await readLastCheck(db))?.differences).toBe(expected.length);
});

test("a check names events that are not delivered, and refunds that were authorized by a clock that was ahead", async () => {
  const { db } = stored;
  const subscription = await createSubscription(db, "acme");
  await query(stored.url, "insert into deployment (mode) values ('production')");
  const payment = await createPayment(db, { merchant: "acme", settledAt: LONG_AGO });
  const { paymentId } = await createRefund(db, payment, { now: new Date(Date.now() + 8 * 3_600_000) });
  const whole = await run("check");
  await query(stored.url, "delete from deliveries");

  const ahead = `${paymentId} of acme: authorization is .*Z, and should be by a clock that its server's agreed with\n`;
  expect(whole.stdout).toMatch(new RegExp(`^${ahead}3 records: 1 difference\n$`));
  expect((await run("check")).stdout).toContain(
    `${paymentId} of acme: event 1 for ${subscription} is not to be delivered, and should be delivered until it is past retention\n`,
  );
});
