import { createHash } from "node:crypto";
import type { Fixture } from "../storage/fixtures.ts";
import type { TokenGrant } from "../storage/tokens.ts";
import { fixturesOf, SANDBOX_MERCHANTS, SANDBOX_SCOPES } from "./fixtures.ts";

/** What seeding needs of the store; both calls leave alone what is there already. */
export interface SeedStore {
  insertToken(token: TokenGrant & { tokenSha256: Uint8Array }): Promise<void>;
  insertFixtures(fixtures: readonly Fixture[], now: Date): Promise<void>;
}

/** Gives a sandbox its merchants, their tokens and their payments. `now` is the domain's time (D30). */
export async function seedSandbox(store: SeedStore, now: Date): Promise<void> {
  for (const merchant of SANDBOX_MERCHANTS) {
    const tokenSha256 = createHash("sha256").update(`sandbox_${merchant}`).digest();
    await store.insertToken({ tokenSha256, merchant, scopes: SANDBOX_SCOPES });
    await store.insertFixtures(fixturesOf(merchant, now), now);
  }
}
