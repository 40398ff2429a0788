import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { makeDataDir } from "../../helpers/databases.ts";
import { findFreePort } from "../../helpers/network/local-server.ts";
import { createSubscriber, until } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { startTestServer, useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const SECRET_KEY = "9f2c1b7ae04d5386c1f7a2b9d0e43c58";

const server = useTestServer();
const acme = forEachTest(() => createSubscriber(server));

const inbox = async () => (await acme.sandbox("getInbox")).body;
const setInbox = async (body: object) => (await acme.sandbox("setInbox", { body })).body;
const emit = (resourceId = "acc_1") =>
  acme.sandbox("emitEvent", { body: { type: "account.linked", resourceId } });
const show = async (webhookId: string) => (await acme.sandbox("getDelivery", { path: { webhookId } })).body;

describe("the inbox", () => {
  test("receives deliveries, and shows them as they were signed and sent", async () => {
    const { url } = await inbox();
    const subscriptionKey = await acme.subscribe(url, { secretKey: SECRET_KEY });
    await emit();

    const delivery = await show((await acme.delivery("DELIVERED", 1)).webhookId);

    expect(url).toBe(`${server.url}/sandbox/inbox/${acme.merchant}`);
    const received = [{ webhookId: delivery.webhookId, status: 200, body: delivery.payload }];
    expect(await inbox()).toMatchObject({ status: 200, delayMs: 0, received });
    expect(delivery).toMatchObject({ subscriptionKey, url, state: "DELIVERED", dueAt: null });
    const [attempt] = delivery.attempts;
    expect(attempt?.responseBody).toBe("The inbox responds 200.");
    const webhook = new Webhook(Buffer.from(SECRET_KEY).toString("base64"));
    const event = JSON.parse(delivery.payload);
    expect(webhook.verify(delivery.payload, attempt?.headers ?? {})).toEqual(event);
  });

  test("fails deliveries while failure is switched on, and each attempt is shown in both clocks", async () => {
    await acme.subscribe((await inbox()).url);
    await setInbox({ status: 500 });
    await emit();
    const { webhookId, dueAt } = await acme.delivery("PENDING", 1);
    await setInbox({ status: 200 });
    await acme.sandbox("advanceClock", { body: { by: "P1D" } });
    await acme.delivery("DELIVERED", 2);

    const [first, last] = (await show(webhookId)).attempts;

    const aheadMs = (attempt = first) => Date.parse(attempt?.domainAt ?? "") - Date.parse(attempt?.at ?? "");
    const DAY_MS = 24 * 60 * 60 * 1000;
    expect(Math.abs(aheadMs(last) - aheadMs(first) - DAY_MS)).toBeLessThan(60_000);
    expect((first?.domainAt ?? "") < (dueAt ?? "")).toBe(true);
  });

  test("fails many deliveries, which are found by state and text", async () => {
    await acme.subscribe((await inbox()).url);
    await setInbox({ status: 500 });
    for (const resourceId of ["acc_1", "acc_2", "cus_1"]) await emit(resourceId);
    const untilAttempts = (count: number) =>
      until(async () => {
        const deliveries = await acme.deliveries();
        return deliveries.every(({ attempts }) => attempts.length >= count);
      });
    await untilAttempts(1);
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } }); // the retry after this one comes in five minutes
    await untilAttempts(2);
    const found = async (query: Readonly<Record<string, string>>) =>
      (await acme.deliveries(query)).map(({ resourceId }) => resourceId);
    expect(await found({ state: "DELIVERED" })).toEqual([]);
    expect(await found({ state: "PENDING", text: "ACC_" })).toEqual(["acc_2", "acc_1"]);
  });

  test("knows the newest live subscription to it, also after a restart", async () => {
    const dataDir = await makeDataDir();
    const env = { PORT: String(await findFreePort()) };
    const before = await startTestServer({ dataDir, env });
    const merchant = await createSubscriber(before);
    const read = async () => (await merchant.sandbox("getInbox")).body;
    const { url, subscriptionKey: none } = await read();
    const ended = await merchant.subscribe(url);
    await merchant.sandbox("endSubscription", { path: { subscriptionKey: ended } });
    expect([none, (await read()).subscriptionKey]).toEqual([null, null]);
    await merchant.subscribe(url);
    const subscriptionKey = await merchant.subscribe(url);
    await before.close();

    await using _after = await startTestServer({ dataDir, env });

    expect(await read()).toMatchObject({ subscriptionKey, received: [] });
  });
});

test("a delivery names its event, and the event's deliveries are found by it", async () => {
  const subscriptionKey = await acme.subscribe((await inbox()).url);
  await emit();
  await emit();
  const { webhookId } = await until(async () => (await acme.deliveries())[0]);
  const { eventId } = await show(webhookId);

  expect(await acme.deliveries({ eventId })).toMatchObject([{ webhookId, subscriptionKey }]);
});

test("GET /sandbox/changes sends an event at once, and one after each change of the merchant's own", async () => {
  const other = await createSandboxMerchant(server);
  const abort = new AbortController();
  const headers = { Authorization: `Bearer ${acme.token}`, Accept: "text/event-stream" };
  const response = await fetch(`${server.url}/sandbox/changes`, { headers, signal: abort.signal });
  const stream = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const untilSent = async (part: string) => {
    while (!text.includes(part)) text += (await stream.read()).value;
  };

  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  await untilSent("\n\n");
  await other.sandbox("setInbox", { body: { status: 500 } });
  await acme.create();
  await untilSent("payments");
  expect(text).toBe(
    'event: change\ndata: {"topics":[]}\n\nevent: change\ndata: {"topics":["payments","webhooks"]}\n\n',
  );
  await acme.sandbox("advanceClock", { body: { by: "PT1H" } });
  await untilSent("clock");
  abort.abort();
});
