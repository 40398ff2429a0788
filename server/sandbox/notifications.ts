import type { HandlersOf } from "../http/operations.ts";
import { invalid, unknown } from "./faults.ts";
import type { SandboxParts } from "./store.ts";

type NotificationCalls = "listDeliveries" | "redeliver" | "endSubscription" | "emitEvent";

/** What is sent to subscriptions. */
export function notificationHandlers({ store, clock }: SandboxParts): HandlersOf<NotificationCalls> {
  return {
    // Events are recorded; this release sends none, so there are no deliveries to list or to repeat.
    async listDeliveries({ query: { cursor } }) {
      if (cursor !== undefined) return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: [], nextCursor: null } };
    },

    async redeliver() {
      return unknown("delivery");
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
