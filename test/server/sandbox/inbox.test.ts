import { Webhook } from "standardwebhooks";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDataDir } from "../../helpers/databases.ts";
import { createMerchant, subscriptionTo } from "../../helpers/factories.ts";
import { findFreePort } from "../../helpers/network/free-port.ts";
import { createSandboxMerchant, type Merchant, notFound, problemOf } from "../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer } from "../../helpers/server.ts";

const SECRET_KEY = "9f2c1b7ae04d5386c1f7a2b9d0e43c58";

let server: TestServer;
let acme: Merchant;

beforeAll(async () => {
  server = await startTestServer();
  return () => server.close();
});
beforeEach(async () => {
  acme = await createSandboxMerchant(server);
});

type Change = { topics: string[] };

/** Reads the stream of changes as a page does. */
async function follow(merchant: Merchant, from: { url: string } = server) {
  const abort = new AbortController();
  const headers = {
    Authorization: `Bearer ${merchant.token}`,
    Accept: "text/event-stream",
  };
  const response = await fetch(`${from.url}/sandbox/changes`, { headers, signal: abort.signal });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<Change | undefined> => {
    for (;;) {
      const [, data, rest] = /^event: change\ndata: (.*)\n\n([\s\S]*)$/.exec(text) ?? [];
      if (data !== undefined) {
        text = rest ?? "";
        return JSON.parse(data) as Change;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  /** Waits for a change of this topic. */
  const until = async (topic: string) => {
    for (;;) {
      const change = await next();
      if (!change) throw new Error(`the stream ended before a change of ${topic}`);
      if (change.topics.includes(topic)) return;
    }
  };
  return { response, next, until, [Symbol.dispose]: () => abort.abort() };
}

async function subscribeInbox(merchant: Merchant, at: { url: string } = server): Promise<string> {
  const { body: inbox } = await merchant.sandbox("getInbox");
  const body = subscriptionTo(inbox.url, { secretKey: SECRET_KEY });
  const options = { token: merchant.token };
  return (await post<{ subscriptionKey: string }>(at.url, "/v1/webhook/subscribe", body, options)).body
    .subscriptionKey;
}

const emit = (merchant: Merchant) =>
  merchant.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });

/** Waits until the newest delivery has an attempt with this status. */
async function attempted(merchant: Merchant, changes: Awaited<ReturnType<typeof follow>>, status: number) {
  for (;;) {
    const { items } = (await merchant.sandbox("listDeliveries")).body;
    const webhookId = items[0]?.webhookId ?? "";
    if (items[0]?.attempts.at(-1)?.status === status) {
      return (await merchant.sandbox("getDelivery", { path: { webhookId } })).body;
    }
    await changes.until("webhooks");
  }
}

describe("the inbox", () => {
  test.each([
    [413, {}, "x".repeat(65_537)],
    [415, { "Content-Type": "application/json; charset=x-unknown" }, "{}"],
    [415, { "Content-Encoding": "x-unknown" }, "{}"],
  ])("refuses a body that it can't read with %i", async (status, headers, body) => {
    const url = `${server.url}/sandbox/inbox/${acme.merchant}`;
    const response = await fetch(url, { method: "POST", headers, body });
    expect(response.status).toBe(status);
  });

  test("shows the first 100 characters of a webhook-id, as the contract says", async () => {
    const headers = { "webhook-id": "x".repeat(101) };
    await fetch(`${server.url}/sandbox/inbox/${acme.merchant}`, { method: "POST", headers });

    const { body: inbox } = await acme.sandbox("getInbox");
    expect(inbox.received[0]?.webhookId).toBe("x".repeat(100));
  });

  test("is not at a path that can't be decoded", async () => {
    const response = await fetch(`${server.url}/sandbox/inbox/%E0`, { method: "POST" });
    const problem = { status: response.status, body: await response.json() };
    expect(problemOf(problem)).toEqual(notFound(expect.any(String)));
  });

  test.each(["GET", "PUT", "DELETE"])("refuses %s, because it is a receiver only", async (method) => {
    const response = await fetch(`${server.url}/sandbox/inbox/${acme.merchant}`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  /** @decision D22 D23 */
  test("receives deliveries, and shows them as they were signed and sent", async () => {
    using changes = await follow(acme);
    const subscriptionKey = await subscribeInbox(acme);
    await emit(acme);

    const delivery = await attempted(acme, changes, 200);

    const { body: inbox } = await acme.sandbox("getInbox");
    expect(inbox).toMatchObject({
      status: 200,
      delayMs: 0,
      url: `${server.url}/sandbox/inbox/${acme.merchant}`,
    });
    expect(inbox.received).toMatchObject([
      { webhookId: delivery.webhookId, status: 200, body: delivery.payload },
    ]);
    expect(delivery).toMatchObject({ subscriptionKey, url: inbox.url, state: "DELIVERED", dueAt: null });
    const [attempt] = delivery.attempts;
    expect(attempt?.responseBody).toBe("The inbox responds 200.");
    const key = Buffer.from(SECRET_KEY).toString("base64");
    expect(new Webhook(key).verify(delivery.payload, attempt?.headers ?? {})).toEqual(
      JSON.parse(delivery.payload),
    );
  });

  test("fails deliveries while failure is switched on, and takes them again", async () => {
    using changes = await follow(acme);
    await subscribeInbox(acme);
    await acme.sandbox("setInbox", { body: { status: 500 } });
    await emit(acme);
    const failed = await attempted(acme, changes, 500);
    expect(failed).toMatchObject({ state: "PENDING", dueAt: expect.any(String) });

    await acme.sandbox("setInbox", { body: { status: 200 } });
    await acme.sandbox("redeliver", { path: { webhookId: failed.webhookId } });

    expect((await attempted(acme, changes, 200)).state).toBe("DELIVERED");
  });

  /** @decision D23 D30 */
  test("shows each attempt in both clocks", async () => {
    using changes = await follow(acme);
    await subscribeInbox(acme);
    await acme.sandbox("setInbox", { body: { status: 500 } });
    await emit(acme);
    const { webhookId, dueAt } = await attempted(acme, changes, 500);
    await acme.sandbox("advanceClock", { body: { by: "P1D" } });
    await acme.sandbox("setInbox", { body: { status: 200 } });
    await acme.sandbox("redeliver", { path: { webhookId } });
    await attempted(acme, changes, 200);

    const { attempts } = (await acme.sandbox("getDelivery", { path: { webhookId } })).body;

    const [first, last] = [attempts[0], attempts.at(-1)];
    const aheadMs = (attempt = first) => Date.parse(attempt?.domainAt ?? "") - Date.parse(attempt?.at ?? "");
    const DAY_MS = 24 * 60 * 60 * 1000;
    expect(aheadMs(last) - aheadMs(first)).toBeGreaterThan(DAY_MS - 60_000);
    expect(aheadMs(last) - aheadMs(first)).toBeLessThan(DAY_MS + 60_000);
    expect((first?.domainAt ?? "") < (dueAt ?? "")).toBe(true);
  });

  test("fails many deliveries, which are found by state and text, and sent again together", async () => {
    using changes = await follow(acme);
    const subscriptionKey = await subscribeInbox(acme);
    await acme.sandbox("setInbox", { body: { status: 500 } });
    for (const resourceId of ["acc_1", "acc_2", "cus_1"]) {
      await acme.sandbox("emitEvent", { body: { type: "account.linked", resourceId } });
      await attempted(acme, changes, 500);
    }
    const attempts = async () =>
      (await acme.sandbox("listDeliveries")).body.items.map((delivery) => delivery.attempts.length);
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } }); // the retry after this one comes in five minutes
    while (Math.min(...(await attempts())) < 2) await changes.until("webhooks");
    const found = async (query: Readonly<Record<string, string>>) =>
      (await acme.sandbox("listDeliveries", { query })).body.items.map(({ resourceId }) => resourceId);
    expect(await found({ state: "DELIVERED" })).toEqual([]);
    expect(await found({ state: "PENDING", text: "ACC_" })).toEqual(["acc_2", "acc_1"]);
    const other = await createSandboxMerchant(server);

    await acme.sandbox("setInbox", { body: { status: 200 } });
    const redeliver = async (body: object, token = acme.token) =>
      (await acme.sandbox("redeliverMany", { body, token })).body.redelivered;

    expect(await redeliver({}, other.token)).toBe(0);
    expect(await redeliver({ subscriptionKey: "sub_1" })).toBe(0);
    expect(await redeliver({ subscriptionKey, state: "PENDING", text: "acc_" })).toBe(2);
    while ((await found({ state: "DELIVERED" })).length < 2) await changes.until("webhooks");
    expect(await found({ state: "DELIVERED" })).toEqual(["acc_2", "acc_1"]);
    expect(await found({ state: "PENDING" })).toEqual(["cus_1"]);
    await acme.sandbox("endSubscription", { path: { subscriptionKey } });
    expect(await redeliver({})).toBe(0);
  });

  test("knows the newest live subscription to it, also after a restart", async () => {
    const dataDir = await makeDataDir();
    const env = { PORT: String(await findFreePort()) };
    const before = await startTestServer({ dataDir, env });
    const merchant = await createSandboxMerchant(before);
    expect((await merchant.sandbox("getInbox")).body.subscriptionKey).toBeNull();
    const ended = await subscribeInbox(merchant, before);
    await merchant.sandbox("endSubscription", { path: { subscriptionKey: ended } });
    expect((await merchant.sandbox("getInbox")).body.subscriptionKey).toBeNull();
    await subscribeInbox(merchant, before);
    const subscriptionKey = await subscribeInbox(merchant, before);
    await before.close();

    await using _after = await startTestServer({ dataDir, env });

    expect((await merchant.sandbox("getInbox")).body).toMatchObject({ subscriptionKey, received: [] });
  });

  test("keeps a delay that is set, and forgets everything with a reset", async () => {
    expect((await acme.sandbox("setInbox", { body: { delayMs: 250 } })).body).toMatchObject({
      status: 200,
      delayMs: 250,
    });
    expect((await acme.sandbox("setInbox", { body: { status: 500 } })).body).toMatchObject({
      status: 500,
      delayMs: 250,
    });
    await fetch(`${server.url}/sandbox/inbox/${acme.merchant}`, { method: "POST", body: "{}" });
    expect((await acme.sandbox("getInbox")).body.received).toHaveLength(1);

    await acme.sandbox("resetSandbox");

    expect((await acme.sandbox("getInbox")).body).toMatchObject({ status: 200, delayMs: 0, received: [] });
  });
});

/** @decision D25 */
test("a delivery names its event, and the event's deliveries are found by it", async () => {
  using changes = await follow(acme);
  const subscriptionKey = await subscribeInbox(acme);
  await emit(acme);
  await emit(acme);
  const delivery = await attempted(acme, changes, 200);

  const event = (await acme.sandbox("getEvent", { path: { eventId: delivery.eventId } })).body;
  const found = (await acme.sandbox("listDeliveries", { query: { eventId: delivery.eventId } })).body;

  expect(event).toMatchObject({ eventId: delivery.eventId, sequence: 2, payload: delivery.payload });
  expect(found.items.map((one) => [one.webhookId, one.subscriptionKey])).toEqual([
    [delivery.webhookId, subscriptionKey],
  ]);
  const { token } = await createMerchant(server);
  const path = { eventId: delivery.eventId };
  expect(problemOf(await acme.sandbox("getEvent", { path, token }))).toEqual(
    notFound("You have no event with this eventId. List your events to find it."),
  );
});

test("a delivery is shown to its merchant only", async () => {
  using changes = await follow(acme);
  await subscribeInbox(acme);
  await emit(acme);
  const { webhookId } = await attempted(acme, changes, 200);
  const { token } = await createMerchant(server);

  const response = await acme.sandbox("getDelivery", { path: { webhookId }, token });

  expect(problemOf(response)).toEqual(
    notFound("You have no delivery with this webhookId. List your deliveries to find it."),
  );
});

/** @decision D25 */
describe("GET /sandbox/changes", () => {
  test("sends an event at once, and one after each change of the merchant's own", async () => {
    using changes = await follow(acme);
    const other = await createSandboxMerchant(server);

    expect(changes.response.status).toBe(200);
    expect(changes.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await changes.next()).toEqual({ topics: [] });
    await other.sandbox("setInbox", { body: { status: 500 } });
    await acme.create();
    expect(await changes.next()).toEqual({ topics: ["payments", "webhooks"] });
    await acme.sandbox("advanceClock", { body: { by: "PT1H" } });
    await changes.until("clock");
  });
});
