/** An operator blocks a merchant, a client or a token, whose calls every server then refuses. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { BLOCKS_CHANNEL, type Blocked, block } from "../../../server/storage/blocks-table.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { post, type TestServer, type TestServerOptions } from "../../helpers/server.ts";
import { newMerchant } from "../../helpers/store-factories.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NEVER_MS = 3_600_000;
/** How long a busy machine may take for what a server does within a second. */
const SOON = { timeout: 10_000, interval: 20 };
const reason = "stolen";

describe("a block in production", () => {
  const production = forEachTest(() => startProduction());

  /** Statuses of a call with an empty body: 400 when the caller is accepted. */
  const statuses = (servers: readonly TestServer[], token: string) => async () =>
    Promise.all(servers.map(async ({ url }) => (await post(url, "/v1/refunds", {}, { token })).status));
  const run = (...args: string[]) => production.admin(args);
  const start = (blocks: TestServerOptions["blocks"] = {}) => production.start({ blocks });

  test.each<[Blocked["kind"], string]>([
    ["merchant", "acme"],
    ["client", "shop"],
    ["token", "jti-1"],
  ])("of a %s refuses its calls alone, at every server, until it ends", async (kind, name) => {
    const servers = [await start(), await start()] as const;
    const claims = { merchant_id: "acme", client_id: "shop", jti: "jti-1" };
    const token = await production.issuer.token(claims);
    const claim = { merchant: "merchant_id", client: "client_id", token: "jti" }[kind];
    const other = await production.issuer.token({ ...claims, [claim]: "other" });

    const blocked = await run("block", `--${kind}`, name, "--reason", reason);
    await expect.poll(statuses(servers, token), SOON).toEqual([401, 401]);
    const others = await statuses(servers, other)();
    const refused = await post<Problem>(servers[0].url, "/v1/refunds", {}, { token });
    const unblocked = await run("unblock", `--${kind}`, name);
    await expect.poll(statuses(servers, token), SOON).toEqual([400, 400]);

    expect(blocked.stdout).toBe(`${kind} ${name}: blocked, at every server within a second\n`);
    expect(others).toEqual([400, 400]);
    expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer error="invalid_token"');
    const requestId = refused.body.instance?.slice("urn:uuid:".length);
    const lines = servers[0].logLines.map((line) => JSON.parse(line));
    expect(lines.find((line) => line.requestId === requestId)).toMatchObject({
      merchant: "acme",
      clientId: "shop",
      tokenId: "jti-1",
      reason: `the ${kind} is blocked`,
      status: 401,
    });
    expect(unblocked.stdout).toBe(`${kind} ${name}: unblocked\n`);
  });

  test("ends by itself at the time that it names", async () => {
    let now = new Date();
    const server = await production.start({ realNow: () => now });
    const exp = Math.floor(now.getTime() / 1000) + 80_000;
    const token = await production.issuer.token({ merchant_id: "acme", exp });
    const until = new Date(now.getTime() + NEVER_MS);
    await run("block", "--merchant", "acme", "--until", until.toISOString(), "--reason", reason);

    await expect.poll(statuses([server], token), SOON).toEqual([401]);
    now = new Date(until.getTime() - 1);
    expect(await statuses([server], token)()).toEqual([401]);
    now = until;
    expect(await statuses([server], token)()).toEqual([400]);
  });

  test("reaches a server by a notification, after a lost connection, and by reading each second", async () => {
    const notified = await start({ everyMs: NEVER_MS, maxAgeMs: NEVER_MS });
    const polling = await start();
    const token = (merchant_id: string) => production.issuer.token({ merchant_id });
    const { db } = polling.database;
    const insert = (name: string) =>
      sql`insert into blocks (kind, name, reason) values ('merchant', ${name}, ${reason})`.execute(db);

    await block(db, { kind: "merchant", name: "one", reason, until: null });
    await expect.poll(statuses([notified], await token("one")), SOON).toEqual([401]);
    await insert("two");
    await expect.poll(statuses([polling], await token("two")), SOON).toEqual([401]);
    expect(await statuses([notified], await token("two"))()).toEqual([400]);
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query = ${`listen "${BLOCKS_CHANNEL}"`}`.execute(db);
    await expect.poll(statuses([notified], await token("two")), SOON).toEqual([401]);
  });

  test("refuses a call whose body comes after it", async () => {
    const server = await start();
    const merchant = newMerchant();
    const paymentId = await createPayment(server, { merchant });
    const token = await production.issuer.token({ merchant_id: merchant });
    const body = JSON.stringify(refundOf(paymentId));
    using connection = await openConnection(server.url);
    connection.send(head("/v1/refunds", { Authorization: `Bearer ${token}`, "Content-Length": body.length }));
    expect(await statuses([server], token)()).toEqual([400]);

    await run("block", "--merchant", merchant, "--reason", reason);
    await expect.poll(statuses([server], token), SOON).toEqual([401]);
    connection.send(body);

    expect(await connection.response()).toMatchObject({ status: 401 });
  });

  test("can't be missed: a server that has not read the blocks lately responds 503, and one that can't does not start", async () => {
    const server = await start({ everyMs: NEVER_MS, maxAgeMs: 1 });
    const token = await production.issuer.token({ merchant_id: "acme" });

    expect(await statuses([server], token)()).toEqual([503]);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect(server.logLines.join()).toContain("the blocks have not been read for too long");
    await sql`alter table blocks rename to gone`.execute(server.database.db);
    await expect(start()).rejects.toThrow("blocks");
  });
});
