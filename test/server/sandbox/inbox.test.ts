import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { createSubscriber } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const SECRET_KEY = "9f2c1b7ae04d5386c1f7a2b9d0e43c58";

const server = useTestServer();
const acme = forEachTest(() => createSubscriber(server));

const inbox = async () => (await acme.sandbox("getInbox")).body;
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
