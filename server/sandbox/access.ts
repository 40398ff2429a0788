import { createHash, randomBytes } from "node:crypto";
import type { HandlersOf } from "../http/operations.ts";
import { fixturesOf, isSandboxMerchant } from "./fixtures.ts";
import type { SandboxParts } from "./store.ts";

const TOKEN_BYTES = 24;

/** Tokens, and a fresh start. */
export function accessHandlers({ store, clock }: SandboxParts): HandlersOf<"createToken" | "resetSandbox"> {
  return {
    async createToken({ merchant, body: { scopes } }) {
      const accessToken = `sandbox_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
      const tokenSha256 = createHash("sha256").update(accessToken).digest();
      await store.insertToken({ tokenSha256, merchant, scopes });
      return { status: 201, body: { accessToken, scopes } };
    },

    async resetSandbox({ merchant }) {
      const now = await clock.now();
      const fixtures = isSandboxMerchant(merchant) ? fixturesOf(merchant, now) : [];
      await store.resetMerchant({ merchant, fixtures, now });
      return { status: 204 };
    },
  };
}
