import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runAdmin } from "../../../server/admin/run-command.ts";
import { collectOutput, runCommand } from "../../helpers/admin.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/databases.ts";
import { type Refund, refundOf, type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import { runStatement } from "../../helpers/postgres.ts";
import { type Production, startProduction } from "../../helpers/production.ts";
import { post, type TestServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";

const readScript = (name: string) => readFileSync(`docs/examples/${name}`, "utf8");

type Role = "migrate" | "serve" | "admin" | "payouts";

describe("the roles of the guide", () => {
  let database: TestDatabase;
  let production: Production;
  let server: TestServer;
  let ownerUrl: string;
  let name: string;

  /** Operators log in by roles of their own. */
  const urlOf = (role: Role) => ownerUrl.replace("postgres@", `${name}_${role === "admin" ? "jane" : role}@`);
  /** A role belongs to the whole server, which other tests share. */
  const adapt = (text: string) =>
    text.replaceAll("refunds_", `${name}_`).replace("database refunds", `database ${name}`);
  const run = (role: Role, args: readonly string[], stdin = "") =>
    runCommand(args, {
      env: { DATABASE_URL: urlOf(role), ENCRYPTION_KEY: production.env.ENCRYPTION_KEY ?? "" },
      stdin,
    });

  beforeAll(async () => {
    database = await createTestDatabase("postgres", { empty: true });
    ownerUrl = database.options.databaseUrl ?? "";
    name = new URL(ownerUrl).pathname.slice(1);
    production = await startProduction();
    await runStatement(ownerUrl, adapt(readScript("roles.sql")));
    expect(await run("migrate", ["migrate"])).toMatchObject({ code: 0, stderr: "" });
    await runStatement(ownerUrl, adapt(readScript("audit.sql")));
    await runStatement(urlOf("migrate"), adapt(readScript("rights.sql")));
    await runStatement(ownerUrl, adapt(readScript("operators.sql")));
    server = await production.start({ env: { DATABASE_URL: urlOf("serve") } });
  });
  afterAll(async () => {
    await production.end();
    for (const role of ["serve", "jane", "john", "admin", "payouts", "migrate", "audit"]) {
      await runStatement(ownerUrl, `drop owned by ${name}_${role} cascade`);
      await runStatement(ownerUrl, `drop role ${name}_${role}`);
    }
    await database.remove();
  });

  test("let a server serve, the operator operate, and nobody do more", async () => {
    const payment = { merchant: "acme", paymentId: "pay_1" };
    const lines = [
      { op: "put", ...payment, amount: { currency: "USD", value: 25 } },
      { op: "settle", ...payment, settledAt: "2026-01-05T15:30:00Z" },
    ];
    const fed = await run("admin", ["payments"], lines.map((line) => JSON.stringify(line)).join("\n"));
    const token = await production.issuer.token({ merchant_id: "acme" });
    const target = subscriptionTo("https://receiver.invalid/");
    const { body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", target, { token });
    const refund = await post<Refund>(server.url, "/v1/refunds", refundOf("pay_1"), { token });
    const failed = async () => {
      const { stdout } = await run("admin", ["deliveries", "--state", "retrying", "--json"]);
      return stdout === "" ? undefined : (JSON.parse(stdout) as { webhookId: string });
    };
    const { webhookId } = await until(failed);

    expect([fed.code, refund.status]).toEqual([0, 201]);
    const payouts = await until(async () => {
      const rows = await query("payouts", readScript("payouts.sql"));
      return rows.length > 0 ? rows : undefined;
    });
    expect(payouts).toMatchObject([{ payment_id: refund.body.paymentId, original_payment_id: "pay_1" }]);
    const commands = [
      ["redeliver", webhookId],
      ["subscriptions"],
      ["subscription", "disable", body.subscriptionKey],
      ["rotate-key"],
      ["payouts", "--after", "0"],
      ["export", "--merchant", "acme", "--before", "2026-01-01"],
      ["erase", "--merchant", "acme", "--before", "2026-01-01"],
      ["block", "--token", "stolen", "--reason", "a test"],
      ["blocks"],
      ["unblock", "--token", "stolen"],
      ["hold", "--all", "--reason", "a test"],
      ["holds"],
      ["release", "--all"],
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
    const errors = server.logLines.filter((line) => line.includes("permission denied"));
    expect(errors).toEqual([]);
    expect(await run("migrate", ["migrate"])).toMatchObject({ code: 0, stderr: "" });
    expect(await run("admin", ["audit", "verify"])).toMatchObject({ code: 0, stderr: "" });
    const record = await query("admin", "select entry->>'operator' as operator from admin_actions");
    expect(new Set(record.map((row) => row.operator))).toEqual(new Set([`${name}_migrate`, `${name}_jane`]));
  });

  const query = async (role: Role, statement: string) => {
    const client = new pg.Client(urlOf(role));
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  };

  test.each<[Role, string]>([
    ["serve", "delete from payments"],
    ["serve", "drop table payments"],
    ["serve", "alter table payments disable trigger all"],
    ["serve", "create table more (id text)"],
    ["serve", "create schema more"],
    ["serve", "select record_admin_action(gen_random_uuid(), 'x', '{}', 'begun', null)"],
    ["serve", "delete from subscriptions"],
    ["serve", "delete from holds"],
    ["serve", "delete from blocks"],
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
  ])("refuse what is not the role's (%s: %s)", async (role, statement) => {
    await expect(query(role, statement)).rejects.toMatchObject({ code: "42501" });
  });

  test("that lack a right stop with one sentence that says what to do", async () => {
    await using other = await emptyDatabase();
    const output = collectOutput();
    const { signal } = new AbortController();
    const env = { DATABASE_URL: other.url.replace("postgres@", `${name}_serve@`) };

    const code = await runAdmin({ args: ["deliveries"], env, output, stdin: Readable.from([]), signal });

    expect([code, output.complaints]).toEqual([
      1,
      [
        expect.stringMatching(
          /^The user of DATABASE_URL lacks rights in the database\. Run npm run admin -- migrate/,
        ),
      ],
    ]);
  });
});

async function emptyDatabase() {
  const { options, remove } = await createTestDatabase("postgres", { empty: true });
  return { url: options.databaseUrl ?? "", [Symbol.asyncDispose]: remove };
}
