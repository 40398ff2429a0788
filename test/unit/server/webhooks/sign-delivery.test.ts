import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { signDelivery } from "../../../../server/webhooks/sign-delivery.ts";
import { SIGNATURE_VECTORS } from "../../../client/signed-deliveries.ts";

const PLAIN = "correct horse battery staple";
const OTHER = "größe 🐎";
const ENCODED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DELIVERY = { webhookId: "msg_1", at: new Date(), body: '{"type":"refund.pending"}' };

describe("a signature", () => {
  test.each(SIGNATURE_VECTORS)("is the one of the fixed vector: $name", (vector) => {
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

  test.each([
    ["its raw option", new Webhook(PLAIN, { format: "raw" }), PLAIN],
    ["whsec_ and base64 of a plain secret", new Webhook(`whsec_${btoa(PLAIN)}`), PLAIN],
    ["a whsec_ secret as it is", new Webhook(ENCODED), ENCODED],
    ["the bytes of other characters", new Webhook(Buffer.from(OTHER), { format: "raw" }), OTHER],
  ])("is verified by the stock library with %s", (_, webhook, secretKey) => {
    const headers = signDelivery([secretKey], DELIVERY);

    expect(webhook.verify(DELIVERY.body, headers)).toEqual({ type: "refund.pending" });
  });
});
