import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../client/src/webhooks.ts";
import { openUnmigrated } from "../../../server/storage/database.ts";
import { holdAfterRestore } from "../../../server/storage/payments/high-water-mark.ts";
import { linesOfPayment, spawnCommand } from "../../helpers/admin.ts";
import { dollars, type Refund, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { startIssuer } from "../../helpers/issuer.ts";
import { startConnectProxy } from "../../helpers/network/proxies.ts";
import { query, runStatement } from "../../helpers/postgres.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { post, runServer, spawnServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";
import { record, skipMissing } from "../faults/setup/figures.ts";
import { postgresEnv } from "../faults/setup/lasting-store.ts";
import { findOrSkip } from "../faults/setup/programs.ts";
import {
  conclude,
  countCalls,
  createBusinesses,
  type Servers,
  startLoad,
  startServers,
} from "./setup/deployment.ts";
import { startMachines } from "./setup/machines.ts";
import { endpointOf, NETWORK, PUBLIC_ADDRESS, passwordOf, type Role, readExample } from "./setup/network.ts";

const MERCHANTS_PER_WORKER = 4;
const MERCHANTS = 12;
const POLL_MS = 1_000;
const EVERY_MS = 100;
const LOAD_MS = 75_000;

const PROOF = "machines that trust nobody";

const started = forSuite(async () => {
  const setting = await startMachines();
  return { setting, [Symbol.asyncDispose]: async () => setting?.[Symbol.asyncDispose]() };
});

test("without verified TLS and a password nobody gets in, and no machine talks to another one", async (context) => {
  const { network, cluster } = started.setting ?? skipMissing(context, PROOF, NETWORK);
  const [worker] = cluster.workers;
  if (!worker) throw new Error("no worker");
  const alias = network.addAddress(worker);
  const own = network.urlOf(endpointOf(worker), "refunds_serve", "refunds");
  const refusals = await Promise.all(
    [
      own.replace("verify-full", "disable").replace(/&sslrootcert.*/, ""),
      own.replace(passwordOf("refunds_serve"), "guess"),
      own.replace("/cluster-ca.crt", "/other/cluster-ca.crt"),
      own.replace(endpointOf(worker).host, alias),
    ].map((url) => query(url, "select 1").catch(({ code, message }) => `${code} ${message}`)),
  );
  expect(refusals).toEqual([
    expect.stringMatching(/^28000 no pg_hba.conf entry for host .*, no encryption/),
    expect.stringMatching(/^28P01 password authentication failed/),
    expect.stringMatching(/certificate/),
    expect.stringMatching(/^ERR_TLS_CERT_ALTNAME_INVALID/),
  ]);
  const atCoordinator = cluster.coordinator.urlOf("refunds");
  await expect(
    query(atCoordinator, `select citus_add_node('${alias}', ${endpointOf(worker).port})`),
  ).rejects.toThrow(/does not match host name/);
  const health = await query(atCoordinator, "select distinct result from citus_check_cluster_node_health()");
  expect(health).toEqual([{ result: true }]);
});

test("through PgBouncer in session mode for minutes, with a restart of it: nothing is lost", async (context) => {
  const { network, cluster, createSandbox } = started.setting ?? skipMissing(context, PROOF, NETWORK);
  const program = findOrSkip(context, "a cluster behind PgBouncer", "pgbouncer");
  await createSandbox();
  const coordinator = endpointOf(cluster.coordinator);
  await using transactions = await network.startPooler(program, coordinator, "transaction");
  await using pooler = await network.startPooler(program, coordinator);
  const databaseUrl = network.urlOf(pooler, "refunds_migrate", "sandbox");

  const refused = await runServer({
    PORT: "0",
    ...postgresEnv(network.urlOf(transactions, "refunds_migrate", "sandbox")),
  });
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^DATABASE_URL leads to a pooler .*pool_mode = session/),
  });

  await using servers = await startServers(databaseUrl);
  const deployment = { ...servers, cluster, databaseUrl, [Symbol.asyncDispose]: async () => {} };
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER);
  const load = startLoad(deployment, businesses, () => ({ everyMs: EVERY_MS }));
  await setTimeout(LOAD_MS);
  const before = countCalls(businesses);
  const restartedAt = performance.now();
  await pooler.restart();
  const restartMs = performance.now() - restartedAt;
  await setTimeout(LOAD_MS);
  await load.stop();
  const lagMs = await measureLag(servers);
  const sessions = await Promise.all(
    [cluster.coordinator, ...cluster.workers].map((machine) => readSessions(machine.urlOf("sandbox"))),
  );

  const { acknowledged, failed } = countCalls(businesses);
  await conclude("machines that trust nobody, behind PgBouncer", deployment, businesses, {
    seconds: (2 * LOAD_MS) / 1000,
    acknowledged,
    "failed calls before its restart": before.failed,
    "failed calls after it": failed - before.failed,
    "ms of the restart": Math.round(restartMs),
    "encrypted sessions": sessions.reduce((sum, { encrypted }) => sum + encrypted, 0),
    "unencrypted sessions": sessions.reduce((sum, { plain }) => sum + plain, 0),
    "ms from an event that the coordinator publishes to its delivery": lagMs,
  });
  expect(before.failed).toBe(0);
  expect(acknowledged).toBeGreaterThan(before.acknowledged);
  expect(sessions.map(({ plain }) => plain)).toEqual([0, 0, 0]);
  expect(lagMs).toBeLessThan(POLL_MS / 4);
});

test("in production mode, with the roles of the guide and tokens of an issuer, refunds are made and delivered", async (context) => {
  const { network, cluster } = started.setting ?? skipMissing(context, PROOF, NETWORK);
  const urlOf = (role: Role) => network.urlOf(endpointOf(cluster.coordinator), role, "refunds");
  const owner = { DATABASE_URL: urlOf("refunds_migrate") };
  expect(await spawnCommand(["migrate"], { env: owner })).toMatchObject({ code: 0 });
  await runStatement(urlOf("postgres"), readExample("audit.sql"));
  await runStatement(urlOf("refunds_migrate"), readExample("rights.sql"));
  expect(await spawnCommand(["distribute"], { env: owner })).toMatchObject({ code: 0, stderr: "" });
  await runStatement(urlOf("refunds_migrate"), readExample("cluster-rights.sql"));
  const tlsFile = (name: string) => join(network.folder, `${PUBLIC_ADDRESS}.${name}`);
  const tls = { key: readFileSync(tlsFile("key"), "utf8"), cert: readFileSync(tlsFile("crt"), "utf8") };
  await using receiver = await startReceiver(undefined, { tls });
  await using proxy = await startConnectProxy({ port: Number(new URL(receiver.url).port) });
  await using issuer = await startIssuer();
  await using server = await spawnServer({
    dataDir: "unused",
    command: ["npm", "run", "-s", "start:production"],
    env: {
      ...postgresEnv(urlOf("refunds_serve")),
      ...issuer.env,
      WEBHOOK_PROXY: proxy.url,
      WEBHOOK_CA_FILE: join(network.folder, "cluster-ca.crt"),
    },
  });
  const merchants = Array.from({ length: MERCHANTS }, (_, index) => `merchant${index}`);
  const stdin = merchants.flatMap((merchant) => linesOfPayment(merchant, `pay_${merchant}`)).join("");
  expect(await spawnCommand(["payments"], { env: owner, stdin })).toMatchObject({ code: 0 });
  const subscription = subscriptionTo(`https://${PUBLIC_ADDRESS}/hooks`);
  const statuses = await Promise.all(
    merchants.map(async (merchant) => {
      const token = await issuer.token({ merchant_id: merchant });
      const call = async (path: string, sent: unknown) => {
        const { status, body } = await post<Partial<Refund>>(server.url, path, sent, { token });
        return body.paymentStatus ?? status;
      };
      const refund = refundOf(`pay_${merchant}`);
      return [
        await call("/v1/webhook/subscribe", subscription),
        await call("/v1/refunds", refund),
        await call("/v1/refunds", refund),
        await call("/v1/refunds", refundOf("pay_of_another")),
        await call("/v1/refunds", refundOf(`pay_${merchant}`, { amount: dollars(99.01) })),
      ];
    }),
  );
  const foreign = await post(server.url, "/v1/refunds", refundOf("pay_merchant0"), { token: "sandbox_acme" });
  const deliveries = await receiver.first(2 * MERCHANTS);
  const verified = deliveries.map(({ body, headers }) =>
    verifyWebhook(body, headers, subscription.secretKey),
  );
  await using store = openUnmigrated(urlOf("refunds_serve"), {});
  const held = await holdAfterRestore(store.db, { at: new Date(), missing: "a refund" });
  const checked = await spawnCommand(["check"], { env: owner });
  record("a cluster in production mode", {
    merchants: MERCHANTS,
    refunds: 2 * statuses.length,
    "verified deliveries": verified.length,
  });
  expect(new Set(statuses.map(String))).toEqual(new Set(["200,AUTHORIZED,409,404,TERMINAL_FAILED"]));
  expect([foreign.status, held]).toEqual([401, true]);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(verified).toMatchObject(deliveries.map(({ event }) => ({ type: event.type })));
});

/** The median, in milliseconds: a server that heard no notification would find the delivery by its next poll. */
async function measureLag({ servers: [server], database }: Servers): Promise<number> {
  await using receiver = await startReceiver();
  const { sandbox, subscribe } = await createSubscriber({ url: server.url, database });
  await subscribe(receiver.url);
  const lags: number[] = [];
  while (lags.length < 21) {
    const startedMs = performance.now();
    await sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_7h2k9" } });
    await receiver.first(lags.length + 1);
    lags.push(Math.round(performance.now() - startedMs));
  }
  return lags.toSorted((a, b) => a - b)[10] ?? Number.POSITIVE_INFINITY;
}

async function readSessions(url: string) {
  const [row] = await query<Record<"encrypted" | "plain", number>>(
    url,
    `select count(*) filter (where ssl)::integer as encrypted, count(*) filter (where not ssl)::integer as plain
     from pg_stat_activity join pg_stat_ssl using (pid)
     where datname = current_database() and backend_type = 'client backend'`,
  );
  if (!row) throw new Error("no row");
  return row;
}
