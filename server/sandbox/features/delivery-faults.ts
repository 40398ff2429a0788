import { randomBytes, randomUUID } from "node:crypto";
import type { Attempt } from "../../storage/webhooks/claim-deliveries.ts";
import {
  type AttemptOptions,
  type AttemptsOf,
  type MadeAttempt,
  makeAttempt,
  type ToRequest,
  toSignedRequest,
} from "../../webhooks/delivery-attempt.ts";
import { signDelivery } from "../../webhooks/sign-delivery.ts";
import type { FaultList, TakenFault } from "./fault-list.ts";
import type { FaultKind } from "./fault-settings.ts";

/**
 * Makes the attempts of deliveries, by the faults that are armed for their merchants.
 * @param onAccepted called after each attempt that its receiver accepted
 */
export function createDeliveryFaults(
  list: Pick<FaultList, "take">,
  onAccepted: (merchant: string, payload: string) => void,
): DeliveryFaults {
  const remembered = new Map<string, AttemptFault>();

  const make = async (attempt: Attempt, options: AttemptOptions, { plan, note }: TakenFault) => {
    const send = async (sent: Attempt, toRequest?: ToRequest) => {
      const made = await makeAttempt(sent, options, toRequest);
      note(made.status);
      return made;
    };
    const { kind, hours } = plan;
    const forge = FORGED[kind];
    if (forge) return send(attempt, forge);
    if (kind === "NEVER") return sendNothing(kind, options, { kind: "exhausted" });
    if (kind === "LATE")
      return sendNothing(kind, options, { kind: "retry", afterMs: (hours ?? 0) * HOUR_MS });
    if (kind === "UNKNOWN_EVENT") return send(toUnknownEvent(attempt)).then(() => send(attempt));
    const first = await send(attempt);
    if (kind !== "TWICE") return first;
    const second = await send(attempt);
    return first.error === null ? first : second;
  };

  return {
    async makeAttempt(attempt, options) {
      const taken = list.take(attempt);
      const made = await (taken ? make(attempt, options, taken) : makeAttempt(attempt, options));
      if (made.error === null) onAccepted(attempt.merchant, attempt.payload);
      if (!taken) return made;
      const { kind } = taken.plan;
      const sentNormalHeaders = made.status !== null && (kind === "TAMPERED" || !FORGED[kind]);
      remembered.set(toKey(attempt.webhookId, made.at), { kind, sentNormalHeaders });
      const [oldest] = remembered.keys();
      if (oldest !== undefined && remembered.size > MAX_REMEMBERED) remembered.delete(oldest);
      return made;
    },
    find: (webhookId, at) => remembered.get(toKey(webhookId, at)),
  };
}

export type DeliveryFaults = AttemptsOf & {
  /** The fault that happened to an attempt. */
  find(webhookId: string, at: Date): AttemptFault | undefined;
};

type AttemptFault = {
  readonly kind: FaultKind;
  /** False when nothing was sent, or the headers were forged. */
  readonly sentNormalHeaders: boolean;
};

const HOUR_MS = 3_600_000;
/** Attempts whose fault is remembered, of all merchants together. */
const MAX_REMEMBERED = 1_000;

/** What the forging faults send instead of the signed request. */
export const FORGED: Partial<Record<FaultKind, ToRequest>> = {
  WRONG_SECRET: ({ webhookId, payload: body }, at) => {
    const secret = `whsec_${randomBytes(24).toString("base64")}`;
    return { headers: signDelivery([secret], { webhookId, at, body }), body };
  },
  STALE_TIMESTAMP: (attempt, at, keys) => toSignedRequest(attempt, new Date(at.getTime() - HOUR_MS), keys),
  TAMPERED: (attempt, at, keys) => {
    const request = toSignedRequest(attempt, at, keys);
    return { ...request, body: tamperWith(request.body) };
  },
};

const toKey = (webhookId: string, at: Date) => `${webhookId} ${at.getTime()}`;

/** An attempt that sends nothing, with the outcome that the fault wants. */
export async function sendNothing(
  kind: FaultKind,
  { realNow }: AttemptOptions,
  outcome: MadeAttempt["outcome"],
) {
  const error = `not sent: the fault ${kind} held it`;
  return { at: realNow(), status: null, error, milliseconds: 0, bodyStart: null, timedOut: false, outcome };
}

function tamperWith(payload: string): string {
  const event = JSON.parse(payload);
  const { amount } = event.data;
  if (amount) amount.value = Math.round(amount.value * 100 + 100) / 100;
  return JSON.stringify({ ...event, sequence: event.sequence + 1 });
}

/** An event whose type the contract doesn't have, as later versions may send. */
const toUnknownEvent = (attempt: Attempt): Attempt => ({
  ...attempt,
  webhookId: `msg_${randomUUID()}`,
  payload: JSON.stringify({ ...JSON.parse(attempt.payload), type: "sandbox.unknown_event" }),
});
