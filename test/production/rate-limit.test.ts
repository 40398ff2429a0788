import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { post, type TestServer } from "../helpers/server.ts";
import { givenPayment, type Problem, refundOf } from "../server/given.ts";
import { givenProduction } from "./given.ts";

/** Calls a second; a burst is twice as many. */
const LIMIT = 20;
/** What each server may let through before the others know: a tenth of a second's quota. */
const UNREPORTED = 2;

const isLimited = ({ status }: { status: number }) => status === 429;

/** @decision D27 */
test("a merchant's quota is one for all servers, and a burst at each of them does not double it", async () => {
  await using production = await givenProduction();
  const env = { RATE_LIMIT: `${LIMIT}` };
  const servers = [await production.start({ env }), await production.start({ env })];
  const token = await production.issuer.token({ merchant_id: randomUUID() });
  const call = (server: TestServer) => post<Problem>(server.url, "/v1/refunds", {}, { token });
  await Promise.all(servers.map((server) => fetch(`${server.url}/readyz`)));

  const startedMs = performance.now();
  const answers = await Promise.all(
    servers.flatMap((server) => Array.from({ length: 3 * LIMIT }, () => call(server))),
  );
  const seconds = (performance.now() - startedMs) / 1000;

  const served = answers.filter((answer) => !isLimited(answer)).length;
  expect(served).toBeGreaterThanOrEqual(2 * LIMIT);
  expect(served).toBeLessThanOrEqual(2 * LIMIT + LIMIT * seconds + servers.length * UNREPORTED);
  const limited = answers.find(isLimited);
  expect(limited?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(limited?.headers.get("ratelimit")).toMatch(/^"merchant";r=0;t=[123]$/);
  expect(limited?.headers.get("ratelimit-policy")).toBe(`"merchant";q=${LIMIT};w=1`);
});

/** @decision D27 */
test("a server learns what another one has let through", async () => {
  await using production = await givenProduction();
  const env = { RATE_LIMIT: `${LIMIT}` };
  const [busy, quiet] = [await production.start({ env }), await production.start({ env })];
  const token = await production.issuer.token({ merchant_id: randomUUID() });
  const call = (server: TestServer) => post<Problem>(server.url, "/v1/refunds", {}, { token });

  await Promise.all(Array.from({ length: 5 * LIMIT }, () => call(busy)));
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 2 * LIMIT }, () => call(quiet)));
  const seconds = (performance.now() - startedMs) / 1000;

  // Alone it would have let all of them through.
  const served = answers.filter((answer) => !isLimited(answer)).length;
  expect(served).toBeLessThanOrEqual(LIMIT * seconds + 2 * UNREPORTED);
});

test("without its table each server goes on counting for itself, and refuses nobody for that", async () => {
  await using production = await givenProduction();
  const server = await production.start({ env: { RATE_LIMIT: `${LIMIT}` } });
  const merchant = randomUUID();
  const paymentId = await givenPayment(server, { merchant });
  const token = await production.issuer.token({ merchant_id: merchant });
  await sql`drop table rate_limits`.execute(server.database.db);

  const answers = await Promise.all(
    Array.from({ length: 5 * LIMIT }, () => post(server.url, "/v1/refunds", refundOf(paymentId), { token })),
  );

  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toEqual(new Set([201, 429]));
  expect(answers.filter((answer) => !isLimited(answer)).length).toBeGreaterThanOrEqual(2 * LIMIT);
});
