import { beforeEach, describe, expect, test } from "vitest";
import { refundDueAt } from "../../../server/domain/business-days.ts";
import { engines } from "../../helpers/engine.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, eventsOf, type Merchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { refuseEvents } from "../../helpers/store-factories.ts";

/** A refund is authorized within five seconds of its date (D16); on a busy machine the scan of each second may come later. */
const PROMPT = { timeout: 30_000, interval: 20 };
/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");
/** When a refund of a payment that settled at NOW is due. */
const DUE = refundDueAt(NOW);
const JUST_BEFORE = new Date(DUE.getTime() - 1);

const PENDING = { paymentStatus: "PENDING", at: NOW.toISOString() };
const AUTHORIZED = { paymentStatus: "AUTHORIZED", at: DUE.toISOString() };

describe.each(engines)("a refund that is due, on %s", (engine) => {
  let realNow = NOW;
  let acme: Merchant;
  const server = useTestServer({ engine, realNow: () => realNow });

  beforeEach(async () => {
    realNow = NOW;
    await server.database.db.deleteFrom("clock").execute();
    acme = await createSandboxMerchant(server);
  });

  const scan = () => acme.sandbox("advanceClock", { body: { by: "PT0S" } });
  const createRefund = async (paymentId: string) =>
    (await acme.issue(refundOf(paymentId, { clientReferenceId: "order-1" }))).body.paymentId;

  test("becomes AUTHORIZED by itself within five seconds, and not a millisecond early", async () => {
    const { paymentId } = await acme.create({ settledAt: NOW });
    const refund = await createRefund(paymentId);

    realNow = JUST_BEFORE;
    await scan();
    expect(await acme.get(refund)).toMatchObject({ paymentStatus: "PENDING", history: [PENDING] });

    realNow = DUE;
    await expect.poll(() => acme.get(refund), PROMPT).toMatchObject({ history: [PENDING, AUTHORIZED] });
    expect(await acme.get(refund)).toMatchObject({ status: "AUTHORIZED", paymentStatus: "AUTHORIZED" });
    expect(await eventsOf(server, refund)).toEqual([
      { type: "refund.pending", sequence: 1, occurred_at: NOW },
      { type: "refund.authorized", sequence: 2, occurred_at: DUE },
    ]);
  });

  test("becomes AUTHORIZED only together with its event, and is tried again until both are stored", async () => {
    const { paymentId } = await acme.create({ settledAt: NOW });
    const refund = await createRefund(paymentId);
    realNow = DUE;
    const allowEvents = await refuseEvents(server.database.db, "refund.authorized");

    const { status } = await scan();
    const unchanged = await acme.get(refund);
    const events = await eventsOf(server, refund);
    await allowEvents();

    expect(status).toBe(500);
    expect(unchanged).toMatchObject({ paymentStatus: "PENDING", history: [PENDING] });
    expect(events).toHaveLength(1);
    await expect.poll(() => acme.get(refund), PROMPT).toMatchObject({ history: [PENDING, AUTHORIZED] });
    expect(await eventsOf(server, refund)).toMatchObject([
      { sequence: 1 },
      { sequence: 2, occurred_at: DUE },
    ]);
  });
});
