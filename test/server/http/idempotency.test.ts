import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import {
  createPayment,
  type Duplicate,
  dollars,
  type Problem,
  type Refund,
  refundOf,
} from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

describe.each(engines)("on %s", (engine) => {
  const server = useTestServer({ engine });
  const issue = <Body = Refund>(body: unknown) => post<Body>(server.url, "/v1/refunds", body);

  test("a refund whose payment changes during every attempt to save it gets 503, and its requestKey stays free", async () => {
    const { db } = server.database;
    await sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`.execute(
      db,
    );
    await sql`create trigger swallow before insert on payments for each row execute function swallow()`.execute(
      db,
    );
    const request = refundOf("pay_settled");

    const refused = await issue<Problem>(request);
    await sql`drop trigger swallow on payments`.execute(db);
    const accepted = await issue(request);

    expect([refused.status, refused.body.errorDetails.errorCode]).toEqual([503, "UNAVAILABLE"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(accepted.status).toBe(201);
  });

  test("200 calls with one requestKey make one refund, and 199 responses name it", async () => {
    const paymentId = await createPayment(server);
    const request = refundOf(paymentId, { clientReferenceId: "order-1" });

    const responses = await Promise.all(
      Array.from({ length: 200 }, () => issue<Refund & Duplicate>(request)),
    );

    const issued = responses.filter(({ status }) => status === 201).map(({ body }) => body as Refund);
    const duplicates = responses.filter(({ status }) => status === 409).map(({ body }) => body.existing);
    const existing = { ...issued[0], originalPaymentId: paymentId, amount: dollars(1) };
    expect([issued.length, duplicates]).toEqual([1, Array(199).fill(existing)]);
    const refunds = server.database.db.selectFrom("payments").where("request_key", "=", request.requestKey);
    const events = refunds.innerJoin("events", (join) =>
      join.onRef("resource_id", "=", "payment_id").onRef("events.merchant", "=", "payments.merchant"),
    );
    expect(await events.select(["payment_id", "amount_cents", "type"]).execute()).toEqual([
      { payment_id: issued[0]?.paymentId, amount_cents: 1_00, type: "refund.authorized" },
    ]);
  });
});
