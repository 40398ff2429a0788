import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import type { Node } from "../../../openapi/document/document-node.ts";
import { setAt } from "../../../openapi/document/pointer.ts";
import { type Contract, toContract } from "../../../openapi/document/read-contract.ts";
import { createFindViolations } from "../../../openapi/document/schema-validators.ts";
import { EVENT_NAMES } from "../../../openapi/generated/values.ts";
import { createLaterApi, type LaterApi } from "../../../server/sandbox/features/later-version-messages.ts";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSubscriber, respondWith, type Subscriber, startReceiver } from "../../helpers/receiver.ts";
import {
  createSandboxMerchant,
  type Merchant,
  problemOf,
  sandboxOf,
  violationAt,
} from "../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer, useTestServer } from "../../helpers/server.ts";
import { EMITTED_EVENTS } from "../webhooks/event-schema.ts";

const SEED = 7;
const SUBSCRIBE = "/v1/webhook/subscribe";
const TARGET = "https://merchant.example.com/";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/**
 * A merchant of a sandbox can choose to get tomorrow's API: responses and events as a later, compatible version of the contract may
 * send them, drawn from the points where it can grow.
 */
describe("tomorrow's API in a sandbox", () => {
  const server = useTestServer();
  let api: LaterApi;
  let later: Contract;
  let acme: Subscriber;

  beforeAll(async () => {
    api = await createLaterApi(SEED);
    later = toContract(api.document as unknown as Node);
    acme = await createPlaying(server);
  });
  const named = (kind: string, pointer = "") =>
    api.additions.find((added) => added.kind === kind && added.pointer.includes(pointer))?.name ?? "";

  test("sends responses that only the later version allows, and to this merchant alone", async () => {
    const globex = await createSandboxMerchant(server);
    const call = async (merchant: Merchant) => {
      const [{ paymentId }, { paymentId: failing }] = [await merchant.create(), await merchant.create()];
      await merchant.sandbox("failPayment", { path: { paymentId: failing } });
      const first = refundOf(paymentId);
      const wrong = refundOf(paymentId, { amount: dollars(1.234) });
      const responses = [];
      for (const body of [first, first, refundOf(failing), refundOf("pay_nobodys"), wrong]) {
        responses.push({ id: "issueRefund", ...(await merchant.issue<Node>(body)) });
      }
      for (const body of [subscriptionTo(TARGET), subscriptionTo(TARGET, { url: 1 })]) {
        const response = await post<Node>(server.url, SUBSCRIBE, body, merchant);
        responses.push({ id: "subscribeToWebhooks", ...response });
      }
      return responses;
    };

    const [tomorrows, todays] = [await call(acme), await call(globex)];

    const statuses = [201, 409, 201, 404, 400, 200, 400];
    expect([tomorrows, todays].map((all) => all.map(({ status }) => status))).toEqual([statuses, statuses]);
    const [ofRefund, code] = [named("VALUE", "RefundErrorDetails"), named("VALUE", "ProblemErrorDetails")];
    const codes = [undefined, code, ofRefund, code, code, undefined, code];
    expect(tomorrows.map(({ body }) => (body.errorDetails as Node | undefined)?.errorCode)).toEqual(codes);
    const type = `/problems/${code.toLowerCase().replaceAll("_", "-")}`;
    expect(new Set(tomorrows.flatMap(({ body }) => body.type ?? []))).toEqual(new Set([type]));
    const order = (all: typeof todays) => all.map(({ body }) => Object.keys(body).join());
    expect(order(tomorrows)).not.toEqual(order(todays));
    for (const [index, { id, ...response }] of tomorrows.entries()) {
      const today = todays[index];
      expect(later.violationsOf(id, response)).toEqual([]);
      const header = named("HEADER");
      expect([response.headers.get(header), today?.headers.get(header)]).toEqual(["later", null]);
      const [ours, theirs] = [wordingOf(response.body), wordingOf(today?.body ?? {})];
      expect(ours.map(toWords)).toEqual(theirs.map(toWords));
      expect(ours.filter((text, at) => text === theirs[at])).toEqual([]);
    }
  });

  test("accepts the request fields of the later version, which are unknown otherwise", async () => {
    const globex = await createSandboxMerchant(server);
    const { paymentId } = await acme.create();
    const to = (fields = {}) => [SUBSCRIBE, "/subscriptionDetails/", subscriptionTo(TARGET, fields)] as const;
    const calls: Readonly<Record<string, readonly [path: string, at: string, body: object]>> = {
      RefundRequest: ["/v1/refunds", "/", refundOf(paymentId)],
      SubscriptionRequest: [SUBSCRIBE, "/", subscriptionTo(TARGET)],
      AllSubscription: to(),
      CategorySubscription: to({ subscriptionDetails: { type: "CATEGORY", details: ["PAYMENT"] } }),
      EventSubscription: to({ subscriptionDetails: { type: "EVENT", details: ["refund.pending"] } }),
    };
    const fields = api.additions.filter(({ kind }) => kind === "REQUEST_FIELD");

    expect(fields).toHaveLength(Object.keys(calls).length);
    for (const { name, pointer } of fields) {
      const [path, at, body] = calls[pointer.split("/").at(-1) ?? ""] ?? [SUBSCRIBE, "/", {}];
      const later = setAt(body as Node, at + name, "x");
      const tomorrow = await post(server.url, path, later, acme);
      const today = await post(server.url, path, later, globex);
      expect(tomorrow.status).toBe(path === SUBSCRIBE ? 200 : 201);
      expect(problemOf(today)).toEqual(violationAt(at + name, expect.any(String)));
    }
  });

  test("delivers signed events with each new member, name and code, in another order", async () => {
    await using receiver = await startReceiver();
    const merchant = await createPlaying(server);
    const create = async (fields: object = {}) => (await merchant.create(fields)).paymentId;
    const [settled, failing, covered] = [await create(), await create(), await create()];
    const processing = await create({ status: "PROCESSING" });
    await merchant.subscribe(receiver.url, { secretKey: SECRET });

    const refund = await merchant.issue(refundOf(settled));
    await merchant.issue(refundOf(processing));
    await merchant.sandbox("settlePayment", { path: { paymentId: processing } });
    await merchant.sandbox("failPayment", { path: { paymentId: failing } });
    await merchant.issue(refundOf(failing));
    await merchant.sandbox("coverPayment", { path: { paymentId: covered } });
    for (const type of EMITTED_EVENTS)
      await merchant.sandbox("emitEvent", { body: { type, resourceId: "res_1" } });
    // Each is followed by a new event.
    const deliveries = await receiver.first(2 * EVENT_NAMES.length);

    const sent = deliveries.map(({ body }) => body).join();
    const unsent = api.additions.filter(({ name }) => !sent.includes(`"${name}"`));
    expect(new Set(unsent.map(({ kind }) => kind))).toEqual(new Set(["VALUE", "HEADER", "REQUEST_FIELD"]));
    const values = unsent.filter(({ kind }) => kind === "VALUE").map(({ name }) => name);
    expect(values).toEqual([named("VALUE", "ProblemErrorDetails")]);
    const published = deliveries.filter(({ event }) => !event.type.includes("later_"));
    const orders = published.map(({ event }) => Object.keys(event).filter((name) => !/^later/.test(name)));
    expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
    const ofRefund = deliveries
      .filter(({ event }) => event.data.paymentId === refund.body.paymentId)
      .toSorted((a, b) => a.event.sequence - b.event.sequence);
    expect(
      ofRefund.map(({ event: { type, sequence, data } }) => [type, sequence, data.paymentStatus]),
    ).toEqual([
      ["refund.authorized", 1, "AUTHORIZED"],
      [named("EVENT", "/webhooks/refund."), 2, "AUTHORIZED"],
    ]);
    const findViolations = createFindViolations(api.document as unknown as Node);
    for (const { event, body, headers } of deliveries) {
      const pointer = `/webhooks/${event.type}/post/requestBody/content/application~1json/schema`;
      expect(findViolations(pointer, event)).toEqual([]);
      expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual(event);
    }
    const listed = await merchant.sandbox("listEvents", { query: { resourceId: refund.body.paymentId } });
    expect(listed.body.items.map(({ payload }) => payload).toSorted()).toEqual(
      ofRefund.map(({ body }) => body).toSorted(),
    );
  });

  test("sends the same bytes with every attempt, even after it is switched off, and each additional event once", async () => {
    await using receiver = await startReceiver(respondWith(500));
    const { sandbox, subscribe, deliveries, redeliver } = await createSubscriber(server);
    await subscribe(receiver.url);
    const redeliverAll = async () => {
      for (const { webhookId } of await deliveries()) await redeliver(webhookId);
    };
    const emit = (resourceId: string) =>
      sandbox("emitEvent", { body: { type: "account.linked", resourceId } });

    await emit("acc_1");
    await receiver.first(1);
    await sandbox("setTomorrow", { body: { on: true, seed: SEED } });
    await emit("acc_2"); // another event follows
    await receiver.first(3);
    await redeliverAll();
    await receiver.first(6);
    await sandbox("setTomorrow", { body: { on: false } });
    await redeliverAll();
    const attempts = await receiver.first(9);

    const sent = new Map(attempts.map(({ webhookId, body }) => [body, webhookId]));
    expect([sent.size, new Set(sent.values()).size]).toEqual([3, 3]);
    const { items } = (await sandbox("listEvents")).body;
    const linked = items.filter(({ resourceId }) => resourceId.startsWith("acc_"));
    expect(linked.map(({ payload }) => payload).toSorted()).toEqual([...sent.keys()].toSorted());
    for (const [payload, webhookId] of sent)
      expect((await sandbox("getDelivery", { path: { webhookId } })).body.payload).toBe(payload);
  });
});

/** The texts for people in a body. */
function wordingOf(body: Node): string[] {
  const { title, detail, errorDetails, violations } = body as Node & {
    errorDetails?: Node;
    violations?: Node[];
  };
  const messages = (violations ?? []).map(({ message }) => message);
  const texts = [title, detail, errorDetails?.errorMessage, ...messages];
  return texts.filter((text) => text !== undefined).map(String);
}

const toWords = (text: string) => text.toLowerCase().split(" ").toSorted();

/** A merchant that gets the later API of the seed 7. */
async function createPlaying(server: TestServer): Promise<Subscriber> {
  const merchant = await createSubscriber(server);
  await merchant.sandbox("setTomorrow", { body: { on: true, seed: SEED } });
  return merchant;
}

test("a sandbox that is started with a seed has a merchant that plays it, also after a reset", async () => {
  await using server = await startTestServer({ env: { TOMORROW: String(SEED) } });
  const token = "sandbox_tomorrow";
  const sandbox = sandboxOf(server, token);

  await sandbox("resetSandbox");
  const issued = await post(server.url, "/v1/refunds", refundOf("pay_settled"), { token });
  const [changed, unchanged] = [await sandbox("getTomorrow"), await sandboxOf(server)("getTomorrow")];

  expect(issued.status).toBe(201);
  expect([changed.body.seed, unchanged.body.seed]).toEqual([SEED, null]);
});
