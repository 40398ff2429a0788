import { expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { refundOf } from "../../helpers/factories.ts";
import { query } from "../../helpers/postgres.ts";
import { PROCESS_ENV } from "../../helpers/process.ts";
import { createSubscriber, type Responder, startReceiver } from "../../helpers/receiver.ts";
import { merchantAt } from "../../helpers/sandbox.ts";
import { spawnServer } from "../../helpers/server.ts";

const HOUR_MS = 3_600_000;
/** With this difference a server works, and shows by what it sends which clock it uses. */
const SLIGHT_MS = 50_000;

const SHIFTED = `--import ${new URL("../../helpers/shifted-clock.ts", import.meta.url)}`;
const COMPLAINT = /this server's clock and the database's differ.*no background work/g;
const WORK_ON_REFUND = `
  select status, (
    select sum(fence)::integer from deliveries join events using (event_id, merchant) where resource_id = payment_id
  ) as claims
  from payments where payment_id = $1`;
const SCAN = { body: { by: "PT0S" } };

test("a server whose clock is six hours ahead does nothing early, logs that once, and works again when the clock is right", async () => {
  await using deployment = await createDeployment();
  const { env } = deployment;
  const { DATABASE_URL: databaseUrl = "" } = env;
  const refused: string[] = [];
  let toleranceMs = 5 * 60_000;
  const verify: Responder = (response, { headers, event }) => {
    const skewMs = Number(headers["webhook-timestamp"]) * 1_000 - Date.now();
    const isRefused = Math.abs(skewMs) > toleranceMs;
    if (isRefused) refused.push(`${event.type}: ${skewMs} ms`);
    response.writeHead(isRefused ? 400 : 204).end();
  };
  await using receiver = await startReceiver(verify);
  const right = await deployment.start();
  const acme = await createSubscriber(right);
  await acme.subscribe(receiver.url);
  const wrong = await spawnServer({
    env: {
      ...env,
      NODE_OPTIONS: `${PROCESS_ENV.NODE_OPTIONS} ${SHIFTED}`,
      CLOCK_SHIFT_MS: `${6 * HOUR_MS}`,
      CLOCK_CORRECTED_MS: `${SLIGHT_MS}`,
    },
  });
  const replica = merchantAt(wrong, acme);
  /** Refunds through the wrong server that are due some time from now. */
  const createDue = async (milliseconds: number) => {
    const { paymentId: original } = await replica.create({
      settledAt: new Date(Date.now() - HOUR_MS).toISOString(),
    });
    const { body } = await replica.issue(refundOf(original));
    const values = [body.paymentId, milliseconds];
    const later =
      "update payments set due_at = clock_timestamp() + $2 * interval '1 ms' where payment_id = $1";
    await query(databaseUrl, later, values);
    return body.paymentId;
  };
  const statusOf = async (id: string) => (await acme.get(id)).status;

  const later = await createDue(3 * HOUR_MS);
  await replica.sandbox("advanceClock", SCAN);
  await acme.sandbox("advanceClock", SCAN);
  expect(await statusOf(later)).toBe("PENDING");
  const { history } = (await acme.get(later)) as { history: { at: string }[] };
  expect(Math.abs(Date.parse(history[0]?.at ?? "") - Date.now())).toBeLessThan(60_000);
  await receiver.first(1);

  await right.close();
  const due = await createDue(-1_000);
  await replica.sandbox("advanceClock", SCAN);
  const done = () => query(databaseUrl, WORK_ON_REFUND, [due]);
  expect(await done()).toEqual([{ status: "PENDING", claims: 0 }]);
  expect(await fetch(`${wrong.url}/readyz`)).toMatchObject({ status: 503 });

  toleranceMs = 20_000;
  const soon = await createDue(SLIGHT_MS - 20_000);
  wrong.kill("SIGUSR2");
  await expect.poll(done, { timeout: 30_000 }).toMatchObject([{ status: "AUTHORIZED" }]);
  await receiver.first(4);
  await replica.sandbox("advanceClock", SCAN);

  expect((await replica.get(soon)).status).toBe("PENDING");
  expect(refused).toEqual([]);
  const { stdout } = await wrong.stop();
  expect(stdout.match(COMPLAINT)).toHaveLength(1);
});
