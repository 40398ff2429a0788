import { Pool } from "undici";
import { expect, test } from "vitest";
import { givenSandboxMerchant } from "../sandbox/given.ts";
import { countRows, dollars, refundOf } from "../server/given.ts";
import { createDeployment } from "./deployment.ts";

const REFUNDS = 10_000;
const IN_FLIGHT = 16;
const HUNDRED = 100;
const CENT = dollars(0.01);
/** What the payment is more than the refunds together, in cents: for the hundreds that are measured once more. */
const SPARE_CENTS = 3_000;

/*
 * The median of a hundred calls tells how long a call takes, unless somebody else kept the machine busy meanwhile; then
 * another hundred tells. A payment that has become slow is slow in every one of them.
 */
const FIRST_TRIES = 3;
const LAST_TRIES = 20;

test("10,000 refunds of one cent on one payment stay exact, and the last hundred is no slower than the first", {
  timeout: 120_000,
}, async () => {
  await using deployment = await createDeployment("postgres");
  const server = await deployment.start();
  const acme = await givenSandboxMerchant(server);
  const before = await countRows(server);
  const { paymentId } = await acme.create({ amount: toDollars(REFUNDS + SPARE_CENTS) });
  const pool = new Pool(server.url, { connections: IN_FLIGHT });
  let issued = 0;

  /** Refunds a cent, and tells how many milliseconds that took. */
  async function refundCent(): Promise<number> {
    const request = JSON.stringify(refundOf(paymentId, { amount: CENT }));
    const start = performance.now();
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/v1/refunds",
      headers: {
        Authorization: `Bearer ${acme.token}`,
        "Content-Type": "application/json",
        Accept: "application/json",
      },
      body: request,
    });
    const text = await body.text();
    const took = performance.now() - start;
    if (statusCode !== 201 || !text.includes("AUTHORIZED")) throw new Error(`${statusCode} ${text}`);
    issued += 1;
    return took;
  }
  async function medianOfHundred(): Promise<number> {
    const times: number[] = [];
    while (times.length < HUNDRED) times.push(await refundCent());
    return times.toSorted((a, b) => a - b)[HUNDRED / 2] ?? Number.NaN;
  }
  const left = async () => {
    const record = await acme.get(paymentId);
    return record.kind === "DEBIT" ? record.refundableAmount.value : undefined;
  };
  const expectedLeft = () => (REFUNDS + SPARE_CENTS - issued) / 100;

  let first = Number.POSITIVE_INFINITY;
  for (let tries = FIRST_TRIES; tries > 0; tries -= 1) first = Math.min(first, await medianOfHundred());
  expect(await left()).toBe(expectedLeft());

  let open = REFUNDS - issued - HUNDRED;
  const worker = async () => {
    while (open > 0) {
      open -= 1;
      await refundCent();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  let last = await medianOfHundred();
  expect([issued, await left()]).toEqual([REFUNDS, SPARE_CENTS / 100]);
  for (let tries = LAST_TRIES; tries > 0 && last > 2 * first; tries -= 1) last = await medianOfHundred();
  await pool.close();

  process.stdout.write(`one cent: ${first.toFixed(2)} ms at first, ${last.toFixed(2)} ms after ${issued}\n`);
  expect(last).toBeLessThanOrEqual(2 * first);
  expect(await left()).toBe(expectedLeft());
  expect(await countRows(server)).toMatchObject({
    payments: before.payments + 1 + issued,
    events: before.events + 1 + issued,
  });
  const rest = await acme.issue(refundOf(paymentId, { amount: dollars(expectedLeft()) }));
  const tooMuch = await acme.issue(refundOf(paymentId, { amount: CENT }));
  expect(rest.body.paymentStatus).toBe("AUTHORIZED");
  expect(tooMuch.body.errorDetails?.errorCode).toBe("AMOUNT_EXCEEDS_REFUNDABLE");
});

function toDollars(cents: number) {
  return dollars(cents / 100);
}
