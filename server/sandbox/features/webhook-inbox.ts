import { setTimeout as sleep } from "node:timers/promises";
import express, { type Router } from "express";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import { ProblemError } from "../../contract/problem.ts";
import type { Store } from "../../storage/open-store.ts";
import type { Changes } from "./change-stream.ts";
import { createRing } from "./ring-buffer.ts";

/** A receiver of webhooks for a merchant without a server, with switches that make it fail. */
export function createInbox({ store, changes, ownUrl, realNow }: InboxParts): InboxReceiver {
  const behaviours = new Map<string, Behaviour>();
  const ring = createRing<Received>({
    maxBytes: MAX_BYTES,
    bytesOf: ({ webhook }) => 500 + 2 * webhook.body.length,
  });
  const behaviourOf = (merchant: string) => behaviours.get(merchant) ?? WELL_BEHAVED;
  const toBody = async (merchant: string): Promise<Inbox> => {
    const url = `${ownUrl()}/sandbox/inbox/${encodeURIComponent(merchant)}`;
    const received = ring.list().filter((entry) => entry.merchant === merchant);
    return {
      url,
      subscriptionKey: (await store.findSubscriptionTo({ merchant, url })) ?? null,
      ...behaviourOf(merchant),
      received: received.slice(0, LISTED).map(({ webhook }) => webhook),
    };
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  const readText = express.text({ type: () => true, limit: 65_536 });
  router.post("/sandbox/inbox/:merchant", readText, async (request, response) => {
    const { merchant } = request.params as { merchant: string };
    const { status, delayMs } = behaviourOf(merchant);
    ring.add({
      merchant,
      webhook: {
        at: realNow().toISOString(),
        webhookId: (request.get("webhook-id") ?? "").slice(0, 100),
        status,
        body: typeof request.body === "string" ? request.body : "",
      },
    });
    changes.notify(["inbox"], merchant);
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
    response.status(status).type("text/plain").send(`The inbox responds ${status}.`);
  });
  router.all("/sandbox/inbox/:merchant", () => {
    throw new ProblemError("METHOD_NOT_ALLOWED", { headers: { Allow: "POST" } });
  });

  return {
    router,
    handlers: {
      async getInbox({ merchant }) {
        return { status: 200, body: await toBody(merchant) };
      },
      async setInbox({ merchant, body }) {
        behaviours.set(merchant, { ...behaviourOf(merchant), ...body });
        changes.notify(["inbox"], merchant);
        return { status: 200, body: await toBody(merchant) };
      },
    },
    forget(merchant) {
      behaviours.delete(merchant);
      ring.removeWhere((entry) => entry.merchant === merchant);
    },
  };
}

type Inbox = SandboxSchemas["Inbox"];
type Behaviour = Pick<Inbox, "status" | "delayMs">;
type Received = { readonly merchant: string; readonly webhook: Inbox["received"][number] };

const WELL_BEHAVED: Behaviour = { status: 200, delayMs: 0 };
const LISTED = 50;

/** The limit for all merchants together. */
const MAX_BYTES = 4_000_000;

export type InboxParts = {
  store: Pick<Store, "findSubscriptionTo">;
  changes: Pick<Changes, "notify">;
  /** Where the sandbox listens, such as `http://127.0.0.1:3000`. */
  ownUrl: () => string;
  /** Real time. */
  realNow: () => Date;
};

export type InboxReceiver = {
  /** Receives deliveries, which carry no access token. */
  router: Router;
  handlers: HandlersOf<"getInbox" | "setInbox">;
  forget(merchant: string): void;
};
