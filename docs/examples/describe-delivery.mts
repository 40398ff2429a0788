// Verifies one delivery with the client, and says what it is.
import { verifyWebhook, WebhookVerificationError } from "@refund-contract/client/webhooks";

export function describeDelivery(rawBody: string | Uint8Array, headers: Headers): string {
  try {
    const event = verifyWebhook(rawBody, headers, process.env.WEBHOOK_SECRET ?? "");
    return `${event.type} ${event.sequence}`;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}
