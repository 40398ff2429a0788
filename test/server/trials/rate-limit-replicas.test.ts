import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import type { Problem } from "../../helpers/factories.ts";
import { post, type TestServer } from "../../helpers/server.ts";

/** Requests a second; a burst is twice as many. So few that also a busy machine makes `MANY` before as many are allowed. */
const LIMIT = 5;
const MANY = 120;
/** How many requests each server may let through before it reports them: a tenth of a second's, and at least one. */
const UNREPORTED = 1;

test("merchants have one rate limit over all servers, and a burst at each server does not double it", async () => {
  await using production = await startProduction();
  const env = { RATE_LIMIT: `${LIMIT}` };
  const [firstServer, secondServer] = [await production.start({ env }), await production.start({ env })];
  const token = await production.issuer.token({ merchant_id: randomUUID() });
  const call = ({ url }: TestServer) => post<Problem>(url, "/v1/refunds", {}, { token });
  const makeCalls = (server: TestServer, count: number) =>
    Promise.all(Array.from({ length: count }, () => call(server)));
  await Promise.all([firstServer, secondServer].map(({ url }) => fetch(`${url}/readyz`)));

  const startedMs = performance.now();
  const atOnce = (
    await Promise.all([makeCalls(firstServer, MANY / 2), makeCalls(secondServer, MANY / 2)])
  ).flat();
  const afterwards = [...(await makeCalls(firstServer, MANY)), ...(await makeCalls(secondServer, 2 * LIMIT))];
  const seconds = (performance.now() - startedMs) / 1000;

  const isServed = ({ status }: { status: number }) => status !== 429;
  const [served, servedLater] = [atOnce.filter(isServed).length, afterwards.filter(isServed).length];
  expect(served).toBeGreaterThanOrEqual(2 * LIMIT);
  expect(served + servedLater).toBeLessThanOrEqual(2 * LIMIT + LIMIT * seconds + 4 * UNREPORTED);
  const limited = atOnce.find((response) => !isServed(response));
  expect(limited?.headers.get("ratelimit")).toMatch(/^"merchant";r=0;t=[123]$/);
});

test("a bucket that was filled by a clock an hour ahead keeps its merchant out for seconds", async () => {
  await using production = await startProduction();
  const server = await production.start({ env: { RATE_LIMIT: "10" } });
  const merchant = randomUUID();
  const token = await production.issuer.token({ merchant_id: merchant });
  const call = () => post(server.url, "/v1/refunds", {}, { token });
  await sql`insert into rate_limits (merchant, full_at) values (${merchant}, now() + interval '1 hour')`.execute(
    server.database.db,
  );

  const [first, second] = [await call(), await call()];

  expect([first.status, second.status]).toEqual([400, 429]);
  expect(Number(second.headers.get("retry-after"))).toBeLessThanOrEqual(10);
});
