import { expect, test } from "vitest";
import { type Problem, refundOf } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { post, startTestServer, type TestServer } from "../../helpers/server.ts";

/** How many calls a server takes at a time: of one merchant, and of all others meanwhile. */
const [OF_ONE, OF_OTHERS] = [256, 256];
const EXCESS = 100;

/** Sends calls of one merchant, and counts the responses that come while the store is busy: only refusals can. */
function flood(server: TestServer, token: string, count: number) {
  const [statuses, refusals]: [number[], Problem[]] = [[], []];
  let refused = () => {};
  const untilRefused = new Promise<void>((resolve) => (refused = resolve));
  const issue = async () => {
    const request = refundOf("pay_settled");
    const { status, headers, body } = await post<Problem>(server.url, "/v1/refunds", request, { token });
    statuses.push(status);
    if (status === 503) refusals.push({ ...body, retryAfter: headers.get("retry-after") } as Problem);
    if (statuses.length === EXCESS) refused();
  };
  return { statuses, refusals, untilRefused, ended: Promise.all(Array.from({ length: count }, issue)) };
}

/** @decision D08 */
test("more calls than the store takes, of one merchant or of all, get 503 at once, and the others are served", async () => {
  // No call may miss its deadline on a busy machine: that would make room for others.
  await using server = await startTestServer({ callLimitMs: 120_000 });
  const tokens = ["sandbox_acme", "sandbox_globex"] as const;
  // From now on both callers are known.
  for (const token of tokens) await post(server.url, "/v1/refunds", refundOf("pay_settled"), { token });
  let finish = () => {};
  const busy = server.database.db
    .transaction()
    .execute(() => new Promise<void>((resolve) => (finish = resolve)));
  const anonymous = async () => (await fetch(`${server.url}/v1/refunds`, { method: "POST" })).status;

  const one = flood(server, tokens[0], OF_ONE + EXCESS);
  await one.untilRefused;
  const beside = await anonymous();
  const other = flood(server, tokens[1], OF_OTHERS + EXCESS);
  await other.untilRefused;
  // A call that is refused early is refused before its token, which it lacks, is looked for.
  const excess = await anonymous();
  finish();
  await Promise.all([busy, one.ended, other.ended]);

  expect([beside, excess]).toEqual([401, 503]);
  for (const [{ statuses }, served, status] of [
    [one, OF_ONE, 201],
    [other, OF_OTHERS, 404], // the payment is not theirs
  ] as const) {
    expect(statuses.slice(0, EXCESS)).toEqual(Array(EXCESS).fill(503));
    expect(statuses.slice(EXCESS)).toEqual(Array(served).fill(status));
  }
  for (const refusal of [...one.refusals, ...other.refusals]) {
    expect(refusal).toMatchObject({ retryAfter: "1", errorDetails: { errorCode: "UNAVAILABLE" } });
  }
});

test("callers whose bodies are on their way keep nobody out, however many they are", async () => {
  await using server = await startTestServer();
  using connections = new DisposableStack();
  for (let caller = 0; caller < OF_ONE + OF_OTHERS; caller += 1) {
    const token = caller < OF_ONE ? "sandbox_acme" : "sandbox_globex";
    const headers = { Authorization: `Bearer ${token}`, "Content-Length": 100, Expect: "100-continue" };
    const connection = connections.use(await openConnection(server.url));
    connection.send(head("/v1/refunds", headers));
    expect((await connection.response()).status).toBe(100);
  }

  expect((await post(server.url, "/v1/refunds", refundOf("pay_settled"))).status).toBe(201);
});
