import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import { DEFAULT_OVERLAP_MS } from "../../domain/secret-overlap.ts";
import type { DeliveryRecord, SentDeliveryRecord } from "../../storage/webhooks/deliveries.ts";
import type { EventRecord } from "../../storage/webhooks/event-fan-out.ts";
import type { EncryptionKeys } from "../../storage/webhooks/secret-encryption.ts";
import type { SubscriptionRecord } from "../../storage/webhooks/subscriptions.ts";
import { GUESSABLE_SECRET, isGuessable } from "../../webhooks/secret-strength.ts";
import { readSecrets, secretFormOf, toDeliveryHeaders } from "../../webhooks/sign-delivery.ts";
import type { DeliveryFaults } from "./delivery-faults.ts";
import { invalid, notFound, type SandboxParts } from "./response-bodies.ts";
import type { Tomorrow } from "./tomorrow.ts";

/** Deliveries, subscriptions and events of accounts and customers. */
export function webhookHandlers(
  { store, clock, changes, logger, encryptionKeys, tomorrow }: SandboxParts & SentTexts,
  findFault: DeliveryFaults["find"],
): HandlersOf<WebhookOperations> {
  const { revisePayload } = tomorrow;
  const toSubscription = async (merchant: string, record: SubscriptionRecord, now: Date) =>
    describeSubscription(record, { now, ...(await inspectSecret(merchant, record, encryptionKeys)) });
  return {
    async listDeliveries({ merchant, query }) {
      const page = await store.listDeliveries({ merchant, limit: DEFAULT_LIMIT, ...query });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: page.items.map(toDelivery), nextCursor: page.nextCursor } };
    },

    async getDelivery({ merchant, path: { webhookId } }) {
      const sent = await store.findSentDelivery({ merchant, webhookId, attempts: MAX_ATTEMPTS });
      if (!sent) return notFound("delivery");
      const { secrets, dueAt, attempts, trace, ...stored } = sent;
      const delivery = { ...stored, payload: revisePayload(merchant, stored.payload) };
      /** The headers that the attempt sent; null when a secret that signed it is no longer kept. */
      const headersOf = async (attempt: SentAttempt) => {
        const secretCiphertexts = secretsOf(attempt, secrets);
        if (secretCiphertexts.length === 0) return null;
        const secretKeys = await readSecrets({ merchant, secretCiphertexts }, encryptionKeys);
        return secretKeys ? toDeliveryHeaders({ trace, ...delivery }, attempt.at, secretKeys) : null;
      };
      const describeAttempt = async (sentAttempt: SentAttempt) => {
        const { at, domainAt, bodyStart, ...attempt } = sentAttempt;
        const fault = findFault(webhookId, at);
        return {
          ...attempt,
          at: at.toISOString(),
          domainAt: domainAt?.toISOString() ?? null,
          headers: fault?.sentNormalHeaders === false ? null : await headersOf(sentAttempt),
          responseBody: bodyStart,
          fault: fault?.kind ?? null,
        };
      };
      const described = await Promise.all(attempts.map(describeAttempt));
      return { status: 200, body: { ...delivery, dueAt: dueAt?.toISOString() ?? null, attempts: described } };
    },

    async redeliver({ merchant, path: { webhookId } }) {
      const delivery = await store.redeliver({ merchant, webhookId, now: await clock.now() });
      changes.notify(["webhooks"], merchant);
      return delivery ? { status: 202, body: toDelivery(delivery) } : notFound("liveDelivery");
    },

    async getSubscription({ merchant, path: { subscriptionKey } }) {
      const subscription = await store.findSubscription({ merchant, subscriptionKey });
      if (!subscription) return notFound("subscription");
      return { status: 200, body: await toSubscription(merchant, subscription, await clock.now()) };
    },

    async endSubscription({ merchant, path: { subscriptionKey } }) {
      const ended = await store.endSubscription({ merchant, subscriptionKey, now: await clock.now() });
      changes.notify(["webhooks", "subscriptions"], merchant);
      return ended ? { status: 204 } : notFound("liveSubscription");
    },

    async rotateSecret({ merchant, path: { subscriptionKey }, body: { secretKey, overlapHours } }) {
      const now = await clock.now();
      const overlapMs = overlapHours === undefined ? DEFAULT_OVERLAP_MS : overlapHours * HOUR_MS;
      const change = { merchant, subscriptionKey, secretKey, overlapMs, now };
      const changed = await store.changeSecret(change, encryptionKeys);
      if (changed.kind === "overlapping")
        return invalid("/overlapHours", explainOverlap(changed.oldSecretUntil));
      changes.notify(["webhooks"], merchant);
      const subscription = await store.findSubscription({ merchant, subscriptionKey });
      if (changed.kind === "not-live" || !subscription) return notFound("liveSubscription");
      if (isGuessable(secretKey)) logger.warn({ merchant, subscriptionKey }, GUESSABLE_SECRET);
      return { status: 200, body: await toSubscription(merchant, subscription, now) };
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
          items: items.map((event) => toEvent(event, revisePayload(merchant, event.payload))),
          nextCursor,
        },
      };
    },

    async listSubscriptions({ merchant, query: { limit = DEFAULT_LIMIT, cursor } }) {
      const page = await store.listSubscriptions({ merchant, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      const now = await clock.now();
      const items = await Promise.all(page.items.map((record) => toSubscription(merchant, record, now)));
      return { status: 200, body: { items, nextCursor: page.nextCursor } };
    },
  };
}

type WebhookOperations =
  | "listDeliveries"
  | "getDelivery"
  | "redeliver"
  | "listSubscriptions"
  | "getSubscription"
  | "endSubscription"
  | "rotateSecret"
  | "listEvents"
  | "emitEvent";

type SentTexts = { tomorrow: Pick<Tomorrow, "revisePayload"> };

const DEFAULT_LIMIT = 20;

/** How many attempts of a delivery are shown with their headers: the latest. */
const MAX_ATTEMPTS = 100;

/** An event as a response body, with the text that is sent. */
function toEvent(event: EventRecord, payload: string): SandboxSchemas["EventRecord"] {
  return { ...event, payload, occurredAt: event.occurredAt.toISOString() };
}

const HOUR_MS = 3_600_000;

function explainOverlap(until: Date): string {
  return `must be 0, because two secrets sign already and there can't be a third. 0 ends the older one at once; to keep it, wait until ${until.toISOString()}`;
}

type SentAttempt = SentDeliveryRecord["attempts"][number];

/** The secrets that signed an attempt, as they are stored; none when one of them is no longer kept. */
function secretsOf(
  { at, domainAt, milliseconds }: SentAttempt,
  secrets: SentDeliveryRecord["secrets"],
): readonly Uint8Array[] {
  const { secretCiphertext, oldSecretCiphertext, oldSecretUntil, secretChangedAt } = secrets;
  const began = new Date((domainAt ?? at).getTime() - (domainAt ? milliseconds : 0));
  if (!secretCiphertext || (secretChangedAt && began < secretChangedAt)) return [];
  if (!oldSecretUntil || began >= oldSecretUntil) return [secretCiphertext];
  return oldSecretCiphertext ? [secretCiphertext, oldSecretCiphertext] : [];
}

type InspectedSecret = { readonly form: "BASE64" | "TEXT" | null; readonly warning: string | null };

/** How the secret of a subscription was read, and why it should be replaced. */
async function inspectSecret(
  merchant: string,
  { secretCiphertext }: SubscriptionRecord,
  encryptionKeys: EncryptionKeys,
): Promise<InspectedSecret> {
  const secretKey = secretCiphertext
    ? await encryptionKeys.decrypt(merchant, secretCiphertext).catch(() => undefined)
    : undefined;
  if (secretKey === undefined) return { form: null, warning: null };
  return { form: secretFormOf(secretKey), warning: isGuessable(secretKey) ? GUESSABLE_SECRET : null };
}

/** A subscription as a response body. */
function describeSubscription(
  record: SubscriptionRecord,
  { now, form, warning }: { now: Date } & InspectedSecret,
): SandboxSchemas["SubscriptionRecord"] {
  const { subscriptionKey, url, type, details, createdAt, endedAt } = record;
  const { oldSecretCiphertext, oldSecretUntil } = record;
  const overlaps = oldSecretCiphertext && oldSecretUntil && oldSecretUntil > now;
  return {
    subscriptionKey,
    url,
    // The store has only lists that were valid for this type.
    subscriptionDetails: {
      type,
      ...(details.length > 0 && { details }),
    } as SandboxSchemas["SubscriptionRecord"]["subscriptionDetails"],
    secretForm: form,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    oldSecretUntil: overlaps ? oldSecretUntil.toISOString() : null,
    secretWarning: warning,
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
