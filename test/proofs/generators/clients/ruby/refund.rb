require "base64"
require "openssl"
require "payments"

def refund(api, payment_id, amount, request_key)
  api.issue_refund(Payments::RefundRequest.new(
    payment_id: payment_id,
    # A Float: a BigDecimal would become a text in JSON, and be refused.
    amount: Payments::Amount.new(currency: "USD", value: Float(amount)),
    request_key: request_key
  ))
end

def genuine?(secret, id, timestamp, signatures, body)
  return false unless timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= 300

  key = Base64.strict_decode64(secret.delete_prefix("whsec_")) # raises if it isn't base64
  raise ArgumentError, "the secret is so short that others could guess it" if key.bytesize < 24

  expected = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{body}"))}"
  signatures.split.any? { |signature| OpenSSL.secure_compare(signature, expected) }
end

EVENTS = {
  "refund.pending" => Payments::RefundPendingEvent,
  "refund.authorized" => Payments::RefundAuthorizedEvent,
  "refund.terminal_failed" => Payments::RefundTerminalFailedEvent,
  "payment.settled" => Payments::PaymentSettledEvent,
  "payment.failed" => Payments::PaymentFailedEvent,
  "payment.covered" => Payments::PaymentCoveredEvent,
  "account.linked" => Payments::AccountLinkedEvent,
  "account.unlinked" => Payments::AccountUnlinkedEvent,
  "customer.created" => Payments::CustomerCreatedEvent
}.freeze

# The event as an object of its own class, or nil if it is newer than this client.
def read_event(body)
  event = JSON.parse(body, symbolize_names: true)
  EVENTS[event[:type]]&.build_from_hash(event)
end
