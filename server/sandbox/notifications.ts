import type { HandlersOf } from "../http/operations.ts";
import type { SandboxSchemas } from "../http/schemas.ts";
import type { DeliveryRecord } from "../storage/delivery-list.ts";
import { invalid, unknown } from "./faults.ts";
import type { SandboxParts } from "./store.ts";

type NotificationCalls = "listDeliveries" | "redeliver" | "endSubscription" | "emitEvent";

/** What is sent to subscriptions. */
export function notificationHandlers({ store, clock }: SandboxParts): HandlersOf<NotificationCalls> {
  return {
    async listDeliveries({ merchant, query: { subscriptionKey, limit = DEFAULT_LIMIT, cursor } }) {
      const page = await store.listDeliveries({ merchant, subscriptionKey, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: page.deliveries.map(toDelivery), nextCursor: page.nextCursor } };
    },

    async redeliver({ merchant, path: { webhookId } }) {
      const delivery = await store.redeliver({ merchant, webhookId, now: await clock.now() });
      return delivery ? { status: 202, body: toDelivery(delivery) } : unknown("delivery");
    },

    async endSubscription({ merchant, path: { subscriptionKey } }) {
      const ended = await store.endSubscription({ merchant, subscriptionKey, now: await clock.now() });
      return ended ? { status: 204 } : unknown("subscription");
    },

    async emitEvent({ merchant, body: { type, resourceId } }) {
      const sequence = await store.emitResourceEvent({ merchant, type, resourceId, now: await clock.now() });
      return { status: 202, body: { type, resourceId, sequence } };
    },
  };
}

const DEFAULT_LIMIT = 20;

/** A delivery as the sandbox shows it. */
function toDelivery(record: DeliveryRecord): SandboxSchemas["Delivery"] {
  return {
    ...record,
    dueAt: record.dueAt?.toISOString() ?? null,
    attempts: record.attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
  };
}
