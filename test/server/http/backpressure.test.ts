import { expect, test } from "vitest";
import { type Problem, refundOf } from "../../helpers/factories.ts";
import { post, startTestServer } from "../../helpers/server.ts";

const ADMITTED = 256;
const EXCESS = 100;

/** @decision D08 */
test("more calls than the store takes get 503 at once, and the others are served", async () => {
  await using server = await startTestServer();
  const refund = () => post<Problem>(server.url, "/v1/refunds", refundOf("pay_settled"));
  await refund(); // from now on the caller is known
  let finish = () => {};
  const busy = server.database.db
    .transaction()
    .execute(() => new Promise<void>((resolve) => (finish = resolve)));

  let anonymous: number | undefined;
  const finishLater = async () => {
    // A call that is refused early is refused before its token, which it lacks, is looked for.
    anonymous = (await fetch(`${server.url}/v1/refunds`, { method: "POST" })).status;
    finish();
  };
  let responses = 0;
  const statuses: number[] = [];
  const refusals: Problem[] = [];
  await Promise.all(
    Array.from({ length: ADMITTED + EXCESS }, async () => {
      const { status, headers, body } = await refund();
      statuses.push(status);
      if (status === 503) refusals.push({ ...body, retryAfter: headers.get("retry-after") } as Problem);
      responses += 1;
      if (responses === EXCESS) await finishLater(); // while the store is busy, only they can get a response
    }),
  );

  await busy;
  expect(anonymous).toBe(503);
  expect(statuses.slice(0, EXCESS)).toEqual(Array(EXCESS).fill(503));
  expect(statuses.slice(EXCESS)).toEqual(Array(ADMITTED).fill(201));
  // Early refusals have no lines of their own, because these would take longer than the refusals.
  const lines = server.logLines.map((line) => JSON.parse(line));
  expect(lines.filter(({ status, merchant }) => status === 503 && merchant === undefined)).toEqual([]);
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ retryAfter: "1", errorDetails: { errorCode: "UNAVAILABLE" } });
  }
});
