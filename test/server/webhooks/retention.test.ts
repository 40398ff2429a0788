import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";
import { createSubscriber, until } from "../../helpers/subscriber.ts";

const DAY_MS = 86_400_000;

test.each(engines)(
  "a server removes what is past retention by itself, with who subscribed, and no refund (%s)",
  async (engine) => {
    let ahead = 0;
    await using receiver = await startReceiver();
    await using server = await startTestServer({
      engine,
      env: { RETENTION_DAYS: "2" },
      retentionMs: 20,
      realNow: () => new Date(Date.now() + ahead),
    });
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const refund = await acme.refund();
    const delivered = await acme.delivery("DELIVERED", 1);
    const listed = async () => (await acme.sandbox("listPayments", { query: {} })).body.items;
    const payments = await listed();
    const subscribers = async () =>
      (await server.database.db.selectFrom("subscriptions").select("caller").execute()).map(
        ({ caller }) => caller,
      );

    ahead = 1.9 * DAY_MS;
    await acme.refund();
    await until(async () => ((await acme.deliveries()).length === 2 ? true : undefined));
    expect((await acme.deliveries()).map(({ webhookId }) => webhookId)).toContain(delivered.webhookId);
    expect(await subscribers()).toMatchObject([{ address: "127.0.0.1" }]);
    ahead = 2.1 * DAY_MS;
    await until(async () => ((await acme.deliveries()).length === 1 ? true : undefined));

    expect((await acme.deliveries()).map(({ webhookId }) => webhookId)).not.toContain(delivered.webhookId);
    await until(async () => ((await subscribers())[0] === null ? true : undefined));
    const after = await listed();
    expect(payments.map(({ paymentId }) => paymentId)).toContain(refund);
    expect(after.map(({ paymentId }) => paymentId)).toEqual(
      expect.arrayContaining(payments.map(({ paymentId }) => paymentId)),
    );
    await until(() => server.logLines.find((line) => line.includes("removed what is past retention")));
  },
);
