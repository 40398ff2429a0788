import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decryptSecret, encryptSecret } from "../../../../../server/storage/webhooks/secrets.ts";

const key = randomBytes(32);
const olderKey = randomBytes(32);

/** @decision D29 */
describe("a stored secret", () => {
  test.each(["s", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "sécret 🔑", "x".repeat(256)])(
    "is read back as %j",
    (secret) => {
      expect(decryptSecret([key], "acme", encryptSecret([key], "acme", secret))).toBe(secret);
    },
  );

  test("is read from a view into a larger buffer, as drivers return it", () => {
    const stored = encryptSecret([key], "acme", "secret");
    const view = new Uint8Array([9, ...stored, 9]).subarray(1, 1 + stored.length);

    expect(decryptSecret([key], "acme", view)).toBe("secret");
  });

  test("shows neither itself nor that two are the same", () => {
    const [one, other] = [encryptSecret([key], "acme", "secret"), encryptSecret([key], "acme", "secret")];

    expect(one.includes("secret")).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  test("is readable after the key was changed, for as long as the older one is listed", () => {
    const stored = encryptSecret([olderKey], "acme", "secret");

    expect(decryptSecret([key, olderKey], "acme", stored)).toBe("secret");
    expect(() => decryptSecret([key], "acme", stored)).toThrow(
      "the key that encrypted this secret is not configured",
    );
    expect(decryptSecret([key], "acme", encryptSecret([key, olderKey], "acme", "secret"))).toBe("secret");
  });

  test("is of no use to another merchant", () => {
    expect(() => decryptSecret([key], "globex", encryptSecret([key], "acme", "secret"))).toThrow();
  });

  test("is refused when any byte of it was changed, or some are missing", () => {
    const stored = encryptSecret([key], "acme", "secret");

    for (let index = 0; index < stored.length; index += 1) {
      const changed = Buffer.from(stored);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => decryptSecret([key], "acme", changed)).toThrow();
      expect(() => decryptSecret([key], "acme", stored.subarray(0, index))).toThrow();
    }
  });

  test("needs keys of 32 bytes, and one at least", () => {
    expect(() => encryptSecret([], "acme", "secret")).toThrow("no key to encrypt with");
    expect(() => encryptSecret([randomBytes(16)], "acme", "secret")).toThrow(
      "an encryption key has 32 bytes, not 16",
    );
  });
});
