import { describe, expect, test } from "vitest";
import { isGuessable } from "../../../../server/webhooks/secret-strength.ts";

const encoded = (bytes: string | Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;

describe("a secret", () => {
  test.each([
    ["a word", "secret"],
    ["a short random text", "k3Jx9QvB2mPz"],
    ["a password", "Password2026!"],
    ["a phrase", "correct horse battery staple ORANGE window planet guitar silver"],
    ["words joined by dashes", "my-webhook-secret-for-production-2026"],
    ["a word repeated", "supersecret".repeat(20)],
    ["one character repeated", "a".repeat(256)],
    ["digits counted up", "1234567890".repeat(10)],
    ["words in base64", encoded("my-webhook-secret-for-production")],
    ["bytes of zero", encoded(new Uint8Array(32))],
    ["bytes counted up", encoded(Uint8Array.from({ length: 32 }, (_, index) => index))],
  ])("that is %s could be guessed", (_, secretKey) => {
    expect(isGuessable(secretKey)).toBe(true);
  });

  test.each([
    ["ten words", "correct-horse-battery-staple-ORANGE-window-planet-guitar-silver-candle"],
    ["24 random bytes", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["16 random bytes in hex, some beside the next one up", "88977770b7253ecd344d5421ca34aa48"],
    ["a random UUID", "3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19"],
    ["a text of a password manager", "Vq7&tRz!mK2#xB9@wLpD"],
    ["random letters that look like a word here and there", "kQuiteX7bZ2mN9pW4vR8sT1yL6cH3gF5"],
  ])("that is %s could not be guessed", (_, secretKey) => {
    expect(isGuessable(secretKey)).toBe(false);
  });
});
