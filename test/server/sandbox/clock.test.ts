import { beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../../client/src/index.ts";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { SECRET_KEY } from "../../client/signed-deliveries.ts";
import { createDeployment } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
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

  test("shows real time until it is advanced, and then continues from there", async () => {
    expect(await read()).toBe(AT);

    expect(await advance({ by: "PT30M" })).toBe("2026-11-16T15:30:00.000Z");
    realNow = new Date(NOW.getTime() + 1);

    expect(await read()).toBe("2026-11-16T15:30:00.001Z");
  });

  test("authorizes what falls due before it responds, but never waits for receivers", async () => {
    await using receiver = await startReceiver(() => {});
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const { paymentId } = await acme.create({ settledAt: AT });
    const refund = (await acme.issue(refundOf(paymentId))).body.paymentId;

    const { body } = await acme.sandbox("advanceClock", { body: { by: "P30D" } });

    expect(body).toMatchObject({ refunds: 1, events: [{ type: "refund.authorized", paymentId: refund }] });
    expect(await acme.get(refund)).toMatchObject({ paymentStatus: "AUTHORIZED" });
    const states = (await acme.deliveries({ text: refund })).map(({ type, state }) => [type, state]);
    const types = ["refund.authorized", "refund.pending"];
    expect(states.toSorted()).toEqual(types.map((type) => [type, "PENDING"]));
  });
});

test("tells a test when each due delivery was attempted", async () => {
  await using sandbox = await startSandbox({ settings: { SERVE_DOCS: "false" } });
  await using receiver = await startReceiver((response, { event }) =>
    response.writeHead(event.type === "account.linked" ? 500 : 204).end(),
  );
  const client = createClient({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });
  const subscriptionDetails = { type: "ALL" } as const;
  await client.webhooks.subscribe({ url: receiver.url, secretKey: SECRET_KEY, subscriptionDetails });
  await client.refunds.issue({ paymentId: "pay_recent", amount: "5.00", requestKey: "k-1" });
  await sandbox.clock.advance({ by: "P30D" });

  const delivered = await sandbox.delivered();

  const types = ["refund.authorized", "refund.pending"];
  expect(delivered.map(({ type, state }) => [type, state])).toEqual(types.map((type) => [type, "DELIVERED"]));
  await sandbox.events.emit({ type: "account.linked", resourceId: "acc_1" });
  expect((await sandbox.delivered())[0]).toMatchObject({ type: "account.linked", state: "PENDING" });
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
