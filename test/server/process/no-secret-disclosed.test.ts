import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { dumpDatabase, formsOf } from "../../helpers/databases.ts";
import { createDeployment, startProduction } from "../../helpers/deployment.ts";
import {
  createMerchant,
  createPayment,
  refundOf,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { respondWith, startReceiver, until } from "../../helpers/receiver.ts";
import { post, type TestResponse, type TestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";

const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`;

/** Everything that a server discloses to anyone but the caller, and the error responses to callers. */
async function everythingDisclosed(server: TestServer, responses: readonly unknown[]): Promise<string> {
  const metrics = await (await fetch(server.metricsUrl ?? "")).text();
  return [
    server.logLines.join(""),
    metrics,
    JSON.stringify(responses),
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

describe("a production server neither discloses nor stores in clear", () => {
  const production = forSuite(() => startProduction());
  let server: TestServer;
  const encryptionKey = randomBytes(32);
  const oldKey = randomBytes(32);
  const password = `password-${randomUUID()}`;
  const secrets: (string | Buffer)[] = [encryptionKey, oldKey, password];
  const personal = "Jane Doe of Elm Street 12";
  const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  /** Text of the caller that receivers get, and the log does not. */
  const state = `of-the-caller-${randomUUID()}`;
  let disclosed: string;

  beforeAll(async () => {
    const databaseUrl = new URL(production.url);
    databaseUrl.password = password; // the database trusts connections from this machine, without a password
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
    const paymentId = await createPayment(server, { merchant });
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
      post(server.url, "/v1/refunds", refundOf(paymentId, { softDescriptor: "Refund" }), {
        token,
        headers: {
          traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
          tracestate: `vendor=${state}`,
          // A token by mistake: too long for the log.
          "x-request-id": token,
        },
      });
    // A secret where a trace is expected.
    await post(
      server.url,
      "/v1/refunds",
      {},
      { token, headers: { traceparent: secretKey, tracestate: secretKey } },
    );

    const responses: TestResponse<unknown>[] = [await subscribe(target), await refund()];
    await until(async () => (await countAttempts(server)) > 0);
    responses.push(await subscribe({ ...target, more: 1 }), await subscribe(target, expired));
    responses.push(
      await subscribe(target, `${token}x`),
      ...(await Promise.all(Array.from({ length: 60 }, refund))),
    );
    await exchange(server.url, head(`GET /v1/${encodeURIComponent(secretKey)}?token=${token}`));

    const { db } = server.database;
    await sql`alter table payments add constraint nothing_more check (soft_descriptor is null) not valid`.execute(
      db,
    );
    await sql`alter table subscriptions add constraint nothing_more check (false) not valid`.execute(db);
    // The rate limit may be exceeded, so each call is repeated until it is accepted.
    const untilServed = (call: () => Promise<TestResponse<unknown>>) =>
      until(async () => {
        const response = await call();
        return response.status === 429 ? undefined : response;
      });
    const body = refundOf(paymentId, { clientReferenceId: personal, softDescriptor: "x" });
    responses.push(await untilServed(() => post(server.url, "/v1/refunds", body, { token })));
    responses.push(await untilServed(() => subscribe({ ...target, url: `${target.url}?more` })));
    production.issuer.mood("broken");
    await server.database.close();
    responses.push(await untilServed(refund));
    expect(responses.slice(-3).map(({ status }) => status)).toEqual([500, 500, 503]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(
      new Set([200, 201, 400, 401, 429, 500, 503]),
    );
    const other = await production.database.open();
    disclosed = await everythingDisclosed({ ...server, database: other }, responses);
  });

  test("access tokens, secretKeys, encryption keys and the database's password", () => {
    expectNone(disclosed, secrets);
    expect(disclosed).toContain("violates check constraint");
    expect(disclosed).toContain("webhook_attempts_total");
  });

  test("text of customers and merchants in its log", () => {
    const log = server.logLines.join("");

    expect(log).not.toContain(personal);
    expect(log).not.toContain(state);
    expect(disclosed).toContain(state);
    expect(log).not.toContain("Failing row");
    expect(log).toContain("nothing_more");
  });
});

test("a sandbox with failed and successful deliveries discloses and stores no secret in clear either", async () => {
  await using deployment = await createDeployment();
  const encryptionKey = Buffer.from(deployment.env.ENCRYPTION_KEY ?? "", "base64");
  await using content = await startReceiver();
  await using refusing = await startReceiver(respondWith(401, { "x-reason": "bad signature" }));
  const server = await deployment.start({ env: { METRICS_PORT: "0" } });
  const { merchant, token } = await createMerchant(server);
  const paymentId = await createPayment(server, { merchant });
  const secretKeys = [newSecret(), `plain ${randomUUID()}`];
  const keys: string[] = [];
  for (const [index, { url }] of [content, refusing].entries()) {
    const body = subscriptionTo(url, { secretKey: secretKeys[index] });
    const response = await post<Subscription>(server.url, "/v1/webhook/subscribe", body, { token });
    keys.push(response.body.subscriptionKey);
  }

  const refund = await post(server.url, "/v1/refunds", refundOf(paymentId), { token });
  const made = await post<{ accessToken: string }>(server.url, "/sandbox/tokens", { scopes: [] }, { token });
  await until(async () => (await countAttempts(server)) === 2);
  await server.database.db
    .updateTable("subscriptions")
    .set({ secret_ciphertext: Buffer.alloc(40, 1) })
    .execute();
  await post(server.url, "/v1/refunds", refundOf(paymentId), { token });
  await until(async () => (await countAttempts(server)) === 4);

  const disclosed = await everythingDisclosed(server, [refund]);
  expect(disclosed).toContain("the secretKey can't be read");
  for (const key of keys) expect(disclosed).toContain(key);
  const spoken = [content, refusing].flatMap(({ received }) => received.map(({ headers }) => headers));
  const signatures = spoken.map((headers) => String(headers["webhook-signature"]));
  expect(signatures.length).toBeGreaterThanOrEqual(2);
  expectNone(disclosed, [encryptionKey, token, made.body.accessToken, ...secretKeys, ...signatures]);
});
