import { createHash } from "node:crypto";
import { fixturesOf, SANDBOX_MERCHANTS, SANDBOX_SCOPES } from "./fixtures.ts";
import type { SandboxParts } from "./store.ts";

/** Gives a sandbox its merchants, their tokens and their payments; what is there already stays as it is. */
export async function seedSandbox({ store, clock }: Pick<SandboxParts, "store" | "clock">): Promise<void> {
  const now = await clock.now();
  for (const merchant of SANDBOX_MERCHANTS) {
    const tokenSha256 = createHash("sha256").update(`sandbox_${merchant}`).digest();
    await store.insertToken({ tokenSha256, merchant, scopes: SANDBOX_SCOPES });
    await store.insertFixtures(fixturesOf(merchant, now), now);
  }
}
