import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WebhookVerificationError } from "../../../client/src/webhooks/errors.ts";
import { signWebhook } from "../../../client/src/webhooks/sign.ts";
import { verifyWebhook } from "../../../client/src/webhooks/verify.ts";

type Delivery = { body: Uint8Array; headers: Record<string, string | string[] | undefined> };
type Change = (delivery: Delivery) => Delivery;

const SECRET = "a secret, of the merchant's own";
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const EVENT = {
  type: "account.linked" as const,
  timestamp: "2026-11-20T12:00:00.000Z",
  sequence: 1,
  data: { accountId: "ä€😀\uFFFD" },
};
const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/** `FUZZ_RUNS` makes it longer, and `FUZZ_SEED` other deliveries. */
const { FUZZ_RUNS = "10000", FUZZ_SEED = "20260101" } = process.env;

test("changed deliveries are accepted when the secret has signed them, and else refused with a reason, and nothing else", () => {
  let accepted = 0;
  const reasons = new Set<string>();
  const property = fc.property(changes, secrets, ageSeconds, (made, secret, age) => {
    const { body, headers } = signWebhook(EVENT, SECRET, { now: () => new Date(NOW_MS) });
    const { "content-type": _, ...signed } = headers;
    const original: Delivery = { body: new TextEncoder().encode(body), headers: signed };
    const delivery = made.reduce((changed, change) => change(changed), original);
    const result = tryVerify(delivery, secret, age);

    if (result === "accepted") accepted += 1;
    else reasons.add(result);
    const genuine = isGenuine(delivery, secret, age);
    if (genuine && result === "invalid-payload") return; // signed bytes other than events can't be created here
    expect({ genuine, result }).toEqual({ genuine: result === "accepted", result });
  });
  fc.assert(property, { numRuns: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED) });

  expect(accepted).toBeGreaterThan(1_000);
  expect([...reasons].toSorted()).toEqual([
    "invalid-timestamp",
    "missing-header",
    "no-matching-signature",
    "timestamp-too-new",
    "timestamp-too-old",
  ]);
});

function tryVerify({ body, headers }: Delivery, secret: string, age: number): string {
  try {
    verifyWebhook(body, headers, secret, { now: () => new Date(NOW_MS + age * 1_000) });
    return "accepted";
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

/** Signs with another implementation of HMAC, and over bytes. */
function isGenuine({ body, headers }: Delivery, secret: string, age: number): boolean {
  const [id, timestamp, signatures] = NAMES.map((name) => {
    const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
    return [key === undefined ? undefined : headers[key]].flat().join(" ");
  });
  if (!id || !timestamp || !signatures || Math.abs(age) > 300) return false;
  if (timestamp !== String(NOW_MS / 1_000)) return false;
  const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
  return signatures.split(" ").includes(`v1,${hmac.digest("base64")}`);
}

const secrets = fc.oneof(
  { weight: 8, arbitrary: fc.constant(SECRET) },
  fc.constantFrom(` ${SECRET}`, `"${SECRET}"`, SECRET.slice(1), "whsec_", `whsec_${btoa("another")}`),
  fc.string({ minLength: 1, unit: "binary" }),
);
const ageSeconds = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  fc.integer({ min: -400, max: 400 }),
  fc.constantFrom(-301, -300, 300, 301, -(2 ** 31), 2 ** 31),
);

const headerName = fc.constantFrom(...NAMES);
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", " ", "v1,", "v1", ",", "v1a,AAAA", "v2,AAAA", "0", "-1", "1e9", "NaN", "١", "\u0000"),
  fc.constant(String(NOW_MS / 1_000)).map((text) => ` ${text}`),
);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(fc.nat(), fc.nat({ max: 255 }))
    .map(([at, byte]) => changeBody((body) => body.fill(byte, at % body.length, (at % body.length) + 1))),
  fc.nat().map((at) => changeBody((body) => body.subarray(0, at % body.length))),
  fc
    .tuple(fc.nat(), fc.uint8Array({ maxLength: 9 }))
    .map(([at, bytes]) =>
      changeBody((body) =>
        Buffer.concat([body.subarray(0, at % body.length), bytes, body.subarray(at % body.length)]),
      ),
    ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => changeBody(() => bytes)),
  fc.json().map((text) => changeBody(() => new TextEncoder().encode(text))),
  fc.tuple(headerName, anyText).map(([name, text]) => changeHeader(name, () => text)),
  fc.tuple(headerName, anyText).map(([name, text]) => changeHeader(name, (value) => [text, value].flat())),
  fc
    .tuple(headerName, fc.nat(), anyText)
    .map(([name, at, text]) =>
      changeHeader(name, (value) => (at % 2 === 0 ? `${value} ${text}` : `${text} ${value}`)),
    ),
  // Bytes that a careless decoder turns into the replacement character that was signed.
  fc
    .constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80])
    .map((bytes) => changeBody((body) => replaceMark(body, bytes))),
  headerName.map((name) => changeHeader(name, () => undefined)),
  headerName.map((name) => changeHeader(name, (value) => String(value).slice(0, -1))),
  headerName.map(
    (name): Change =>
      ({ body, headers: { [name]: value, ...others } }) => ({
        body,
        headers: { ...others, [name.toUpperCase()]: value },
      }),
  ),
);
const changes = fc.array(change, { maxLength: 3 });

function changeBody(to: (body: Buffer) => Uint8Array): Change {
  return ({ body, headers }) => ({ headers, body: to(Buffer.from(body.length === 0 ? [0] : body)) });
}

function replaceMark(body: Buffer, bytes: readonly number[]): Uint8Array {
  const at = body.indexOf("\uFFFD");
  return at < 0 ? body : Buffer.concat([body.subarray(0, at), Buffer.from(bytes), body.subarray(at + 3)]);
}

function changeHeader(name: string, to: (value: string | string[]) => string | string[] | undefined): Change {
  return ({ body, headers }) => ({ body, headers: { ...headers, [name]: to(headers[name] ?? "") } });
}
