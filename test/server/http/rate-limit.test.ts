import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import {
  countRows,
  createMerchant,
  createPayment,
  createToken,
  type Problem,
  refundOf,
} from "../../helpers/factories.ts";
import { post, type TestResponse, useTestServer } from "../../helpers/server.ts";
import { createSubscription } from "../../helpers/store-factories.ts";

const LIMIT = 2;
/** At once; far more than a burst, also when the token bucket refills once or twice meanwhile. */
const MANY = 30;

describe.each(engines)("the rate limit on %s", (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMIT: `${LIMIT}` } });

  const call = (token: string, body: unknown = {}) =>
    post<Problem>(server.url, "/v1/refunds", body, { token });
  const isLimited = ({ status }: TestResponse<unknown>) => status === 429;

  test("holds for all tokens of a merchant together, allows a burst of twice as many calls, and limits no other merchant", async () => {
    const { merchant, token: first } = await createMerchant(server);
    const second = await createToken(server, merchant);
    const other = await createMerchant(server);

    const calls = Array.from({ length: MANY }, (_, index) => call(index % 2 === 0 ? first : second));
    const ofOther = await call(other.token);

    const responses = await Promise.all(calls);
    const served = responses.filter((response) => !isLimited(response));
    expect(served.length).toBeGreaterThanOrEqual(2 * LIMIT);
    expect(served.length).toBeLessThan(MANY / 2); // each of the two would have got half of the calls
    expect(ofOther.status).toBe(400);
    for (const { headers } of served) {
      expect(headers.get("ratelimit-policy")).toBe(`"merchant";q=${LIMIT};w=1`);
      expect(headers.get("ratelimit")).toMatch(/^"merchant";r=\d+;t=\d+$/);
    }
    const limited = responses.find(isLimited);
    expect(limited?.body.errorDetails.errorCode).toBe("RATE_LIMITED");
    expect(limited?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(limited?.headers.get("ratelimit")).toMatch(/^"merchant";r=0;t=\d+$/);
  });

  test("is checked after the scope, and before Accept and the body", async () => {
    const [unscoped, { token }] = [await createMerchant(server, ["webhooks"]), await createMerchant(server)];
    const wrong = { headers: { Accept: "text/xml", "Content-Type": "text/plain" } };
    const statuses = async (token: string) => {
      const calls = Array.from({ length: MANY }, () =>
        post(server.url, "/v1/refunds", "{", { token, ...wrong }),
      );
      return new Set((await Promise.all(calls)).map(({ status }) => status));
    };

    expect(await statuses(unscoped.token)).toEqual(new Set([403]));
    expect(await statuses(token)).toEqual(new Set([406, 429]));
  });

  test("counts a refund as one call for each of its receivers, unless it can't be saved", async () => {
    const { merchant, token } = await createMerchant(server);
    const paymentId = await createPayment(server, { merchant });
    const { db } = server.database;
    for (let count = 0; count < 4; count += 1) await createSubscription(db, merchant);
    await sql`alter table events rename to elsewhere`.execute(db);
    const failed = await call(token, refundOf(paymentId));
    await sql`alter table elsewhere rename to events`.execute(db);

    const calls = Array.from({ length: 2 * LIMIT }, () => call(token, refundOf(paymentId)));

    // Also of calls under way together, each of which has a token for itself.
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect([failed.status, ...statuses.sort()]).toEqual([500, 201, ...Array(2 * LIMIT - 1).fill(429)]);
  });

  test("never uses up a requestKey", async () => {
    const { merchant, token } = await createMerchant(server);
    const paymentId = await createPayment(server, { merchant });
    const requests = Array.from({ length: MANY }, () => refundOf(paymentId));
    const before = await countRows(server);

    const responses = await Promise.all(requests.map((request) => call(token, request)));

    const refunds = responses.filter(({ status }) => status === 201).length;
    expect((await countRows(server)).payments).toBe(before.payments + refunds);
    const limited = requests[responses.findIndex(isLimited)];
    // The token bucket refills in real time.
    await expect.poll(async () => (await call(token, limited)).status).toBe(201);
  });
});
