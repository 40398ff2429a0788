import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { type Duplicate, dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, type Merchant, merchantAt } from "../../helpers/sandbox.ts";
import type { TestResponse, TestServer } from "../../helpers/server.ts";
import { eventsByResource, expectConsistent, refundsOf } from "./consistency.ts";

describe("at the same time, over two servers on one PostgreSQL", () => {
  let servers: [TestServer, TestServer];
  let acme: Merchant;

  beforeAll(async () => {
    const deployment = await createDeployment("postgres");
    servers = [await deployment.start(), await deployment.start()];
    return () => deployment.remove();
  });
  beforeEach(async () => {
    acme = await createSandboxMerchant(servers[0]);
  });

  const issueOn = <Body>(index: number, body: unknown) =>
    merchantAt(servers[index % 2 === 0 ? 0 : 1], acme).issue<Body>(body);

  /** @decision D12a */
  test("50 refunds of 10.00 on 100.00 leave exactly 10 that live", async () => {
    const { paymentId } = await acme.create();
    const calls = Array.from({ length: 50 }, (_, index) =>
      issueOn<Refund>(index, refundOf(paymentId, { amount: dollars(10) })),
    );

    const outcomes = (await Promise.all(calls)).map(
      ({ status, body }) => `${status} ${body.paymentStatus} ${body.errorDetails?.errorCode}`,
    );

    expect(outcomes.toSorted()).toEqual([
      ...Array(10).fill("201 AUTHORIZED undefined"),
      ...Array(40).fill("201 TERMINAL_FAILED AMOUNT_EXCEEDS_REFUNDABLE"),
    ]);
    expect(await acme.get(paymentId)).toMatchObject({ refundableAmount: dollars(0) });
    await expectConsistent(servers[0], acme);
  });

  /** @clause 12.5 @decision D10 */
  test("200 calls with one requestKey make one refund and one event, and 199 responses name it", async () => {
    const { paymentId } = await acme.create();
    const request = refundOf(paymentId, { clientReferenceId: "order-1" });
    const calls = Array.from({ length: 200 }, (_, index) => issueOn<Refund | Duplicate>(index, request));

    const responses = (await Promise.all(calls)).toSorted((a, b) => a.status - b.status);

    const [issued, ...others] = responses as [TestResponse<Refund>, ...TestResponse<Duplicate>[]];
    expect(issued.status).toBe(201);
    expect(others.map(({ status, body }) => ({ status, existing: body.existing }))).toEqual(
      Array(199).fill({
        status: 409,
        existing: { ...issued.body, originalPaymentId: paymentId, amount: dollars(1) },
      }),
    );
    expect((await refundsOf(acme)).map((refund) => refund.paymentId)).toEqual([issued.body.paymentId]);
    const events = await eventsByResource(servers[0], acme);
    expect(events.get(issued.body.paymentId)).toEqual(["1 refund.authorized"]);
    expect(await acme.get(paymentId)).toMatchObject({ refundableAmount: dollars(99) });
  });
});
