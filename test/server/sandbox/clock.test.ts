import { beforeEach, describe, expect, test } from "vitest";
import { WAITING_BUSINESS_DAYS } from "../../../server/domain/business-days.ts";
import { createDeployment } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant, problemOf, sandboxOf, violationAt } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();

describe("the sandbox's clock", () => {
  let realNow = NOW;

  const server = useTestServer({ realNow: () => realNow });
  const sandbox = sandboxOf(server);
  beforeEach(async () => {
    realNow = NOW;
    await server.database.db.deleteFrom("clock").execute();
  });

  const read = async () => (await sandbox("getClock")).body.now;
  const advance = async (body: unknown) => (await sandbox("advanceClock", { body })).body.now;

  test("shows real time until it is advanced, and then runs on from there", async () => {
    expect(await read()).toBe(AT);

    expect(await advance({ by: "PT30M" })).toBe("2026-11-16T15:30:00.000Z");
    realNow = new Date(NOW.getTime() + 1);

    expect(await read()).toBe("2026-11-16T15:30:00.001Z");
  });

  test("says how many refunds and deliveries fell due, above a hundred and of the caller only", async () => {
    const acme = await createSandboxMerchant(server);
    const { paymentId } = await acme.create({ settledAt: AT });
    const issued = Array.from({ length: 101 }, () =>
      acme.issue(refundOf(paymentId, { amount: dollars(0.1) })),
    );
    await Promise.all(issued);
    const { token } = await createSandboxMerchant(server);
    const move = async (body: object, as = acme.token) =>
      (await sandbox("advanceClock", { body, token: as })).body;

    expect(await move({ businessDays: WAITING_BUSINESS_DAYS - 1 })).toMatchObject({
      refunds: 0,
      deliveries: 0,
    });
    expect(await move({ by: "PT1H" }, token)).toMatchObject({ refunds: 0 });
    expect(await move({ businessDays: 1 })).toMatchObject({ refunds: 101, deliveries: 0 });
    expect(await move({ businessDays: 1 })).toMatchObject({ refunds: 0 });
  });

  test("authorizes what falls due before it responds, but never waits for receivers", async () => {
    await using receiver = await startReceiver(() => {});
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const { paymentId } = await acme.create({ settledAt: AT });
    const refund = (await acme.issue(refundOf(paymentId))).body.paymentId;

    await acme.sandbox("advanceClock", { body: { by: "P30D" } });

    expect(await acme.get(refund)).toMatchObject({ paymentStatus: "AUTHORIZED" });
    const states = (await acme.deliveries({ text: refund })).map(({ type, state }) => [type, state]);
    const types = ["refund.authorized", "refund.pending"];
    expect(states.toSorted()).toEqual(types.map((type) => [type, "PENDING"]));
  });

  test.each([
    [{ by: "P1Y2M3D" }, "2028-01-19T15:00:00.000Z"],
    [{ by: "PT0S" }, AT],
    [{ businessDays: 0 }, AT],
    [{ businessDays: 8 }, "2026-11-27T15:00:00.000Z"],
    [{ to: "2026-11-20T10:00:00-05:00" }, "2026-11-20T15:00:00.000Z"],
    [{ to: "2099-12-31T23:59:59Z" }, "2099-12-31T23:59:59.000Z"],
  ])("moves by %j to %s", async (wish, now) => {
    expect(await advance(wish)).toBe(now);
    expect(await read()).toBe(now);
  });

  test.each([
    [{ to: "2026-11-16T14:59:59.999Z" }, "/to", `must not be before the sandbox's time, which is ${AT}`],
    [{ to: "2100-01-01T00:00:00Z" }, "/to", "must not lead beyond the year 2099"],
    [{ by: "P74Y" }, "/by", "must not lead beyond the year 2099"],
    [{ by: `P${"9".repeat(60)}D` }, "/by", expect.any(String)],
    [{ businessDays: 20_000 }, "/businessDays", "must not lead beyond the year 2099"],
  ])("refuses %j, names %j and stays where it is", async (body, pointer, message) => {
    const response = await sandbox("advanceClock", { body });

    expect(problemOf(response)).toEqual(violationAt(pointer, message));
    expect(await read()).toBe(AT);
  });

  test("that has run past its calendar says how to go on", async () => {
    await advance({ to: "2099-12-31T23:59:59Z" });
    realNow = new Date(NOW.getTime() + 1_000);
    const acme = await createSandboxMerchant(server);

    const moved = await sandbox("advanceClock", { body: { by: "PT0S" } });
    const settled = await acme.sandbox("settlePayment", { path: { paymentId: "pay_1" }, body: {} });

    expect(problemOf(moved)).toEqual(violationAt("/by", expect.stringContaining("on an empty DATA_DIR")));
    const remedy = "must be sent, and lie in the years 2020 to 2099";
    expect(problemOf(settled)).toEqual(violationAt("/settledAt", expect.stringContaining(remedy)));
  });
});

describe.each(engines)("the sandbox's clock on %s", (engine) => {
  test("takes advances in parallel one after the other and loses none, over a restart too", async () => {
    await using deployment = await createDeployment(engine);
    const start = () => deployment.start({ realNow: () => NOW });
    const servers = [await start(), ...(engine === "embedded" ? [] : [await start()])];
    const replicas = servers.map((server) => sandboxOf(server));
    const body = { by: "PT1H" };

    const wishes = replicas.flatMap((sandbox) => Array.from({ length: 24 / replicas.length }, () => sandbox));
    const responses = await Promise.all(wishes.map((sandbox) => sandbox("advanceClock", { body })));
    for (const server of servers) await server.close();
    const { body: clock } = await sandboxOf(await start())("getClock");

    expect(clock.now).toBe("2026-11-17T15:00:00.000Z");
    const shown = responses.map((response) => response.body.now).toSorted();
    expect(shown.at(-1)).toBe(clock.now);
    expect(shown[0] !== undefined && shown[0] > AT).toBe(true);
  });
});
