import { setTimeout as pause } from "node:timers/promises";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { Attempt } from "../../storage/webhooks/claim-deliveries.ts";
import { type AttemptsOf, type MadeAttempt, makeAttempt } from "../../webhooks/delivery-attempt.ts";
import { FORGED, sendNothing } from "./delivery-faults.ts";
import type { FaultList } from "./fault-list.ts";
import { type NewFault, toPlan } from "./fault-settings.ts";

/** Makes the calls and deliveries of all merchants go wrong as the day says. */
export function createBadDay(day: BadDay | undefined, watch: Partial<Watch>) {
  const seen = new Set<string>();
  const kind = day && "events" in day ? day.events : undefined;
  /** What a receiver accepted before its restart. */
  let again = day && "again" in day ? day.again.slice(0, MAX_AGAIN) : [];

  const sendWatched = async (attempt: Attempt, send: () => Promise<MadeAttempt>, forged = false) => {
    const made = await send();
    const { merchant, webhookId, payload } = attempt;
    watch.onAttempt?.({ merchant, webhookId, payload, status: made.status, forged });
    return made;
  };

  const take: FaultList["take"] = (occasion) => {
    if (!day || "events" in day || !("operation" in occasion)) return undefined;
    const { merchant, operation, requestKey } = occasion;
    const name = `${merchant} ${requestKey}`;
    if (operation !== "issueRefund" || seen.has(name)) return undefined;
    seen.add(name);
    return { plan: toPlan(day), note: () => {} };
  };

  return {
    take,
    wrap: ({ makeAttempt: make }: AttemptsOf): AttemptsOf => ({
      async makeAttempt(attempt, options) {
        const send = (sent = attempt) => sendWatched(sent, () => make(sent, options));
        if (kind === "NEVER") return sendNothing(kind, options, { kind: "exhausted" });
        if (kind === "FORGED")
          await sendWatched(attempt, () => makeAttempt(attempt, options, FORGED.WRONG_SECRET), true);
        if (kind === "TWICE_AT_ONCE") return (await Promise.all([send(), send()]))[0];
        if (kind === "REORDERED" && JSON.parse(attempt.payload).sequence === 1) await pause(WAIT_MS);
        const made = await send();
        if (made.error !== null) return made;
        const repeated = again.filter(({ merchant }) => merchant === attempt.merchant);
        again = again.filter((accepted) => !repeated.includes(accepted));
        for (const { webhookId, payload } of repeated) await send({ ...attempt, webhookId, payload });
        return made;
      },
    }),
  };
}

/** A finished call to the published contract, with its response. */
export type WatchedCall = Pick<
  SandboxSchemas["RequestRecord"],
  "status" | "milliseconds" | "requestKey" | "requestBody" | "responseBody" | "fault"
> & {
  readonly operation: NonNullable<SandboxSchemas["RequestRecord"]["operation"]>;
  readonly merchant: string;
  /** In milliseconds, of real time. */
  readonly endedAt: number;
  readonly retryAfter: number | undefined;
  /** The refund that it made, even if no response said so, and its first status. */
  readonly made: { readonly paymentId: string; readonly status: string } | undefined;
};

export type WatchedAttempt = {
  readonly merchant: string;
  readonly webhookId: string;
  readonly payload: string;
  readonly status: number | null;
  /** Whether it is forged, so that a receiver must not accept it. */
  readonly forged?: boolean;
};

/** Receives every call and delivery of a sandbox. */
export type Watch = {
  onCall(call: WatchedCall): void;
  onAttempt(attempt: WatchedAttempt): void;
  /** The merchant was reset: all its records were removed. */
  onReset(merchant: string): void;
};

/** What goes wrong on a bad day: the first call for each refund, or every event. */
export type BadDay =
  | NewFault
  | { readonly events: "TWICE_AT_ONCE" | "REORDERED" | "NEVER" | "FORGED" }
  | { readonly events: "AFTER_RESTART"; readonly again: readonly WatchedAttempt[] };

/** How long the first event of a refund is held back, so that the next one comes before it. */
const WAIT_MS = 1_500;
/** How many events at most are sent again after a restart. */
const MAX_AGAIN = 20;
