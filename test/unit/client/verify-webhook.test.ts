import { describe, expect, test } from "vitest";
import {
  signWebhook,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from "../../../client/src/index.ts";
import { createSign } from "../../../client/src/webhooks/sign.ts";
import {
  AUTHORIZED_EVENT,
  SECRET_KEY,
  SENT_AT,
  SIGNATURE_VECTORS,
  signDelivery,
  WEBHOOK_ID,
} from "../../client/signed-deliveries.ts";

const now = () => SENT_AT;

/** The result: the event, or why it was refused. */
function outcome(body: string | Uint8Array, headers: WebhookHeaders): unknown {
  try {
    return verifyWebhook(body, headers, SECRET_KEY, { now: () => SENT_AT });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

test.each(SIGNATURE_VECTORS)("the signature is that of the vector: $name", (vector) => {
  const { secretKey, id, timestamp, body, signature } = vector;

  expect(createSign(secretKey)({ webhookId: id, timestamp, body })).toBe(signature);
});

describe("a delivery as it was sent", () => {
  const { body, headers } = signDelivery();

  test("gives its event, by the clock of the runtime unless another is given", () => {
    const fresh = signDelivery(AUTHORIZED_EVENT, new Date());

    expect(verifyWebhook(body, headers, SECRET_KEY, { now })).toEqual(AUTHORIZED_EVENT);
    expect(verifyWebhook(fresh.body, fresh.headers, SECRET_KEY)).toEqual(AUTHORIZED_EVENT);
  });

  test("may come as bytes inside of a larger Buffer", () => {
    expect(outcome(Buffer.from(`xx${body}xx`).subarray(2, -2), headers)).toEqual(AUTHORIZED_EVENT);
  });

  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
  const capitals = { "Webhook-Id": id, "WEBHOOK-TIMESTAMP": timestamp, "Webhook-Signature": signature };
  const lists = {
    "webhook-id": [id],
    "webhook-timestamp": [timestamp],
    "webhook-signature": ["v1,x", signature],
  };
  test.each<[string, WebhookHeaders]>([
    ["Headers", new Headers(headers)],
    ["an object with names in any case", capitals],
    ["an object with lists of values", lists],
  ])("may come with its headers as %s", (_, given) => {
    expect(outcome(body, given)).toEqual(AUTHORIZED_EVENT);
  });
});

describe("a delivery that was changed", () => {
  const { body, headers } = signDelivery();
  const signature = headers["webhook-signature"];

  test.each([
    ["a byte order mark", `\uFEFF${body}`, {}],
    ["a body nested too deep to be written again", "[".repeat(30_000) + "]".repeat(30_000), {}],
    ["its signature in small letters", body, { "webhook-signature": signature.toLowerCase() }],
    ["its signature and more", body, { "webhook-signature": `${signature}x` }],
    ["a signature outside of ASCII", body, { "webhook-signature": "v1,☃" }],
  ])("is refused when it has %s", (_, changedBody, changedHeaders) => {
    const given = { ...headers, ...changedHeaders };

    expect(outcome(changedBody, given)).toBe("no-matching-signature");
    expect(outcome(Buffer.from(changedBody), given)).toBe("no-matching-signature");
  });

  test.each(["1795582800.0", " 1795582800", "01795582800", "+1795582800"])(
    "is refused when its time is %j",
    (timestamp) => {
      expect(outcome(body, { ...headers, "webhook-timestamp": timestamp })).toBe("invalid-timestamp");
    },
  );
});

test("a delivery is refused while the clock gives no valid date", () => {
  const { body, headers } = signDelivery();

  expect(() => verifyWebhook(body, headers, SECRET_KEY, { now: () => new Date(Number.NaN) })).toThrow(
    /is NaN s old/,
  );
});

describe("what is signed", () => {
  test.each([
    ["cut off", '{"type":'],
    ["a list", []],
    ["without a type", { timestamp: "", sequence: 1, data: {} }],
    ["without data", { type: "a.b", timestamp: "", sequence: 1 }],
    ["with a time that is a number", { ...AUTHORIZED_EVENT, timestamp: 1 }],
    ["with a sequence that is a text", { ...AUTHORIZED_EVENT, sequence: "1" }],
  ])("is refused when it is no event: %s", (_, content) => {
    const { body, headers } = signDelivery(content);

    expect(outcome(body, headers)).toBe("invalid-payload");
  });

  test.each(["refund.reversed", "unknown", "__proto__", "constructor"])(
    "keeps its name when we do not know it: %s",
    (name) => {
      const { body, headers } = signDelivery({ ...AUTHORIZED_EVENT, type: name });

      expect(outcome(body, headers)).toEqual({ ...AUTHORIZED_EVENT, type: "unknown", name });
    },
  );
});

test("signWebhook makes the delivery that the service would send, of any text, under an id of its own", () => {
  const [one, other] = [signWebhook("no event", SECRET_KEY, { now }), signWebhook("no event", SECRET_KEY)];

  expect(signWebhook(AUTHORIZED_EVENT, SECRET_KEY, { webhookId: WEBHOOK_ID, now })).toEqual({
    method: "POST",
    ...signDelivery(),
  });
  expect(outcome(one.body, one.headers)).toBe("invalid-payload");
  expect(one.headers["webhook-id"]).not.toBe(other.headers["webhook-id"]);
});

test.each(["\n", "\r\n", " ", '"', "'"])(
  "a secret that was subscribed with an edge (%j) gets an explanation",
  (edge) => {
    const subscribed = /["']/.test(edge) ? edge + SECRET_KEY + edge : SECRET_KEY + edge;
    const { body, headers } = signWebhook(AUTHORIZED_EVENT, subscribed, { now });

    expect(() => verifyWebhook(body, headers, SECRET_KEY, { now })).toThrow(
      /subscription was made with them/,
    );
    expect(() => verifyWebhook(body, headers, "another secret", { now })).toThrow(/changed delivery\.$/);
  },
);

test("a secret that lost its = gets an explanation", () => {
  const { body, headers } = signWebhook(AUTHORIZED_EVENT, `whsec_${btoa("x".repeat(31))}`, { now });

  expect(() =>
    verifyWebhook(body, headers, `whsec_${btoa("x".repeat(31)).replace(/=+$/, "")}`, { now }),
  ).toThrow("It matches with = after the secret: add it");
});

describe("a fault of the receiver's own", () => {
  const { body, headers } = signDelivery();

  test.each([
    ["without white space or quotes around the secret", body, `'${SECRET_KEY}'\r\n`],
    ["without v1, before the secret", body, `v1,${SECRET_KEY} `],
    ["with whsec_ before the secret: add it", body, SECRET_KEY.replace("whsec_", "")],
    ["the body in another layout: pass it on raw", `${body}\n`, SECRET_KEY],
    ["the body in another layout: pass it on raw", JSON.stringify(JSON.parse(body), null, 2), SECRET_KEY],
  ])("gets an explanation when it matches %s", (how, changed, secretKey) => {
    expect(() => verifyWebhook(changed, headers, secretKey, { now })).toThrow(`It matches ${how}`);
  });

  test("is not guessed at otherwise", () => {
    expect(() => verifyWebhook(body, headers, "another secret\n", { now })).toThrow(
      /^No signature matches: another secret, or a changed delivery\.$/,
    );
  });

  test.each([
    ["was parsed before", JSON.parse(body)],
    ["is an ArrayBuffer", new TextEncoder().encode(body).buffer],
  ])("gets an explanation when the body %s", (_, notRaw) => {
    expect(() => verifyWebhook(notRaw, headers, SECRET_KEY)).toThrow(
      new TypeError(
        "The body is neither a string nor a Uint8Array: pass the raw body, before anything parses it.",
      ),
    );
  });

  test.each([[""], [undefined]])("gets an explanation when the secret is %j", (secretKey) => {
    // A caller without types can pass undefined, as an unset variable of the environment is.
    expect(() => verifyWebhook(body, headers, secretKey as string)).toThrow(
      new TypeError("secretKey is missing: pass the one of your subscription."),
    );
  });
});
