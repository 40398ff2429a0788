import { expect, test } from "vitest";
import { type Duplicate, dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { startTestServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { createRandom, record, reportProgress, roundsOf } from "./setup/figures.ts";
import { send } from "./setup/load.ts";
import { createBusiness } from "./setup/trial.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

test("the clock of the process moved back and forth: each refund exists, is authorized and is delivered once", async () => {
  const rounds = roundsOf(0.4);
  const random = createRandom("clock");
  let movedMs = 0;
  await using server = await startTestServer({ realNow: () => new Date(Date.now() + movedMs) });
  const { ledger, receiver, countLosses } = await createBusiness(server);
  await using _ = receiver;
  const waiting: string[] = [];

  for (let round = 1; round <= rounds; round += 1) {
    movedMs = Math.round((random() - 0.5) * 20 * DAY_MS);
    const request = refundOf(ledger.paymentId, { amount: dollars(0.01) });
    const issued = await send<Refund>(server.url, "/v1/refunds", request);
    expect(issued?.status).toBe(201);
    if (issued) ledger.acknowledged.set(request.requestKey, issued.body);
    const repeated = await send<Duplicate>(server.url, "/v1/refunds", request);
    expect([repeated?.status, repeated?.body.existing.paymentId]).toEqual([409, issued?.body.paymentId]);

    // A refund that waits for its day; the next advance of the clock may pass it.
    const recent = await sandboxOf(server)("createPayment", {
      body: { amount: dollars(1), status: "PROCESSING" },
    });
    const { paymentId } = recent.body as { paymentId: string };
    const pending = await send<Refund>(server.url, "/v1/refunds", refundOf(paymentId));
    expect(pending?.body.paymentStatus).toBe("PENDING");
    await sandboxOf(server)("settlePayment", { path: { paymentId }, body: {} });
    if (pending) waiting.push(pending.body.paymentId);
    reportProgress("clock moved", round, rounds, { "days off": Math.round(movedMs / DAY_MS) });
  }
  movedMs = 60 * DAY_MS;

  const received = await until(() => {
    const ids = receiver.received.map(({ event }) => String(event.data.paymentId));
    return waiting.every((paymentId) => ids.includes(paymentId)) ? ids : undefined;
  });
  expect(waiting.map((paymentId) => received.filter((id) => id === paymentId).length)).toEqual(
    Array(rounds).fill(1),
  );
  for (const paymentId of waiting) {
    const { body } = await sandboxOf(server)("getPayment", { path: { paymentId } });
    const { history } = body as Extract<typeof body, { kind: "REFUND" }>;
    expect(history.map(({ paymentStatus }) => paymentStatus)).toEqual(["PENDING", "AUTHORIZED"]);
  }
  const { lost, doubled } = await countLosses(server);
  record("clock moved", { rounds, refunds: 2 * rounds, lost: lost.length, doubled: doubled.length });
  expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
});
