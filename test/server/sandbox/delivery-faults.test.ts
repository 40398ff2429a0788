import { describe, expect, test } from "vitest";
import { verifyWebhook, type WebhookVerificationError } from "../../../client/src/index.ts";
import type { NewFault } from "../../../server/sandbox/features/fault-settings.ts";
import {
  createSubscriber,
  type Received,
  type Receiver,
  type Responder,
  startReceiver,
} from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";
import { findEventErrors } from "../webhooks/event-schema.ts";

const server = useTestServer({ engine: "embedded" });
const secretKey = "the secret of these tests";
const REFUNDS = { type: "EVENT", details: ["refund.authorized"] };

const acme = forEachTest(() => createSubscriber(server));

/** What a merchant who verifies makes of a delivery. */
function verdict({ body, headers }: Received): string {
  try {
    verifyWebhook(body, headers, secretKey);
    return "authentic";
  } catch (error) {
    return (error as WebhookVerificationError).reason;
  }
}

const verify: Responder = (response, delivery) => {
  response.writeHead(verdict(delivery) === "authentic" ? 204 : 401).end();
};

async function start(respond: Responder, body: NewFault): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  await acme.subscribe(receiver.url, { secretKey, subscriptionDetails: REFUNDS });
  expect((await acme.sandbox("armFault", { body })).status).toBe(201);
  return receiver;
}

const advance = (by: string) => acme.sandbox("advanceClock", { body: { by } });
const hits = async () => (await acme.sandbox("listFaults")).body.items[0]?.hits;
const attemptsOf = async (webhookId: string) =>
  (await acme.sandbox("getDelivery", { path: { webhookId } })).body.attempts;

describe("a fault of deliveries", () => {
  test.each([
    ["WRONG_SECRET", "no-matching-signature"],
    ["TAMPERED", "no-matching-signature"],
    ["STALE_TIMESTAMP", "timestamp-too-old"],
  ] as const)("%s is refused, and the next attempt is genuine", async (kind, reason) => {
    await using receiver = await start(verify, { kind });

    await acme.refund();
    const { webhookId } = await acme.delivery("PENDING", 1);
    await advance("PT6S");
    await acme.delivery("DELIVERED", 2);

    expect(receiver.received.map(verdict)).toEqual([reason, "authentic"]);
    expect(receiver.received.map((delivery) => delivery.webhookId)).toEqual([webhookId, webhookId]);
    expect(await hits()).toMatchObject([{ webhookId, statuses: [401] }]);
    const attempts = await attemptsOf(webhookId);
    expect(attempts).toMatchObject([
      { status: 401, fault: kind },
      { status: 204, fault: null },
    ]);
    const sent = receiver.received.map(({ headers }) => headers["webhook-signature"]);
    const shown = attempts.map(({ headers }) => headers?.["webhook-signature"]);
    expect(shown).toEqual([kind === "TAMPERED" ? sent[0] : undefined, sent[1]]);
  });

  test("TWICE sends one delivery two times", async () => {
    await using receiver = await start(verify, { kind: "TWICE" });

    await acme.refund();
    const { webhookId } = await acme.delivery("DELIVERED", 1);

    expect(receiver.received.map((delivery) => [delivery.webhookId, verdict(delivery)])).toEqual([
      [webhookId, "authentic"],
      [webhookId, "authentic"],
    ]);
    expect(await hits()).toMatchObject([{ webhookId, statuses: [204, 204] }]);
  });

  test("UNKNOWN_EVENT sends a signed event of an unknown type before the delivery", async () => {
    await using receiver = await start(verify, { kind: "UNKNOWN_EVENT" });

    await acme.refund();
    const { webhookId } = await acme.delivery("DELIVERED", 1);

    const [unknown, known] = receiver.received;
    expect(receiver.received.map(verdict)).toEqual(["authentic", "authentic"]);
    expect([unknown?.event.type, known?.event.type]).toEqual(["sandbox.unknown_event", "refund.authorized"]);
    expect(known?.webhookId).toBe(webhookId);
    expect(unknown?.webhookId).not.toBe(webhookId);
    expect(known && findEventErrors(known.event)).toEqual([]);
  });

  test("LATE holds a delivery for the given hours of the sandbox's clock", async () => {
    await using receiver = await start(verify, { kind: "LATE", hours: 5 });

    await acme.refund();
    const { webhookId, dueAt } = await acme.delivery("PENDING", 1);
    const { now } = (await acme.sandbox("getClock")).body;
    expect(Date.parse(dueAt ?? "") - Date.parse(now)).toBeGreaterThan(4.9 * 3_600_000);
    await advance("PT4H59M");
    expect(receiver.received).toEqual([]);
    await advance("PT1M");
    await acme.delivery("DELIVERED", 2);

    expect(receiver.received.map(verdict)).toEqual(["authentic"]);
    const [held] = await attemptsOf(webhookId);
    expect(held).toMatchObject({
      status: null,
      headers: null,
      error: "not sent: the fault LATE held it",
      fault: "LATE",
    });
    expect(await hits()).toMatchObject([{ webhookId, statuses: [] }]);
  });

  test("NEVER sends nothing until the delivery is sent again", async () => {
    await using receiver = await start(verify, { kind: "NEVER" });

    await acme.refund();
    const { webhookId } = await acme.delivery("EXHAUSTED", 1);
    await advance("P30D");
    expect(receiver.received).toEqual([]);
    await acme.redeliver(webhookId);

    expect((await receiver.first(1)).map(verdict)).toEqual(["authentic"]);
  });

  test("happens to the deliveries of its merchant only, to each once, and not after it was cleared", async () => {
    await using receiver = await start(verify, { kind: "WRONG_SECRET", times: 1000 });
    const globex = await createSubscriber(server);
    await globex.subscribe(receiver.url, { secretKey, subscriptionDetails: REFUNDS });

    await globex.refund();
    await globex.delivery("DELIVERED", 1);
    await acme.refund();
    await acme.delivery("PENDING", 1);
    await advance("PT6S");
    await acme.delivery("DELIVERED", 2);
    await acme.sandbox("clearFaults");
    await acme.refund();

    const verdicts = (await receiver.first(4)).map(verdict);
    expect(verdicts).toEqual(["authentic", "no-matching-signature", "authentic", "authentic"]);
  });
});
