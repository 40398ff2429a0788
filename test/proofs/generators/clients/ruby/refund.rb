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

# The service never redirects, and the generated client would follow with the whole request.
class WithoutRedirects < Payments::ApiClient
  def build_request(...)
    super.tap { |request| request.options[:followlocation] = false }
  end
end

# Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or nil if none was
# made. After an error, repeat it later with the same requestKey.
def refund_once(api, request)
  attempt = 0
  begin
    api.issue_refund(request).payment_status
  rescue Payments::ApiError, JSON::ParserError => e
    status = e.respond_to?(:code) ? e.code.to_i : 0
    return existing_status(request, e) if status.between?(300, 499) && status != 429
    raise if attempt == 3

    headers = e.respond_to?(:response_headers) && e.response_headers
    sleep((headers ? headers["Retry-After"].to_i : 0) + 0.3 * 2**attempt)
    attempt += 1
    retry
  end
end

# The status of the refund that has the requestKey, if it is the one that was requested.
def existing_status(request, error)
  return unless error.code == 409

  body = JSON.parse(error.response_body, symbolize_names: true)
  existing = Payments::DuplicateRequestKeyProblem.build_from_hash(body).existing
  ours = existing.original_payment_id == request.payment_id && existing.amount.value == request.amount.value
  existing.payment_status if ours
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
