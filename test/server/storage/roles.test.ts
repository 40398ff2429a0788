import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refundDueAt } from "../../../server/domain/business-days.ts";
import { openUnmigrated } from "../../../server/storage/database/database.ts";
import { holdAfterRestore } from "../../../server/storage/payments/high-water-mark.ts";
import { linesOfPayment, runCommand } from "../../helpers/admin-command.ts";
import { createTestDatabase, refundInsert } from "../../helpers/databases.ts";
import { type Refund, refundOf, type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import { until } from "../../helpers/receiver.ts";
import { type Role, readScript, startWithRoles } from "../../helpers/roles.ts";
import { post, type TestServer } from "../../helpers/server.ts";

describe("the roles of docs/operators/roles.sql", () => {
  let setup: Awaited<ReturnType<typeof startWithRoles>>;
  let server: TestServer;
  const run: typeof setup.run = (...args) => setup.run(...args);
  const query: typeof setup.query = (...args) => setup.query(...args);

  beforeAll(async () => {
    setup = await startWithRoles();
    server = await setup.start();
  });
  afterAll(() => setup[Symbol.asyncDispose]());

  // It runs some thirty commands.
  test("a server's role serves, an operator's role operates, and neither can do more", {
    timeout: 60_000,
  }, async () => {
    const fed = await run("admin", ["payments"], linesOfPayment("acme", "pay_1").join(""));
    const token = await setup.production.issuer.token({ merchant_id: "acme" });
    const target = subscriptionTo("https://receiver.invalid/");
    const { body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", target, { token });
    const refund = await post<Refund>(server.url, "/v1/refunds", refundOf("pay_1"), { token });
    const feed = (line: object) =>
      run("admin", ["payments"], JSON.stringify({ merchant: "acme", paymentId: "pay_2", ...line }));
    await feed({ op: "put", amount: { currency: "USD", value: 25 } });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const headers = { traceparent };
    const pending = await post<Refund>(server.url, "/v1/refunds", refundOf("pay_2"), { token, headers });
    await feed({ op: "settle", settledAt: "2026-01-05T15:30:00Z" });
    const due = `select from payments where payment_id = '${pending.body.paymentId}' and status = 'AUTHORIZED'`;
    await until(async () => (await query("report", due))[0]);
    const traces = `select trace from events where resource_id = '${pending.body.paymentId}'`;
    expect(await query("admin", traces)).toEqual([{ trace: { traceparent } }, { trace: { traceparent } }]);
    const covered = await feed({ op: "cover" });
    const failed = async () => {
      const { stdout } = await run("admin", ["deliveries", "--state", "retrying"]);
      return /^msg_\S+/m.exec(stdout)?.[0];
    };
    const webhookId = await until(failed);

    expect([fed.code, refund.status, covered.code]).toEqual([0, 201, 0]);
    expect(pending.body.paymentStatus).toBe("PENDING");
    const feedQuery = "select * from payout_feed where position > 0 order by position limit 1000";
    const payout = await until(async () => (await query("payouts", feedQuery))[0]);
    expect(payout).toMatchObject({ payment_id: refund.body.paymentId, original_payment_id: "pay_1" });
    const commands = [
      ["redeliver", webhookId],
      ["subscriptions"],
      ["subscription", "disable", body.subscriptionKey],
      ["rotate-key"],
      ["payouts", "--after", "0"],
      ["erase", "--merchant", "acme", "--before", "2026-01-01"],
      ["erase", "--merchant", "acme", "--reference", "nobody"],
      ["block", "--token", "stolen", "--reason", "a test"],
      ["blocks"],
      ["unblock", "--token", "stolen"],
      ["hold", "--all", "--reason", "a test"],
      ["holds"],
      ["release", "--all"],
      ["check"],
    ];
    for (const command of commands)
      expect(await run("admin", command)).toMatchObject({ code: 0, stderr: "" });
    const known = {
      merchant: "acme",
      paymentId: "rfd_known",
      requestKey: "known",
      originalPaymentId: "pay_1",
      amount: { currency: "USD", value: 1 },
      status: "AUTHORIZED",
      authorizedAt: "2026-01-12T15:30:00Z",
    };
    await run("admin", ["hold", "--all", "--reason", "restored"]);
    const reconciled = await run("admin", ["reconcile"], JSON.stringify(known));
    expect(reconciled).toMatchObject({ code: 0, stdout: expect.stringContaining("1 inserted") });
    expect(await run("admin", ["release", "--all"])).toMatchObject({ code: 0 });
    const errors = server.logLines.filter((line) => /permission denied|row-level security/.test(line));
    expect(errors).toEqual([]);
    expect(await run("migrate", ["migrate"])).toMatchObject({ code: 0, stderr: "" });
    expect(await run("admin", ["audit", "verify"])).toMatchObject({ code: 0, stderr: "" });
    const record = await query("admin", "select entry->>'operator' as operator from admin_actions");
    expect(new Set(record.map((row) => row.operator))).toEqual(
      new Set([`${setup.name}_migrate`, `${setup.name}_jane`]),
    );
  });

  const mintedPayment = `
    insert into payments (payment_id, merchant, kind, status, amount_cents, history, sequence, created_at)
    values ('minted', 'acme', 'DEBIT', 'PROCESSING', 1, '[]', 0, now())`;

  test.each<[Role, string]>([
    ["serve", "update payments set amount_cents = 1"],
    ["serve", "update payments set refunded_cents = 0"],
    ["serve", "update payments set settled_at = now()"],
    ["serve", "update payments set due_at = now()"],
    ["serve", "update payments set status = 'SETTLED' where payment_id = 'pay_1'"],
    ["serve", "update payments set sequence = sequence + 1 where kind = 'DEBIT'"],
    ["serve", mintedPayment],
    ["serve", mintedPayment.replace("sequence,", "sequence, settled_at,").replace("0,", "0, now(),")],
    ["serve", "select guard_payments()"],
    ["serve", "delete from payments"],
    ["serve", "truncate events"],
    ["serve", "update events set payload = ''"],
    ["admin", "update events set trace = null"],
    ["serve", "delete from delivery_attempts"],
    ["serve", "update deliveries set subscription_key = 'sub_x'"],
    ["serve", "update subscriptions set url = 'https://other.example'"],
    ["serve", "update subscriptions set details = '{}'"],
    ["serve", "update deployment set mode = 'sandbox'"],
    ["serve", "insert into clock (offset_ms) values (1)"],
    ["serve", "drop table payments"],
    ["serve", "alter table payments disable trigger all"],
    ["serve", "alter table payments disable row level security"],
    ["serve", "create table more (id text)"],
    ["serve", "create schema more"],
    ["serve", "select record_admin_action(gen_random_uuid(), 'x', '{}', 'begun', null)"],
    ["serve", "delete from subscriptions"],
    ["serve", "update deployment set restored_at = 'infinity'"],
    ["serve", "insert into deployment (mode, restored_at) values ('production', 'infinity')"],
    ["serve", "insert into payouts values ('rfd_x', 'acme', now(), 9223372036854775807)"],
    ["serve", "delete from payouts_waiting"],
    ["serve", "insert into holds (merchant, reason) values ('', 'x')"],
    ["serve", "insert into events values ('evt_x', 'acme', 'payment.settled', 'pay_1', 9, now(), '{}')"],
    ["serve", "select from turns for update"],
    ["serve", "begin; lock table feed in share mode"],
    ["serve", "select from admin_changes"],
    ["admin", "insert into payouts values ('rfd_x', 'acme', now(), 9223372036854775807)"],
    ["admin", "select publish_payouts(gen_random_uuid(), 0, 1)"],
    ["admin", "delete from admin_changes"],
    ["admin", "alter table holds disable trigger recorded"],
    ["migrate", "delete from admin_changes"],
    ["report", "select take_turn('retention', true)"],
    ["report", "begin; lock table feed in access share mode"],
    ["payouts", "select lo_from_bytea(0, 'x')"],
    ["payouts", "create function pg_temp.look(bigint) returns boolean language sql as 'select true'"],
    ["serve", "delete from holds"],
    ["serve", "update last_check set differences = 0"],
    ["serve", "delete from blocks"],
    ["admin", "update payments set amount_cents = 1"],
    ["admin", "delete from payments"],
    ...(["admin", "migrate"] as const).flatMap((role): [Role, string][] => [
      [role, "insert into admin_actions select number + 1000, entry, hash from admin_actions"],
      [role, "update admin_actions set hash = hash"],
      [role, "delete from admin_actions"],
      [role, "truncate admin_actions"],
      [role, "alter table admin_actions disable trigger all"],
      [role, "drop table admin_actions"],
      [role, "alter function record_admin_action reset all"],
    ]),
    ["admin", "create table more (id text)"],
    ["admin", "insert into subscriptions default values"],
    ["admin", "select from rate_limits"],
    ["serve", "update payouts set position = null, paid_as = payment_id"],
    ["serve", "delete from payouts"],
    ["payouts", "select from payments"],
    ["payouts", "select from payouts"],
    ["report", "select token_sha256 from access_tokens"],
    ["report", "select secret_ciphertext from subscriptions"],
    ["report", "select url from subscriptions"],
    ["report", "select response from delivery_attempts"],
    ["report", "select payload from events"],
    ["report", "select trace from events"],
    ["report", "select client_reference_id from payments"],
    ["report", "select from admin_actions"],
    ["report", "set transaction read write; update payments set status = status"],
  ])("refuse what is not the role's (%s: %s)", async (role, statement) => {
    await expect(query(role, statement)).rejects.toMatchObject({ code: "42501" });
  });

  test("a server's role can't refund more than a payment's amount", async () => {
    await query(
      "migrate",
      `insert into payments (payment_id, merchant, kind, status, amount_cents, settled_at, history, sequence, created_at)
        values ('pay_3', 'acme', 'DEBIT', 'SETTLED', 1000, now(), '[{"status": "SETTLED"}]', 0, now())`,
    );
    const attack = refundInsert("acme", Array(2).fill({ of: "pay_3", cents: 10_00 }));

    await expect(query("serve", attack)).rejects.toMatchObject({ code: "23514" });
  });

  test("a server's role can't make a refund fail, because it can't set the error", async () => {
    const attack = `update payments set status = 'TERMINAL_FAILED', history = history || '{"status": "TERMINAL_FAILED"}'
      where status = 'AUTHORIZED'`;

    await expect(query("serve", attack)).rejects.toMatchObject({ code: "23514" });
  });

  test("a server's role removes only events past retention, and finished deliveries", async () => {
    // The time in its id counts.
    const insert = (id: string, days: number, state: string) => `
      insert into events values ('${id}', 'acme', 'account.linked', '${id}', 1, now() - interval '${days} days', '{}');
      insert into deliveries (webhook_id, event_id, merchant, subscription_key, state, due_at)
        values ('msg_${days > 90 ? 0 : "f"}', '${id}', 'acme', 'sub_x', '${state}', null)`;
    await query("migrate", insert("past", 91, "DELIVERED"));
    await query("migrate", insert("present", 89, "DELIVERED"));

    await query("serve", "delete from deliveries; delete from events");

    const left = `select (select array_agg(event_id) from events where resource_id in ('past', 'present')) as events,
      (select array_agg(webhook_id) from deliveries where subscription_key = 'sub_x') as deliveries`;
    expect(await query("serve", left)).toEqual([{ events: ["present"], deliveries: ["msg_f"] }]);
  });

  test("what an operator changes without a command is in the audit, and the check names its payment and other rights", async () => {
    await query(
      "jane",
      "insert into holds (merchant, reason) values ('other', 'x'); delete from holds where merchant = 'other'",
    );
    const endedRun = `select set_config('refunds.run', entry ->> 'runId', false) from admin_actions
      where entry -> 'command' ->> 0 = 'payments' and entry ->> 'outcome' = 'succeeded'`;
    await query("jane", `${endedRun}; ${mintedPayment.replace("'minted'", "'by_hand'")}`);
    await run("admin", ["payments"], linesOfPayment("acme", "by_hand")[1]);
    await query("migrate", `grant update on deployment to ${setup.name}_serve`);

    const audit = await run("admin", ["audit"]);
    const verified = await run("admin", ["audit", "verify"]);
    const checked = await run("admin", ["check"]);

    const byJane = `${setup.name}_jane .*without a command`;
    for (const change of ["insert holds other", "delete holds other", "insert payments by_hand of acme"])
      expect(audit.stdout).toMatch(new RegExp(`${byJane}.*${change}`));
    expect(verified).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("without a command: delete holds other"),
    });
    expect(checked.stdout).toContain(
      `by_hand of acme: record is PROCESSING of 1 by ${setup.name}_jane, and should be SETTLED of 1 by a command`,
    );
    expect(checked.stdout).toContain(`${setup.name}_serve: update deployment is a right too many`);
    await query(
      "migrate",
      `revoke update on deployment from ${setup.name}_serve; delete from payments where payment_id = 'by_hand'`,
    );
  });

  test("a server's role can hold all refunds when the server notices a restore", async () => {
    await using store = openUnmigrated(setup.urlOf("serve"), {});

    expect(await holdAfterRestore(store.db, { at: new Date(), missing: "a refund" })).toBe(true);

    expect(await run("admin", ["release", "--all"])).toMatchObject({ code: 0 });
  });

  test("the role for reports reads what reports need", async () => {
    const reports = readScript("reports.sql")
      .trim()
      .split(/(?<=;)\s+/);

    const [refunded] = await Promise.all(reports.map((report) => query("report", report)));

    expect(reports).toHaveLength(3);
    expect(refunded).toContainEqual(expect.objectContaining({ status: "AUTHORIZED", refunds: "1" }));
    await expect(query("report", "update payments set status = status")).rejects.toMatchObject({
      code: "25006",
    });
  });

  test("a command whose role lacks a right stops with one sentence that says what to do", async () => {
    await using other = await createTestDatabase("postgres", { empty: true });
    const env = { DATABASE_URL: other.url.replace("postgres@", `${setup.name}_serve@`) };

    expect(await runCommand(["deliveries"], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The user of DATABASE_URL lacks rights in the database\. Run npm run admin -- migrate.*\n$/,
      ),
    });
  });

  test("who has a server's password can do what the guide says, and the check names what it says", async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    for (const line of linesOfPayment("acme", "pay_4"))
      await run("admin", ["payments"], line.replace("2026-01-05T15:30:00Z", yesterday));
    const token = await setup.production.issuer.token({ merchant_id: "acme" });
    const { body } = await post<Refund>(server.url, "/v1/refunds", refundOf("pay_4"), { token });
    const statements = readScript("stolen-password.sql")
      .split(/^--.*$|;\n/m)
      .filter((line) => line.trim() !== "");
    expect(statements).toHaveLength(14);

    for (const statement of statements) await query("serve", `begin; ${statement}; commit`);

    const { stdout } = await run("admin", ["check"]);
    const due = refundDueAt(new Date("2026-01-05T15:30:00Z"));
    for (const line of [
      `rfd_stolen of acme: authorization is .*, and should be from ${due.toISOString()} on`,
      `${body.paymentId} of acme: authorization is .*, and should be from`,
      `${body.paymentId} of acme: event 2 is none, and should be refund.authorized by its history`,
      "msg_stolen of acme: delivery is EXHAUSTED of evt_stolen to sub_x after 0",
      "_serve: a setting of its own is a right too many",
    ])
      expect(stdout).toMatch(new RegExp(line));
  });
});
