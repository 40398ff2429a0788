import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { signDelivery } from "../../../../server/webhooks/sign-delivery.ts";

type Vector = {
  readonly name: string;
  readonly secretKey: string;
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
  readonly signature: string;
};

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL("../../../fixtures/webhook-signatures.json", import.meta.url), "utf8"),
);

const PLAIN = "correct horse battery staple";
const OTHER = "größe 🐎";
const ENCODED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DELIVERY = { webhookId: "msg_1", at: new Date(), body: '{"type":"refund.pending"}' };

describe("a signature", () => {
  /** @clause 4.2 10.2 @decision D22 */
  describe("is the one of each fixed vector", () => {
    test.each(vectors)("$name", (vector) => {
      const { secretKey, id: webhookId, timestamp, body, signature } = vector;

      const headers = signDelivery([secretKey], { webhookId, at: new Date(timestamp * 1_000 + 999), body });

      expect(headers).toEqual({
        "content-type": "application/json",
        "user-agent": "refund-contract",
        "webhook-id": webhookId,
        "webhook-timestamp": `${timestamp}`,
        "webhook-signature": signature,
      });
    });
  });

  test.each([
    ["its raw option", new Webhook(PLAIN, { format: "raw" }), PLAIN],
    ["whsec_ and base64 of a plain secret", new Webhook(`whsec_${btoa(PLAIN)}`), PLAIN],
    ["a whsec_ secret as it is", new Webhook(ENCODED), ENCODED],
    ["the bytes of other characters", new Webhook(Buffer.from(OTHER), { format: "raw" }), OTHER],
    [
      "whsec_ and base64 of other characters",
      new Webhook(`whsec_${Buffer.from(OTHER).toString("base64")}`),
      OTHER,
    ],
  ])("is verified by the stock library with %s", (_, webhook, secretKey) => {
    const headers = signDelivery([secretKey], DELIVERY);

    expect(webhook.verify(DELIVERY.body, headers)).toEqual({ type: "refund.pending" });
  });

  /** @clause 10.2 @decision D22 */
  test.each([
    ["the body", { ...DELIVERY, body: '{"type":"refund.pendinG"}' }, {}],
    ["the id", DELIVERY, { "webhook-id": "msg_2" }],
    ["the timestamp", DELIVERY, { "webhook-timestamp": `${Math.floor(Date.now() / 1_000) - 1}` }],
    ["the signature", DELIVERY, { "webhook-signature": `v1,${btoa("x".repeat(32))}` }],
    ["the version", DELIVERY, { "webhook-signature": "v2,AAAA" }],
  ])("does not hold when somebody changes %s", (_, { body }, changed) => {
    const headers = { ...signDelivery([PLAIN], DELIVERY), ...changed };

    expect(() => new Webhook(PLAIN, { format: "raw" }).verify(body, headers)).toThrow(
      "No matching signature found",
    );
  });

  /** @clause 10.4 @decision D22 */
  test("is one of two while a secret replaces another, and each is verified alone", () => {
    const { "webhook-signature": both, ...headers } = signDelivery([ENCODED, PLAIN], DELIVERY);

    const [ofEncoded, ofPlain, ...more] = both.split(" ");

    expect(more).toEqual([]);
    for (const [webhook, signature, other] of [
      [new Webhook(ENCODED), ofEncoded, ofPlain],
      [new Webhook(PLAIN, { format: "raw" }), ofPlain, ofEncoded],
    ] as const) {
      const verify = (text = "") => webhook.verify(DELIVERY.body, { ...headers, "webhook-signature": text });
      expect([verify(signature), verify(both)]).toEqual(Array(2).fill({ type: "refund.pending" }));
      expect(() => verify(other)).toThrow("No matching signature found");
    }
  });

  test("does not hold under another secret", () => {
    const headers = signDelivery(["another"], DELIVERY);

    expect(() => new Webhook(PLAIN, { format: "raw" }).verify(DELIVERY.body, headers)).toThrow(
      "No matching signature found",
    );
  });

  test.each([
    [-302, "Message timestamp too old"],
    [-298, undefined],
    [298, undefined],
    [302, "Message timestamp too new"],
  ])("made %d seconds away from the receiver's clock is taken within 300 s", (seconds, error) => {
    const at = new Date(Date.now() + seconds * 1_000);
    const headers = signDelivery([PLAIN], { ...DELIVERY, at });
    const verify = () => new Webhook(PLAIN, { format: "raw" }).verify(DELIVERY.body, headers);

    if (error === undefined) expect(verify()).toEqual({ type: "refund.pending" });
    else expect(verify).toThrow(error);
  });
});
