import { createHash, randomBytes } from "node:crypto";
import type { HandlersOf } from "../../contract/operation-types.ts";
import {
  fixturesOf,
  isSandboxMerchant,
  SANDBOX_MERCHANTS,
  SANDBOX_SCOPES,
  type SandboxMerchant,
} from "./fixtures.ts";
import type { SandboxParts } from "./response-bodies.ts";

/**
 * Creates access tokens, and brings the data of a merchant back to the start.
 * @param inMemory what a reset makes forget the merchant
 */
export function resetAndTokenHandlers(
  { store, clock, changes }: SandboxParts,
  inMemory: readonly { forget(merchant: string): void }[],
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
      for (const part of inMemory) part.forget(merchant);
      changes.notify(["payments", "webhooks", "requests", "inbox", "subscriptions"], merchant);
      return { status: 204 };
    },
  };
}

/** Inserts the payments and then the access tokens of the merchants that have none: a second start has nothing to insert. */
export async function seed(
  { store, clock }: Pick<SandboxParts, "store" | "clock">,
  further: readonly SandboxMerchant[],
): Promise<void> {
  const now = await clock.now();
  for (const merchant of [...SANDBOX_MERCHANTS, ...further]) {
    const tokenSha256 = sha256(`sandbox_${merchant}`);
    if (await store.findToken(tokenSha256)) continue;
    await store.insertFixtures(fixturesOf(merchant, now), now);
    await store.insertToken({ tokenSha256, merchant, scopes: SANDBOX_SCOPES });
  }
}

const TOKEN_BYTES = 24;

/** Access tokens are stored as their SHA-256 only (D18). */
function sha256(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
