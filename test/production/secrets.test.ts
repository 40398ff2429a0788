import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase } from "../helpers/databases.ts";
import { dumpDatabase, formsOf } from "../helpers/dump.ts";
import { type Answer, post, startTestServer, type TestServer } from "../helpers/server.ts";
import { givenMerchant, givenPayment, refundOf, type Subscription, subscriptionTo } from "../server/given.ts";
import { exchange, head } from "../server/raw-http.ts";
import { until } from "../webhooks/given.ts";
import { answerWith, startReceiver } from "../webhooks/receiver.ts";
import { givenProduction, type Production } from "./given.ts";

const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`;

/** Everything that a server tells anybody but its caller, and what its callers were told when something was wrong. */
async function everythingTold(server: TestServer, answers: readonly unknown[]): Promise<string> {
  const metrics = await (await fetch(server.metricsUrl ?? "")).text();
  return [
    server.logLines.join(""),
    metrics,
    JSON.stringify(answers),
    await dumpDatabase(server.database.db),
  ].join("\n");
}

function expectNone(text: string, secrets: readonly (string | Buffer)[]): void {
  for (const form of secrets.flatMap(formsOf)) expect(text.includes(form), form).toBe(false);
}

/** How many attempts the deliveries of a database have had. */
async function countAttempts({ database }: TestServer): Promise<number> {
  const query = database.db
    .selectFrom("delivery_attempts")
    .select((select) => select.fn.countAll<number>().as("n"));
  return (await query.executeTakeFirstOrThrow()).n;
}

/** @decision D18 D29 */
describe("in production no secret is told or stored in clear", () => {
  let production: Production;
  let server: TestServer;
  const encryptionKey = randomBytes(32);
  const oldKey = randomBytes(32);
  const password = `password-${randomUUID()}`;
  const secrets: (string | Buffer)[] = [encryptionKey, oldKey, password];
  const personal = "Jane Doe of Elm Street 12";
  let told: string;

  beforeAll(async () => {
    production = await givenProduction();
    const databaseUrl = new URL(production.env.DATABASE_URL ?? "");
    databaseUrl.password = password; // the server trusts whoever comes from this machine, and looks at none
    server = await production.start({
      env: {
        DATABASE_URL: databaseUrl.href,
        ENCRYPTION_KEY: encryptionKey.toString("base64"),
        ENCRYPTION_KEYS_OLD: oldKey.toString("base64"),
        METRICS_PORT: "0",
        RATE_LIMIT: "5",
      },
    });
    const merchant = randomUUID();
    const paymentId = await givenPayment(server, { merchant });
    const secretKey = newSecret();
    const expired = await production.issuer.token({ exp: 1 });
    const token = await production.issuer.token({ merchant_id: merchant });
    secrets.push(secretKey, token, expired);
    const signature = (jwt: string) => jwt.split(".")[2] ?? "";
    secrets.push(signature(token), signature(expired));
    const target = subscriptionTo("https://receiver.invalid/hooks", { secretKey });
    const subscribe = (body: unknown, bearer = token) =>
      post(server.url, "/v1/webhook/subscribe", body, { token: bearer });
    const refund = () =>
      post(server.url, "/v1/refunds", refundOf(paymentId, { softDescriptor: "Refund" }), { token });

    const answers: Answer<unknown>[] = [await subscribe(target), await refund()];
    await until(async () => ((await countAttempts(server)) > 0 ? true : undefined));
    answers.push(await subscribe({ ...target, more: 1 }), await subscribe(target, expired));
    answers.push(
      await subscribe(target, `${token}x`),
      ...(await Promise.all(Array.from({ length: 20 }, refund))),
    );
    await exchange(server.url, head(`GET /v1/${encodeURIComponent(secretKey)}?token=${token}`));

    const { db } = server.database;
    await sql`alter table payments add constraint nothing_more check (soft_descriptor is null) not valid`.execute(
      db,
    );
    await sql`alter table subscriptions add constraint nothing_more check (false) not valid`.execute(db);
    // With the quota used up, a call is made anew until it is let through.
    const untilServed = (call: () => Promise<Answer<unknown>>) =>
      until(async () => {
        const answer = await call();
        return answer.status === 429 ? undefined : answer;
      });
    const body = refundOf(paymentId, { clientReferenceId: personal, softDescriptor: "x" });
    answers.push(await untilServed(() => post(server.url, "/v1/refunds", body, { token })));
    answers.push(await untilServed(() => subscribe(target)));
    production.issuer.mood("broken");
    await server.database.close();
    answers.push(await untilServed(refund));
    expect(answers.slice(-3).map(({ status }) => status)).toEqual([500, 500, 503]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(
      new Set([200, 201, 400, 401, 429, 500, 503]),
    );
    const other = await production.database.open();
    told = await everythingTold({ ...server, database: other }, answers);
  });
  afterAll(() => production.end());

  test("access tokens, secretKeys, encryption keys and the database's password", () => {
    expectNone(told, secrets);
    expect(told).toContain("violates check constraint");
    expect(told).toContain("webhook_attempts_total");
  });

  test("nor does the log repeat what a customer or merchant has written", () => {
    const log = server.logLines.join("");

    expect(log).not.toContain(personal);
    expect(log).not.toContain("Failing row");
    expect(log).toContain("nothing_more");
  });

  test("and the log tells of each call its id, merchant and record", () => {
    const lines = server.logLines.map((line) => JSON.parse(line));

    const refund = lines.find(({ msg, status }) => msg === "request" && status === 201);
    expect(refund).toEqual({
      level: 30,
      time: expect.any(Number),
      pid: expect.any(Number),
      hostname: expect.any(String),
      msg: "request",
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      merchant: expect.stringMatching(/^[0-9a-f-]{36}$/),
      paymentId: expect.stringMatching(/^rfd_/),
      method: "POST",
      path: "/v1/refunds",
      route: "/v1/refunds",
      status: 201,
      milliseconds: expect.any(Number),
    });
  });
});

test("a sandbox that delivers, and fails to, tells and stores no secret in clear either", async () => {
  const testDatabase = await createTestDatabase("postgres");
  const encryptionKey = randomBytes(32);
  const env = {
    DATABASE_URL: testDatabase.options.databaseUrl ?? "",
    ENCRYPTION_KEY: encryptionKey.toString("base64"),
    METRICS_PORT: "0",
  };
  await using content = await startReceiver();
  await using refusing = await startReceiver(answerWith(401, { "x-reason": "bad signature" }));
  const server = await startTestServer({ env, dataDir: "unused" });
  try {
    const { merchant, token } = await givenMerchant(server);
    const paymentId = await givenPayment(server, { merchant });
    const secretKeys = [newSecret(), `plain ${randomUUID()}`];
    const keys: string[] = [];
    for (const [index, { url }] of [content, refusing].entries()) {
      const body = subscriptionTo(url, { secretKey: secretKeys[index] });
      const answer = await post<Subscription>(server.url, "/v1/webhook/subscribe", body, { token });
      keys.push(answer.body.subscriptionKey);
    }

    const refund = await post(server.url, "/v1/refunds", refundOf(paymentId), { token });
    const made = await post<{ accessToken: string }>(
      server.url,
      "/sandbox/tokens",
      { scopes: [] },
      { token },
    );
    await until(async () => ((await countAttempts(server)) === 2 ? true : undefined));
    await server.database.db
      .updateTable("subscriptions")
      .set({ secret_ciphertext: Buffer.alloc(40, 1) })
      .execute();
    await post(server.url, "/v1/refunds", refundOf(paymentId), { token });
    await until(async () => ((await countAttempts(server)) === 4 ? true : undefined));

    const told = await everythingTold(server, [refund]);
    expect(told).toContain("the secretKey can't be read");
    for (const key of keys) expect(told).toContain(key);
    const spoken = [content, refusing].flatMap(({ received }) => received.map(({ headers }) => headers));
    const signatures = spoken.map((headers) => String(headers["webhook-signature"]));
    expect(signatures.length).toBeGreaterThanOrEqual(2);
    expectNone(told, [encryptionKey, token, made.body.accessToken, ...secretKeys, ...signatures]);
  } finally {
    await server.close();
    await testDatabase.remove();
  }
});
