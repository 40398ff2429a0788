import { createHash, randomBytes } from "node:crypto";
import type { HandlersOf, SandboxHandlers } from "../contract/operations.ts";
import type { createChanges } from "./calls/changes.ts";
import { clockHandlers } from "./calls/clock.ts";
import { paymentHandlers } from "./calls/payments.ts";
import { createRequestMemory, type RequestMemory } from "./calls/requests.ts";
import type { SandboxParts } from "./calls/responses.ts";
import { webhookHandlers } from "./calls/webhooks.ts";
import { fixturesOf, isSandboxMerchant, SANDBOX_MERCHANTS, SANDBOX_SCOPES } from "./fixtures.ts";
import { createInbox, type InboxParts, type InboxReceiver } from "./inbox.ts";

const TOKEN_BYTES = 24;

/** Inserts the merchants' access tokens and payments; existing records stay as they are. */
export async function seedSandbox({ store, clock }: Pick<SandboxParts, "store" | "clock">): Promise<void> {
  const now = await clock.now();
  for (const merchant of SANDBOX_MERCHANTS) {
    const tokenSha256 = sha256(`sandbox_${merchant}`);
    await store.insertToken({ tokenSha256, merchant, scopes: SANDBOX_SCOPES });
    await store.insertFixtures(fixturesOf(merchant, now), now);
  }
}

/** The parts of a sandbox that are kept in memory. */
export interface SandboxMemory {
  changes: ReturnType<typeof createChanges>;
  requests: RequestMemory;
  inbox: InboxReceiver;
}

/** @param changes created by the server, which also reports changes that no request causes */
export function createSandboxMemory({
  changes,
  ownUrl,
  realNow,
}: Omit<InboxParts, "changes"> & Pick<SandboxMemory, "changes">): SandboxMemory {
  return {
    changes,
    requests: createRequestMemory(changes),
    inbox: createInbox({ changes, ownUrl, realNow }),
  };
}

/** A handler for each operation of the sandbox contract. */
export function createSandboxHandlers(
  options: Omit<SandboxParts, "changes">,
  memory: SandboxMemory,
): SandboxHandlers {
  const parts = { ...options, changes: memory.changes };
  return {
    ...memory.changes.handlers,
    ...memory.requests.handlers,
    ...memory.inbox.handlers,
    ...accessHandlers(parts, memory),
    ...clockHandlers(parts),
    ...paymentHandlers(parts),
    ...webhookHandlers(parts),
  };
}

function accessHandlers(
  { store, clock, changes }: SandboxParts,
  { requests, inbox }: SandboxMemory,
): HandlersOf<"createToken" | "resetSandbox"> {
  return {
    async createToken({ merchant, body: { scopes } }) {
      const accessToken = `sandbox_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
      await store.insertToken({ tokenSha256: sha256(accessToken), merchant, scopes });
      return { status: 201, body: { accessToken, scopes } };
    },

    async resetSandbox({ merchant }) {
      const now = await clock.now();
      const fixtures = isSandboxMerchant(merchant) ? fixturesOf(merchant, now) : [];
      await store.resetMerchant({ merchant, fixtures, now });
      requests.forget(merchant);
      inbox.forget(merchant);
      changes.notify(["payments", "webhooks", "requests", "inbox"], merchant);
      return { status: 204 };
    },
  };
}

/** Access tokens are stored as their SHA-256 only (D18). */
function sha256(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
