import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  createEncryptionKeys,
  ownKey,
  type WrappingKey,
} from "../../../../server/storage/webhooks/secrets.ts";

const key = ownKey(randomBytes(32));
const olderKey = ownKey(randomBytes(32));
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
    expect(sealedOf(one).equals(sealedOf(other))).toBe(false);
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

  test("has a data key of its merchant, which is wrapped once and unwrapped once", async () => {
    const { counting, calls } = countCalls(key);
    const [writer, reader] = [createEncryptionKeys([counting]), createEncryptionKeys([counting])];
    const [one, two, other] = await Promise.all(
      ["acme", "acme", "globex"].map((merchant) => writer.encrypt(merchant, "secret")),
    );
    const afterWrites = { ...calls };
    for (const stored of [one, two, one]) await reader.decrypt("acme", stored ?? Buffer.alloc(0));

    expect([afterWrites, calls]).toEqual([
      { wrap: 2, unwrap: 0 },
      { wrap: 2, unwrap: 1 },
    ]);
    expect(wrappedOf(one)).toEqual(wrappedOf(two));
    expect(wrappedOf(one)).not.toEqual(wrappedOf(other));
  });
});

const WRAPPED_BYTES = 60;
const wrappedOf = (stored: Buffer | undefined) => stored?.subarray(0, 7 + WRAPPED_BYTES);
const sealedOf = (stored: Buffer) => stored.subarray(7 + WRAPPED_BYTES);

function countCalls(of: WrappingKey) {
  const calls = { wrap: 0, unwrap: 0 };
  const countedAs = (name: keyof typeof calls) => (bytes: Parameters<WrappingKey["wrap"]>[0]) => {
    calls[name] += 1;
    return of[name](bytes);
  };
  return { counting: { id: of.id, wrap: countedAs("wrap"), unwrap: countedAs("unwrap") }, calls };
}
