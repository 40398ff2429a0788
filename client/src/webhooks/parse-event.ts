import type { webhooks } from "../../../openapi/generated/types.ts";
import { EVENT_NAMES } from "../../../openapi/generated/values.ts";
import { isObject, parseJson } from "../json.ts";

/** Reads the body of a delivery; undefined when it is not an event. */
export function parseEvent(body: string): WebhookEvent | undefined {
  const event = parseJson(body);
  if (!isEvent(event)) return undefined;
  // The signature guarantees the fields that the contract gives an event of this name.
  if (EVENT_NAMES.some((name) => name === event.type)) return event as unknown as WebhookEvent;
  const { type: name, timestamp, sequence, data } = event;
  return { type: "unknown", name, timestamp, sequence, data };
}

/** The events that the contract describes. */
export type WebhookEventName = keyof webhooks;

/** The event with a given name. */
export type WebhookEventOf<Name extends WebhookEventName> =
  webhooks[Name]["post"]["requestBody"]["content"]["application/json"];

/**
 * An event that this version of the client does not know, because the service began to send it later. Its own name is in
 * `name`, so that `switch (event.type)` still narrows every other event.
 */
export type UnknownWebhookEvent = {
  type: "unknown";
  name: string;
  timestamp: string;
  sequence: number;
  data: Record<string, unknown>;
};

/** An event that this version of the client knows: `switch (event.type)` narrows `event.data`. */
export type KnownWebhookEvent = { [Name in WebhookEventName]: WebhookEventOf<Name> }[WebhookEventName];

/** Any event. */
export type WebhookEvent = KnownWebhookEvent | UnknownWebhookEvent;

type UnverifiedEvent = { type: string; timestamp: string; sequence: number; data: Record<string, unknown> };

function isEvent(value: unknown): value is UnverifiedEvent {
  return (
    isObject(value) &&
    typeof value.type === "string" &&
    typeof value.timestamp === "string" &&
    typeof value.sequence === "number" &&
    isObject(value.data)
  );
}
