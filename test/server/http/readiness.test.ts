import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { makeDataDir } from "../../helpers/databases.ts";
import { createDeployment } from "../../helpers/deployment.ts";
import {
  createPayment,
  dollars,
  refundOf,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { runStatement } from "../../helpers/postgres.ts";
import { outputOf } from "../../helpers/process.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer } from "../../helpers/server.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const SECOND_MS = 1_000;

describe("a server", () => {
  test.each([
    ["a second ahead of its database is ready", SECOND_MS, 200, undefined, "AUTHORIZED"],
    ["50 seconds behind its database is ready, and warns", -50 * SECOND_MS, 200, true, "AUTHORIZED"],
    [
      "10 minutes behind its database is not ready, warns, and authorizes nothing",
      -600 * SECOND_MS,
      503,
      false,
      "PENDING",
    ],
  ])("whose clock is %s", async (_name, skewMs, status, isReady, paymentStatus) => {
    const ownNow = () => new Date(Date.now() + skewMs);
    await using server = await startTestServer({ engine: "postgres", ownNow });

    const response = await fetch(`${server.url}/readyz`);

    const lines = server.logLines.map((line) => JSON.parse(line));
    const warning = lines.find(({ msg }) => msg.startsWith("this server's clock"));
    expect([response.status, warning?.isReady]).toEqual([status, isReady]);
    const refund = await post(server.url, "/v1/refunds", refundOf(await createPayment(server)));
    expect(refund).toMatchObject({ status: 201, body: { paymentStatus } });
  });
});

describe("a server whose database is read-only", () => {
  /** Expects everything that shows whether the server can serve calls to say so, within seconds. */
  async function expectReady(server: TestServer, isReady: boolean) {
    const urls = [server.url, server.probeUrl].map((url) => `${url}/readyz`);
    const statuses = async () => Promise.all(urls.map(async (url) => (await fetch(url)).status));
    await expect.poll(statuses, { timeout: 5_000 }).toEqual(isReady ? [200, 200] : [503, 503]);
    const metrics = await (await fetch(server.metricsUrl ?? "")).text();
    const [up, writable] = ["database_up 1", `database_writable ${isReady ? 1 : 0}`];
    expect(metrics.match(/^database_(up|writable) \d$/gm)).toEqual([up, writable]);
  }

  const env = { PROBE_PORT: "0", METRICS_PORT: "0" };
  const changesOf = ({ logLines }: TestServer) =>
    logLines.map((line) => JSON.parse(line).msg).filter((msg) => msg.startsWith("the database "));

  test("is not ready until it takes writes again, on PostgreSQL", async () => {
    await using deployment = await createDeployment();
    const server = await deployment.start({ env });
    const name = new URL(deployment.url).pathname.slice(1);
    const run = (statement: string) => runStatement(inject("postgresUrl"), statement);
    const paymentId = await createPayment(server);
    const issue = async () => (await post(server.url, "/v1/refunds", refundOf(paymentId))).status;
    await expectReady(server, true);

    await run(`alter database ${name} set default_transaction_read_only = on`);
    // The connections that are open may still write.
    await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await expectReady(server, false);
    const refused = await Promise.all(Array.from({ length: 30 }, issue));
    await expectReady(server, false);
    await run(`alter database ${name} reset default_transaction_read_only`);
    await expectReady(server, true);
    const repeated = [await issue(), await issue(), await issue()];

    expect([refused, repeated]).toEqual([Array(30).fill(503), [201, 201, 201]]);
    expect(changesOf(server)).toEqual([
      "the database refuses writes, so this server is not ready",
      "the database takes writes again",
    ]);
  });
});

describe("a server whose password is changed", () => {
  /** A role that logs in by a password only, with the rights of the database's owner. */
  async function createRole(url: string, password: string) {
    const role = `password_${new URL(url).pathname.slice(6)}`;
    const run = (statement: string) => runStatement(url, statement);
    await run(`create role ${role} superuser login password '${password}'`);
    // The first line that fits counts.
    await run(`do $$ declare hba text := current_setting('hba_file'); begin
      execute format('copy (select unnest(string_to_array(%L, chr(10)))) to %L',
        'host all ${role} 127.0.0.1/32 scram-sha-256' || chr(10) || pg_read_file(hba), hba);
      perform pg_reload_conf();
    end $$`);
    return role;
  }

  test("is not ready before a call fails, and serves without a break when the runbook changes it", async () => {
    await using deployment = await createDeployment();
    const role = await createRole(deployment.url, "first");
    const folder = await folderOfTest();
    const urlOf = (password: string) => deployment.url.replace("postgres@", `${role}:${password}@`);
    const [file, next] = [join(folder, "database-url"), join(folder, "next")];
    await writeFile(file, `${urlOf("first")}\n`);
    await writeFile(next, `${urlOf("second")}\n`);
    const server = await deployment.start({ env: { DATABASE_URL: "", DATABASE_URL_FILE: file } });
    const paymentId = await createPayment(server);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`;
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    const issueEight = () =>
      Promise.all(
        Array.from(
          { length: 8 },
          async () =>
            (await post(server.url, "/v1/refunds", refundOf(paymentId, { amount: dollars(1) }))).status,
        ),
      );
    const [before, script] = [
      await issueEight(),
      await readFile("docs/operators/change-password.sh", "utf8"),
    ];

    const [both = "", , last = ""] = script.split(/^# \d.*$/m).slice(1);
    const step = (text: string) =>
      outputOf(["sh", "-ec", text], { env: { NEW_URL: next, DATABASE_URL_FILE: file } });
    await step(both);
    await issueEight();
    await runStatement(deployment.url, `alter role ${role} password 'second'`);
    await runStatement(deployment.url, cut);
    await expect.poll(ready).toBe(200);
    await step(last);
    const after = await issueEight();
    const stillReady = await ready();
    await runStatement(deployment.url, `alter role ${role} password 'third'`);

    expect([before, after, stillReady]).toEqual([Array(8).fill(201), Array(8).fill(201), 200]);
    await expect.poll(ready).toBe(503);
    await runStatement(deployment.url, `alter role ${role} password 'second'`);
    await expect.poll(ready).toBe(200);
    await runStatement(deployment.url, `alter role ${role} nologin`);
    await expect.poll(ready).toBe(503);
    await server.close();
    await runStatement(deployment.url, `drop role ${role}`);
  });
});

/** Stores a secret; resolves with the key of its subscription. */
async function subscribe(server: TestServer): Promise<string> {
  const target = subscriptionTo("http://127.0.0.1:9/");
  const { body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", target);
  return body.subscriptionKey;
}

test("a server without the key that encrypted the secretKey of a live subscription does not start, and says what to do", async () => {
  const other = randomBytes(32).toString("base64");
  await using deployment = await createDeployment();
  const first = await deployment.start();
  const subscriptionKey = await subscribe(first);
  const start = (env = {}) => deployment.start({ env: { ENCRYPTION_KEY: other, ...env } });

  await expect(start()).rejects.toThrow(
    /^ENCRYPTION_KEY lacks the key \(id [0-9a-f]{8}\) that encrypted the secretKeys of 1 live subscriptions\. Add the key to ENCRYPTION_KEYS_OLD/,
  );
  const { ENCRYPTION_KEY = "" } = deployment.env;
  const withBoth = await start({ ENCRYPTION_KEYS_OLD: ENCRYPTION_KEY });
  await sandboxOf(withBoth)("endSubscription", { path: { subscriptionKey } });
  await start();
});

describe("a sandbox on the folder of an earlier one", () => {
  /** Runs a sandbox on a new folder until it has stored a secret. */
  async function createUsedFolder() {
    const dataDir = await makeDataDir({ empty: true });
    const first = await startTestServer({ dataDir });
    await subscribe(first);
    await first.close();
    return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
  }

  test("does not start without its encryption key, and makes no other one; with the key it starts", async () => {
    await using folder = await createUsedFolder();
    const { dataDir } = folder;
    const [key, elsewhere] = [join(dataDir, "encryption.key"), join(dataDir, "elsewhere")];
    await rename(key, elsewhere);

    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /^.*encryption\.key lacks the key .* Put the key back, .*$/,
    );
    expect(existsSync(key)).toBe(false);
    await rename(elsewhere, key);
    await using _ = await startTestServer({ dataDir });
  });
});
