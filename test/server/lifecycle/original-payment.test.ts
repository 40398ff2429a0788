import { expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { allEvents, refuseEvents } from "../../helpers/store-factories.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");

const endings = [
  { operation: "failPayment", status: "FAILED" },
  { operation: "coverPayment", status: "COVERED" },
] as const;
const cases = engines.flatMap((engine) => endings.map((ending) => ({ engine, ...ending })));

test.each(cases)(
  "a payment that becomes $status is rolled back whole when one of its rows can't be written, on $engine",
  async ({ engine, operation, status }) => {
    await using deployment = await createDeployment(engine);
    const server = await deployment.start({ realNow: () => NOW });
    const acme = await createSandboxMerchant(server);
    const { paymentId } = await acme.create({ settledAt: NOW });
    await acme.issue(refundOf(paymentId));
    const { database } = server;
    const read = async () => ({
      records: (await acme.sandbox("listPayments")).body.items,
      events: await allEvents(database.db, acme.merchant),
    });
    const before = await read();

    for (const type of [`payment.${status.toLowerCase()}`, "refund.terminal_failed"]) {
      const allowEvents = await refuseEvents(database.db, type);
      const response = await acme.sandbox(operation, { path: { paymentId } });
      await allowEvents();

      expect(response.status).toBe(500);
      expect(await read()).toEqual(before);
    }
    expect((await acme.sandbox(operation, { path: { paymentId } })).status).toBe(200);
  },
);
