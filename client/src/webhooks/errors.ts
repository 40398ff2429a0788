/** Why a delivery was refused. */
export type WebhookRefusal =
  /** One of `webhook-id`, `webhook-timestamp` and `webhook-signature` is missing or empty. */
  | "missing-header"
  /** `webhook-timestamp` is not a whole number of seconds. */
  | "invalid-timestamp"
  /** The attempt was made more than five minutes ago: perhaps a recorded one, sent again. */
  | "timestamp-too-old"
  /** The attempt will be made in more than five minutes: one of the two clocks is wrong. */
  | "timestamp-too-new"
  /** Another secret, or something was changed on the way. */
  | "no-matching-signature"
  /** Signed with the secret, but no event: it does not come from this service. */
  | "invalid-payload";

/** A delivery that can't be trusted to come from the service as it is. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}
