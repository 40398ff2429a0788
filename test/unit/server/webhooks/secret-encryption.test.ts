import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createEncryptionKeys } from "../../../../server/storage/webhooks/secret-encryption.ts";

const key = randomBytes(32);
const olderKey = randomBytes(32);
const keys = createEncryptionKeys([key]);

describe("a stored secret", () => {
  test("is read from a view into a larger buffer, as drivers return it", async () => {
    const stored = await keys.encrypt("acme", "sécret 🔑");
    const view = new Uint8Array([9, ...stored, 9]).subarray(1, 1 + stored.length);

    expect(await keys.decrypt("acme", view)).toBe("sécret 🔑");
  });

  test("reveals neither the secret nor that two secrets are equal", async () => {
    const [one, other] = [await keys.encrypt("acme", "secret"), await keys.encrypt("acme", "secret")];

    expect(one.includes("secret")).toBe(false);
    const CIPHERTEXT_AT = 33;
    expect(one.subarray(CIPHERTEXT_AT).equals(other.subarray(CIPHERTEXT_AT))).toBe(false);
  });

  test("is readable after the key was changed, for as long as the older one is listed", async () => {
    const stored = await createEncryptionKeys([olderKey]).encrypt("acme", "secret");
    const both = createEncryptionKeys([key, olderKey]);

    expect(await both.decrypt("acme", stored)).toBe("secret");
    await expect(keys.decrypt("acme", stored)).rejects.toThrow(
      "the key that encrypted this secret is not configured",
    );
    expect(await keys.decrypt("acme", await both.encrypt("acme", "secret"))).toBe("secret");
  });

  test("is refused to another merchant, or when any byte of it was changed, or some are missing", async () => {
    const stored = await keys.encrypt("acme", "secret");

    await expect(keys.decrypt("globex", stored)).rejects.toThrow();
    for (let index = 0; index < stored.length; index += 1) {
      const changed = Buffer.from(stored);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      await expect(keys.decrypt("acme", changed)).rejects.toThrow();
      await expect(keys.decrypt("acme", stored.subarray(0, index))).rejects.toThrow();
    }
  });
});
