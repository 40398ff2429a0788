/** Why a delivery was refused. */
export type WebhookRefusal =
  /** One of `webhook-id`, `webhook-timestamp` and `webhook-signature` is missing or empty. */
  | "missing-header"
  /** `webhook-timestamp` is not a whole number of seconds. */
  | "invalid-timestamp"
  /** The attempt was made more than five minutes ago: it may be a replay. */
  | "timestamp-too-old"
  /** The timestamp is more than five minutes in the future: one of the two clocks is wrong. */
  | "timestamp-too-new"
  /** Signed with another secret, or changed on the way. */
  | "no-matching-signature"
  /** Signed with the secret, but not an event: it does not come from this service. */
  | "invalid-payload";

/** A delivery that could not be verified. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}
