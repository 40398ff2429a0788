import type { SandboxSchemas } from "../../contract/document.ts";
import type { HandlersOf } from "../../contract/operations.ts";
import type { DeliveryRecord } from "../../storage/webhooks/deliveries.ts";
import type { EventRecord, SubscriptionRecord } from "../../storage/webhooks/webhook-queries.ts";
import { invalid, notFound, type SandboxParts } from "./responses.ts";

type WebhookOperations =
  | "listDeliveries"
  | "getDelivery"
  | "redeliver"
  | "listSubscriptions"
  | "getSubscription"
  | "endSubscription"
  | "listEvents"
  | "getEvent"
  | "emitEvent";

/** Deliveries, subscriptions and events of accounts and customers. */
export function webhookHandlers({
  store,
  clock,
  changes,
  signSent,
}: SandboxParts): HandlersOf<WebhookOperations> {
  return {
    async listDeliveries({ merchant, query: { subscriptionKey, eventId, limit = DEFAULT_LIMIT, cursor } }) {
      const page = await store.listDeliveries({ merchant, subscriptionKey, eventId, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: page.deliveries.map(toDelivery), nextCursor: page.nextCursor } };
    },

    async getDelivery({ merchant, path: { webhookId } }) {
      const sent = await store.findSentDelivery({ merchant, webhookId, attempts: MAX_ATTEMPTS });
      if (!sent) return notFound("delivery");
      const { secretCiphertext, dueAt, attempts, ...delivery } = sent;
      const sign = async (at: Date) =>
        (await signSent({ merchant, secretCiphertext, ...delivery }, at)) ?? null;
      return {
        status: 200,
        body: {
          ...delivery,
          dueAt: dueAt?.toISOString() ?? null,
          attempts: await Promise.all(
            attempts.map(async ({ at, domainAt, bodyStart, ...attempt }) => ({
              ...attempt,
              at: at.toISOString(),
              domainAt: domainAt?.toISOString() ?? null,
              headers: await sign(at),
              responseBody: bodyStart,
            })),
          ),
        },
      };
    },

    async redeliver({ merchant, path: { webhookId } }) {
      const delivery = await store.redeliver({ merchant, webhookId, now: await clock.now() });
      changes.notify(["webhooks"], merchant);
      return delivery ? { status: 202, body: toDelivery(delivery) } : notFound("delivery");
    },

    async getSubscription({ merchant, path: { subscriptionKey } }) {
      const subscription = await store.findSubscription({ merchant, subscriptionKey });
      return subscription ? { status: 200, body: toSubscription(subscription) } : notFound("subscription");
    },

    async endSubscription({ merchant, path: { subscriptionKey } }) {
      const ended = await store.endSubscription({ merchant, subscriptionKey, now: await clock.now() });
      changes.notify(["webhooks"], merchant);
      return ended ? { status: 204 } : notFound("liveSubscription");
    },

    async emitEvent({ merchant, body: { type, resourceId } }) {
      const sequence = await store.emitResourceEvent({ merchant, type, resourceId, now: await clock.now() });
      changes.notify(["webhooks"], merchant);
      return { status: 202, body: { type, resourceId, sequence } };
    },

    async listEvents({ merchant, query: { resourceId, limit = DEFAULT_LIMIT, cursor } }) {
      const page = await store.listEvents({ merchant, resourceId, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      const { items, nextCursor } = page;
      return {
        status: 200,
        body: {
          items: items.map(toEvent),
          nextCursor,
        },
      };
    },

    async getEvent({ merchant, path: { eventId } }) {
      const event = await store.findEvent({ merchant, eventId });
      return event ? { status: 200, body: toEvent(event) } : notFound("event");
    },

    async listSubscriptions({ merchant, query: { limit = DEFAULT_LIMIT, cursor } }) {
      const page = await store.listSubscriptions({ merchant, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: page.items.map(toSubscription), nextCursor: page.nextCursor } };
    },
  };
}

const DEFAULT_LIMIT = 20;

/** How many attempts of a delivery are shown with their headers: the latest. */
const MAX_ATTEMPTS = 100;

/** An event as a response body. */
function toEvent(event: EventRecord): SandboxSchemas["EventRecord"] {
  return { ...event, occurredAt: event.occurredAt.toISOString() };
}

/** A subscription as a response body. */
function toSubscription(record: SubscriptionRecord): SandboxSchemas["SubscriptionRecord"] {
  const { subscriptionKey, url, type, details, createdAt, endedAt } = record;
  return {
    subscriptionKey,
    url,
    // The store has only lists that were valid for this type.
    subscriptionDetails: {
      type,
      ...(details.length > 0 && { details }),
    } as SandboxSchemas["SubscriptionRecord"]["subscriptionDetails"],
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}

/** A delivery as a response body. */
function toDelivery(record: DeliveryRecord): SandboxSchemas["Delivery"] {
  return {
    ...record,
    dueAt: record.dueAt?.toISOString() ?? null,
    attempts: record.attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
  };
}
