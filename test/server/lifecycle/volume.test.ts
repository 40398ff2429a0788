import { Pool } from "undici";
import { expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { countRows, dollars, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";

const REFUNDS = 10_000;
const HUNDRED = 100;
const IN_FLIGHT = 16;
const CENT = dollars(0.01);

/*
 * Others may keep the machine busy for a while, and so make any hundred calls slow. Hence two comparisons that bear it, call by
 * call at the same time: the medians of the last hundred, of another payment's first hundred, and of the first hundred on a
 * server of its own, whose table is empty.
 */
/** @decision D13 */
test("10,000 refunds of one cent on one payment stay exact, and the last hundred takes at most twice as long as the first", async () => {
  await using deployment = await createDeployment("postgres");
  await using emptyDeployment = await createDeployment("postgres");
  const server = await deployment.start();
  const empty = await emptyDeployment.start();
  const acme = await createSandboxMerchant(server);
  const newcomer = await createSandboxMerchant(empty);
  const before = await countRows(server);
  const payment = await acme.create({ amount: dollars(REFUNDS / 100) });
  const fresh = await acme.create();
  const onEmpty = await newcomer.create();
  const pool = new Pool(server.url, { connections: IN_FLIGHT });
  const emptyPool = new Pool(empty.url, { connections: 1 });

  /** Refunds a cent, and returns how many milliseconds that took. */
  async function refundCent(
    { paymentId }: { paymentId: string },
    { token } = acme,
    connections = pool,
  ): Promise<number> {
    const request = JSON.stringify(refundOf(paymentId, { amount: CENT }));
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json",
    };
    const start = performance.now();
    const response = await connections.request({
      method: "POST",
      path: "/v1/refunds",
      headers,
      body: request,
    });
    const text = await response.body.text();
    const took = performance.now() - start;
    if (response.statusCode !== 201 || !text.includes("AUTHORIZED")) throw new Error(text);
    return took;
  }
  const leftOf = async ({ paymentId }: { paymentId: string }) => {
    const record = await acme.get(paymentId);
    return record.kind === "DEBIT" ? record.refundableAmount : undefined;
  };

  for (let count = 0; count < HUNDRED; count += 1) {
    await refundCent(payment);
    await refundCent(onEmpty, newcomer, emptyPool); // so that this server is as warm as the other
  }
  await newcomer.sandbox("resetSandbox");
  const afresh = await newcomer.create();
  expect(await leftOf(payment)).toEqual(dollars((REFUNDS - HUNDRED) / 100));

  let open = REFUNDS - 2 * HUNDRED;
  const worker = async () => {
    while (open > 0) {
      open -= 1;
      await refundCent(payment);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  expect(await leftOf(payment)).toEqual(dollars(HUNDRED / 100));

  const [last, freshFirst, emptyFirst]: [number[], number[], number[]] = [[], [], []];
  while (last.length < HUNDRED) {
    last.push(await refundCent(payment));
    freshFirst.push(await refundCent(fresh));
    emptyFirst.push(await refundCent(afresh, newcomer, emptyPool));
  }
  await Promise.all([pool.close(), emptyPool.close()]);

  expect(await leftOf(payment)).toEqual(dollars(0));
  expect(await leftOf(fresh)).toEqual(dollars(99));
  expect(await countRows(server)).toMatchObject({
    payments: before.payments + 2 + REFUNDS + HUNDRED,
    events: before.events + 2 + REFUNDS + HUNDRED,
  });
  const { body: tooMuch } = await acme.issue(refundOf(payment.paymentId, { amount: CENT }));
  expect(tooMuch.errorDetails?.errorCode).toBe("AMOUNT_EXCEEDS_REFUNDABLE");

  const figures = {
    last: medianOf(last),
    firstOfAnother: medianOf(freshFirst),
    firstOnEmpty: medianOf(emptyFirst),
  };
  process.stdout.write(`medians of a hundred one-cent refunds in milliseconds: ${JSON.stringify(figures)}\n`);
  expect(medianOf(last)).toBeLessThanOrEqual(2 * medianOf(freshFirst));
  expect(medianOf(last)).toBeLessThanOrEqual(2 * medianOf(emptyFirst));
});

function medianOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Number((sorted[sorted.length / 2] ?? Number.NaN).toFixed(2));
}
