import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { createSubscriber, startReceiver, until } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";

const DAY_MS = 86_400_000;

test.each(engines)(
  "a running server deletes deliveries older than RETENTION_DAYS, and forgets which caller subscribed (%s)",
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
    await acme.refund();
    const old = await acme.delivery("DELIVERED", 1);
    const callers = async () =>
      (await server.database.db.selectFrom("subscriptions").select("caller").execute()).map(
        ({ caller }) => caller,
      );

    ahead = 1.9 * DAY_MS;
    await acme.refund();
    await until(async () => (await acme.deliveries()).length === 2);
    expect(await callers()).toMatchObject([{ address: "127.0.0.1" }]);
    ahead = 2.1 * DAY_MS;
    await until(async () => (await acme.deliveries()).length === 1);

    expect((await acme.deliveries())[0]?.webhookId).not.toBe(old.webhookId);
    await until(async () => (await callers())[0] === null);
    await until(() => server.logLines.find((line) => line.includes("removed what is past retention")));
  },
);
