import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { startProduction } from "../../helpers/production.ts";
import { post, type TestServer } from "../../helpers/server.ts";

/** Requests a second; a burst is twice as many. So few that also a busy machine makes `MANY` before as many are allowed. */
const LIMIT = 5;
const MANY = 120;
/** How many requests each server may let through before it reports them: a tenth of a second's, and at least one. */
const UNREPORTED = 1;

const isLimited = ({ status }: { status: number }) => status === 429;

/** @decision D27 */
test("merchants have one rate limit over all servers, and a burst at each server does not double it", async () => {
  await using production = await startProduction();
  const env = { RATE_LIMIT: `${LIMIT}` };
  const servers = [await production.start({ env }), await production.start({ env })];
  const token = await production.issuer.token({ merchant_id: randomUUID() });
  const call = (server: TestServer) => post<Problem>(server.url, "/v1/refunds", {}, { token });
  await Promise.all(servers.map((server) => fetch(`${server.url}/readyz`)));

  const startedMs = performance.now();
  const responses = await Promise.all(
    servers.flatMap((server) => Array.from({ length: MANY / 2 }, () => call(server))),
  );
  const seconds = (performance.now() - startedMs) / 1000;

  const served = responses.filter((response) => !isLimited(response)).length;
  expect(served).toBeGreaterThanOrEqual(2 * LIMIT);
  expect(served).toBeLessThanOrEqual(2 * LIMIT + LIMIT * seconds + servers.length * UNREPORTED);
  const limited = responses.find(isLimited);
  expect(limited?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(limited?.headers.get("ratelimit")).toMatch(/^"merchant";r=0;t=[123]$/);
  expect(limited?.headers.get("ratelimit-policy")).toBe(`"merchant";q=${LIMIT};w=1`);
});

/** @decision D27 */
test("a server counts the requests that another one has let through", async () => {
  await using production = await startProduction();
  const env = { RATE_LIMIT: `${LIMIT}` };
  const [busy, quiet] = [await production.start({ env }), await production.start({ env })];
  const token = await production.issuer.token({ merchant_id: randomUUID() });
  const call = (server: TestServer) => post<Problem>(server.url, "/v1/refunds", {}, { token });

  const startedMs = performance.now();
  const responses = [
    ...(await Promise.all(Array.from({ length: MANY }, () => call(busy)))),
    ...(await Promise.all(Array.from({ length: 2 * LIMIT }, () => call(quiet)))),
  ];
  const seconds = (performance.now() - startedMs) / 1000;

  // Alone the second one would have let a burst through as well.
  const served = responses.filter((response) => !isLimited(response)).length;
  expect(served).toBeLessThanOrEqual(2 * LIMIT + LIMIT * seconds + 2 * UNREPORTED);
});

test("without its table each server counts alone, and refuses no request because of it", async () => {
  await using production = await startProduction();
  const server = await production.start({ env: { RATE_LIMIT: `${LIMIT}` } });
  const merchant = randomUUID();
  const paymentId = await createPayment(server, { merchant });
  const token = await production.issuer.token({ merchant_id: merchant });
  await sql`drop table rate_limits`.execute(server.database.db);

  const responses = await Promise.all(
    Array.from({ length: MANY }, () => post(server.url, "/v1/refunds", refundOf(paymentId), { token })),
  );

  const statuses = new Set(responses.map(({ status }) => status));
  expect(statuses).toEqual(new Set([201, 429]));
  expect(responses.filter((response) => !isLimited(response)).length).toBeGreaterThanOrEqual(2 * LIMIT);
});

/** @decision D27 */
test("calls that get 503 while the database is locked don't count, at any server", async () => {
  await using production = await startProduction();
  const env = { RATE_LIMIT: "1" };
  const storeLimits = { statementMs: 300 };
  const [refusing, other] = [
    await production.start({ env, storeLimits }),
    await production.start({ env, storeLimits: { statementMs: 120_000 } }),
  ];
  const merchant = randomUUID();
  const paymentId = await createPayment(other, { merchant });
  const token = await production.issuer.token({ merchant_id: merchant });
  const callTwice = async (server: TestServer) => {
    const refund = () => post(server.url, "/v1/refunds", refundOf(paymentId), { token });
    return (await Promise.all([refund(), refund()])).map(({ status }) => status);
  };
  /** In milliseconds, for the servers together; the burst of two calls takes 2,000. */
  const missing = async () => {
    const { rows } = await sql<{ ms: number }>`
      select extract(epoch from full_at - clock_timestamp())::float8 * 1000 as ms
      from rate_limits where merchant = ${merchant}`.execute(other.database.db);
    return rows[0]?.ms;
  };

  const refused = await other.database.db.transaction().execute(async (transaction) => {
    await sql`lock table payments in access exclusive mode`.execute(transaction);
    const statuses: number[] = [];
    for (let round = 0; round < 8; round += 1) statuses.push(...(await callTwice(refusing)));
    return statuses;
  });
  await expect.poll(missing, { timeout: 8_000 }).toBeLessThanOrEqual(0);
  const repeated = await callTwice(other);

  expect([refused, repeated]).toEqual([Array(16).fill(503), [201, 201]]);
});
