import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import {
  createMerchant,
  createPayment,
  type Duplicate,
  dollars,
  type Problem,
  type Refund,
  refundOf,
} from "../../helpers/factories.ts";
import { post, startTestServer, type TestResponse, useTestServer } from "../../helpers/server.ts";

describe.each(engines)("a payment that changes under every decision about it on %s", (engine) => {
  test("gets 503 in the end, and the requestKey stays free", async () => {
    await using server = await startTestServer({ engine });
    const { db } = server.database;
    const swallow = sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`;
    await swallow.execute(db);
    await sql`create trigger swallow before insert on payments for each row execute function swallow()`.execute(
      db,
    );
    const request = refundOf("pay_settled");

    const refused = await post<Problem>(server.url, "/v1/refunds", request);
    await sql`drop trigger swallow on payments`.execute(db);
    const accepted = await post(server.url, "/v1/refunds", request);

    expect([refused.status, refused.body.errorDetails.errorCode]).toEqual([503, "UNAVAILABLE"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(accepted.status).toBe(201);
  });
});

describe.each(engines)("at the same time on %s", (engine) => {
  let merchant: string;
  let token: string;

  const server = useTestServer({ engine });
  beforeAll(async () => {
    ({ merchant, token } = await createMerchant(server));
  });

  const issue = <Body = Refund>(body: unknown) => post<Body>(server.url, "/v1/refunds", body, { token });

  /** The refunds that are stored under a requestKey, and the events of each. */
  async function storedUnder(requestKey: string) {
    const { db } = server.database;
    const refunds = await db
      .selectFrom("payments")
      .select(["payment_id", "amount_cents"])
      .where("request_key", "=", requestKey)
      .execute();
    const ids = refunds.map((refund) => refund.payment_id);
    const events = await db.selectFrom("events").select("type").where("resource_id", "in", ids).execute();
    return { refunds, events };
  }

  /** @clause 7.5 12.5 @decision D09 */
  test("200 calls with one requestKey make one refund, and 199 responses name it", async () => {
    const paymentId = await createPayment(server, { merchant });
    const request = refundOf(paymentId, { requestKey: randomUUID(), clientReferenceId: "order-1" });

    const responses = await Promise.all(
      Array.from({ length: 200 }, () => issue<Refund | Duplicate>(request)),
    );

    const [issued, ...others] = responses.toSorted((a, b) => a.status - b.status) as [
      TestResponse<Refund>,
      ...TestResponse<Duplicate>[],
    ];
    expect(issued.status).toBe(201);
    expect(others.map(({ status, body }) => ({ status, existing: body.existing }))).toEqual(
      others.map(() => ({
        status: 409,
        existing: { ...issued.body, originalPaymentId: paymentId, amount: dollars(1) },
      })),
    );
    expect(await storedUnder(request.requestKey)).toEqual({
      refunds: [{ payment_id: issued.body.paymentId, amount_cents: 1_00 }],
      events: [{ type: "refund.authorized" }],
    });
  });
});
