import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { signWebhook } from "../../../client/src/webhooks/sign.ts";
import { WebhookVerificationError } from "../../../client/src/webhooks/verification-error.ts";
import { verifyWebhook } from "../../../client/src/webhooks/verify.ts";

const SECRET = "a secret, of the merchant's own";
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MARK = Buffer.from("\uFFFD");
const EVENT = {
  type: "account.linked" as const,
  timestamp: "2026-11-20T12:00:00.000Z",
  sequence: 1,
  data: { accountId: "ä€😀\uFFFD" },
};
const SIGNED = signWebhook(EVENT, SECRET, { now: () => new Date(NOW_MS) });
const BODY = Buffer.from(SIGNED.body);

/** `FUZZ_RUNS` makes it longer, and `FUZZ_SEED` other deliveries. */
const { FUZZ_RUNS = "3000", FUZZ_SEED = "20260101" } = process.env;

const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", " ", "v1,", "v1", ",", "v1a,AAAA", "v2,AAAA", "0", "-1", "1e9", "NaN", "١", "\u0000"),
  fc.constant(` ${NOW_MS / 1_000}`),
);
const mostly = <T>(value: T, ...others: fc.Arbitrary<T>[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(value) }, ...others);

type Value = string | string[] | undefined;
const header = (name: keyof typeof SIGNED.headers) => {
  const value = SIGNED.headers[name];
  return mostly<Value>(
    value,
    fc.constantFrom(undefined, value.slice(0, -1)),
    texts.chain((text) =>
      fc.constantFrom<Value[]>(text, [text, value], `${value} ${text}`, `${text} ${value}`),
    ),
  );
};
const headers = fc
  .tuple(
    header("webhook-id"),
    header("webhook-timestamp"),
    header("webhook-signature"),
    mostly(false, fc.boolean()),
  )
  .map(([id, timestamp, signature, capitals]) => {
    const all = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    return Object.fromEntries(
      Object.entries(all).map(([name, value]) => [capitals ? name.toUpperCase() : name, value]),
    );
  });

const replaceAt = (at: number, length: number, bytes: Uint8Array) =>
  Buffer.concat([BODY.subarray(0, at), bytes, BODY.subarray(at + length)]);
const bodies = mostly(
  BODY,
  fc
    .tuple(
      fc.nat({ max: BODY.length }),
      fc.constantFrom(0, 1, BODY.length),
      fc.uint8Array({ maxLength: 200 }),
    )
    .map((change) => replaceAt(...change)),
  fc.json().map((text) => Buffer.from(text)),
  // Bytes that a careless decoder turns into the replacement character that was signed.
  fc
    .constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80])
    .map((bytes) => replaceAt(BODY.indexOf(MARK), MARK.length, Buffer.from(bytes))),
);
const secrets = mostly(
  SECRET,
  fc.constantFrom(` ${SECRET}`, `"${SECRET}"`, SECRET.slice(1), "whsec_", `whsec_${btoa("another")}`),
  fc.string({ minLength: 1, unit: "binary" }),
);
const ages = mostly(
  0,
  fc.integer({ min: -400, max: 400 }),
  fc.constantFrom(-301, -300, 300, 301, -(2 ** 31), 2 ** 31),
);

test("a changed delivery is accepted if the secret has signed it, and otherwise refused with a reason", () => {
  const results = new Map<string, number>();
  const property = fc.property(bodies, headers, secrets, ages, (body, given, secret, age) => {
    const result = tryVerify(body, given, secret, age);
    results.set(result, (results.get(result) ?? 0) + 1);
    const genuine = isGenuine(body, Object.values(given), secret, age);
    expect({ genuine, result }).toEqual({ genuine: result === "accepted", result });
  });
  fc.assert(property, { numRuns: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED) });

  expect(results.get("accepted")).toBeGreaterThan(300);
  expect([...results.keys()].toSorted()).toEqual([
    "accepted",
    "invalid-timestamp",
    "missing-header",
    "no-matching-signature",
    "timestamp-too-new",
    "timestamp-too-old",
  ]);
});

function tryVerify(body: Uint8Array, given: Record<string, Value>, secret: string, age: number): string {
  try {
    verifyWebhook(body, given, secret, { now: () => new Date(NOW_MS + age * 1_000) });
    return "accepted";
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

/** Signs with another implementation of HMAC, and over bytes. */
function isGenuine(body: Uint8Array, values: readonly Value[], secret: string, age: number): boolean {
  const [id, timestamp, signatures] = values.map((value) => [value].flat().join(" "));
  if (!id || !signatures || timestamp !== String(NOW_MS / 1_000) || Math.abs(age) > 300) return false;
  const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
  return signatures.split(" ").includes(`v1,${hmac.digest("base64")}`);
}
