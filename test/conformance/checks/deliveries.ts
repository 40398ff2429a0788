/** The checks of webhooks: which arrive, what is in them, how they are signed and repeated. */
import { verifyWebhook, WebhookVerificationError } from "../../../client/src/index.ts";
import type { Node } from "../../../openapi/document/document-node.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import { createDeliveryCheck } from "../constraints/delivery-check.ts";
import type { Kit } from "../kit.ts";
import { type Check, defineGroup, PRECONDITIONS } from "../preconditions.ts";
import type { Delivery, Endpoint } from "../webhook-receiver.ts";
import {
  type DeliveryRun,
  deliveryRunOf,
  endSubscriptions,
  eventOf,
  isEventOf,
  refundIdOf,
} from "./delivery-run.ts";

const MAX_BYTES = 20_000;

const WITH_RECEIVER = { preconditions: [PRECONDITIONS.token, PRECONDITIONS.receiver, PRECONDITIONS.failed] };

export const DELIVERY_CHECKS: Check[] = defineGroup("Deliveries", WITH_RECEIVER, [
  {
    id: "delivery.arrives",
    name: "delivers the first status of each refund to subscriptions to ALL, its CATEGORY and its EVENT",
    sources: ["10.1", "10.2", "D20"],
    async run(kit) {
      const run = await deliveryRunOf(kit);
      for (const refund of run.refunds) {
        for (const [name, endpoint] of Object.entries(endpointsFor(run, refund))) {
          const found = deliveriesOf(endpoint, refund).length > 0;
          expectSeen(found, `an event of ${refund.paymentId} for the subscription to ${name}`, endpoint);
        }
      }
    },
  },
  {
    id: "delivery.event",
    name: "repeats in an event what the request for the refund and its response said",
    sources: ["D21", "D19", "D02"],
    async run(kit) {
      const { all, refunds } = await deliveryRunOf(kit);
      for (const refund of refunds) {
        const type = `refund.${String(refund.paymentStatus).toLowerCase()}`;
        const same = deliveriesOf(all, refund).some((delivery) => {
          const event = eventOf(delivery);
          return event.type === type && event.sequence === 1 && isEventOf(refund, event.data);
        });
        expectSeen(same, `an event ${type} with sequence 1 and data ${JSON.stringify(refund)}`, all);
      }
    },
  },
  {
    id: "delivery.form",
    name: "delivers as the document describes: method, headers and body",
    sources: ["D21", "D22", "10.4"],
    run: (kit) => {
      const check = createDeliveryCheck(kit.contract.document);
      return ofEach(kit, (delivery, { endpoint }) => {
        const { method, headers, bytes } = delivery;
        const body = eventOf(delivery);
        const type = headers.get("content-type")?.split(";")[0] ?? "";
        const received = { ...Object.fromEntries(headers), "content-type": type };
        const mismatches = [
          ...(method === "POST" ? [] : [`the method is ${method}`]),
          ...(bytes.length < MAX_BYTES ? [] : [`the body has ${bytes.length} bytes`]),
          ...check({ event: String(body.type), headers: received, body }),
        ];
        const asDocumented = mismatches.length === 0;
        expectSeen(asDocumented, `a delivery as documented; ${mismatches.join("; ")}`, endpoint, delivery);
      });
    },
  },
  {
    id: "delivery.signature",
    name: "signs deliveries with the secretKey, as text and as whsec_ base64",
    sources: ["10.2", "4.2", "D22"],
    run: (kit) =>
      ofEach(kit, (delivery, { endpoint, run }) => {
        const refusal = refusalOf(delivery, run.secrets.get(endpoint) ?? "");
        expectSeen(refusal === undefined, `a signature that verifies; ${refusal}`, endpoint, delivery);
      }),
  },
  {
    id: "delivery.webhook-id",
    name: "gives each event its own webhook-id for each subscription",
    sources: ["D22"],
    run: (kit) => {
      // A repeated attempt has the id of the previous one.
      const seen = new Map<string, string>();
      return ofEach(kit, (delivery, { endpoint }) => {
        const id = delivery.headers.get("webhook-id") ?? "";
        const what = `${endpoint.url} ${delivery.bytes.toString("utf8")}`;
        const own = id !== "" && (seen.get(id) ?? what) === what;
        expectSeen(own, "a webhook-id that no other delivery has", endpoint, delivery);
        seen.set(id, what);
      });
    },
  },
  {
    id: "delivery.trace",
    name: "sends with a webhook the traceparent of the call that issued the refund, or none",
    sources: ["D33"],
    run: (kit) =>
      ofEach(kit, (delivery, { endpoint, run }) => {
        const sent = delivery.headers.get("traceparent");
        const expected = run.traces.get(refundIdOf(delivery));
        const own = sent === null || expected === undefined || sent === expected;
        expectSeen(own, `no traceparent, or ${expected}`, endpoint, delivery);
      }),
  },
  {
    id: "delivery.selection",
    name: "delivers to EVENT only the events that it names",
    sources: ["10.1", "4.8", "D03"],
    async run(kit) {
      const { single } = await deliveryRunOf(kit);
      expectAny(single);
      const others = single.deliveries.filter(
        (delivery) => eventOf(delivery).type !== "refund.terminal_failed",
      );
      expectSeen(others.length === 0, "nothing but refund.terminal_failed", single, others[0]);
    },
  },
  {
    id: "delivery.gone",
    name: "ends a subscription whose url responds with 410",
    sources: ["D23", "D26"],
    async run(kit) {
      const run = await deliveryRunOf(kit);
      const stillSent = await endSubscriptions(kit, run);
      expectSeen(stillSent === undefined, "no delivery after a 410", stillSent ?? run.all);
    },
  },
]);

async function ofEach(
  kit: Kit,
  look: (delivery: Delivery, seen: { readonly endpoint: Endpoint; readonly run: DeliveryRun }) => void,
): Promise<void> {
  const run = await deliveryRunOf(kit);
  for (const endpoint of [run.all, run.category, run.single]) {
    expectAny(endpoint);
    for (const delivery of endpoint.deliveries) look(delivery, { endpoint, run });
  }
}

/** Without a delivery there is nothing to check. */
function expectAny(endpoint: Endpoint): void {
  expectSeen(endpoint.deliveries.length > 0, "a delivery for each subscription", endpoint);
}

function endpointsFor({ all, category, single }: DeliveryRun, { paymentStatus }: Node) {
  const ofAll = { ALL: all, "CATEGORY PAYMENT": category };
  return paymentStatus === "TERMINAL_FAILED" ? { ...ofAll, "EVENT refund.terminal_failed": single } : ofAll;
}

function deliveriesOf({ deliveries }: Endpoint, { paymentId }: Node): Delivery[] {
  return deliveries.filter((delivery) => refundIdOf(delivery) === paymentId);
}

function refusalOf({ bytes, headers }: Delivery, secretKey: string): string | undefined {
  try {
    verifyWebhook(bytes, headers, secretKey);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

function expectSeen(
  condition: boolean,
  expected: string,
  endpoint: Endpoint,
  delivery = endpoint.deliveries.at(-1),
): void {
  if (!condition) throw new CheckFailure(expected, { received: describe(delivery) });
}

function describe(delivery: Delivery | undefined): string {
  if (!delivery) return "no delivery";
  const headers = [...delivery.headers].filter(([name]) => /^(webhook-|content-type|trace)/.test(name));
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`${delivery.method} to the receiver`, ...lines, delivery.bytes.toString("utf8")].join("\n");
}
