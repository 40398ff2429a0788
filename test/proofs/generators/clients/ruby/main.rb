require "uri"
require_relative "refund"

Payments.configure do |configuration|
  address = URI(ENV.fetch("PAYMENTS_URL"))
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.server_index = nil
  configuration.access_token = ENV.fetch("ACCESS_TOKEN")
end
refunds = Payments::RefundsApi.new
webhooks = Payments::WebhooksApi.new
run = ENV.fetch("RUN")

last = nil
ENV.fetch("REFUNDS").split(",").each_with_index do |entry, index|
  payment_id, amount = entry.split("=")
  last = "#{run}-exact#{index}"
  refund = refund(refunds, payment_id, amount, last)
  puts "exact#{index}.status=#{refund.payment_status}", "exact#{index}.paymentId=#{refund.payment_id}"
  puts "exact#{index}.reference=#{refund.client_reference_id || "null"}"
end

amount = Payments::Amount.new(currency: "USD", value: 9.99)
request = { payment_id: "pay_recent", amount: amount, client_reference_id: "order-1042" }
refund = refunds.issue_refund(Payments::RefundRequest.new(request_key: "#{run}-pending", **request))
puts "pending.status=#{refund.payment_status}", "pending.reference=#{refund.client_reference_id}"

request = { payment_id: "pay_failed", amount: amount, client_refefence_id: "order-1043" }
refund = refunds.issue_refund(Payments::RefundRequest.new(request_key: "#{run}-failed", **request))
puts "failed.status=#{refund.payment_status}", "failed.errorCode=#{refund.error_details.error_code}"
puts "failed.reference=#{refund.client_reference_id}"

# The error has the body as text: the generated model reads it.
def problem(type)
  yield
rescue Payments::ApiError => e
  [e.code, type.build_from_hash(JSON.parse(e.response_body, symbolize_names: true))]
end

status, invalid = problem(Payments::InvalidRequestProblem) { refund(refunds, "pay_recent", "19.999", "#{run}-invalid") }
puts "invalid.status=#{status}", "invalid.pointer=#{invalid.violations.first.pointer}"
status, duplicate = problem(Payments::DuplicateRequestKeyProblem) { refund(refunds, "pay_recent", "9.99", last) }
puts "duplicate.status=#{status}", "duplicate.errorCode=#{duplicate.error_details.error_code}"
puts "duplicate.existing=#{duplicate.existing.payment_id}", "duplicate.amount=#{duplicate.existing.amount.value}"

{
  "event" => Payments::EventSubscription.new(type: "EVENT", details: ["refund.authorized"]),
  "category" => Payments::CategorySubscription.new(type: "CATEGORY", details: ["PAYMENT"]),
  "all" => Payments::AllSubscription.new(type: "ALL")
}.each do |name, details|
  request = { url: "http://127.0.0.1:9/hooks", secret_key: ENV.fetch("WEBHOOK_SECRET"), subscription_details: details }
  subscription = webhooks.subscribe_to_webhooks(Payments::SubscriptionRequest.new(request))
  puts "subscription.#{name}=#{subscription.subscription_key}"
end

secret, id, body = ENV.values_at("WEBHOOK_SECRET", "WEBHOOK_ID", "WEBHOOK_BODY")
timestamp, signature, old, old_signature =
  ENV.values_at("WEBHOOK_TIMESTAMP", "WEBHOOK_SIGNATURE", "OLD_TIMESTAMP", "OLD_SIGNATURE")
puts "webhook.genuine=#{genuine?(secret, id, timestamp, signature, body)}"
puts "webhook.altered=#{genuine?(secret, id, timestamp, signature, "#{body} ")}"
puts "webhook.old=#{genuine?(secret, id, old, old_signature, body)}"
forged = ENV.fetch("FORGERIES").split(";").any? do |forgery|
  weak, forged_signature = forgery.split("|")
  genuine?(weak, id, timestamp, forged_signature, body)
rescue ArgumentError
  false # the secret is refused
end
puts "webhook.forged=#{forged}"

def fields(data)
  case data
  when Payments::FailedRefundEventData then [*of_refund(data), data.error_details.error_code]
  when Payments::RefundEventData then of_refund(data)
  when Payments::PaymentEventData then [data.payment_id, data.status, data.amount.value]
  when Payments::AccountEventData then [data.account_id]
  when Payments::CustomerEventData then [data.customer_id]
  end
end

def of_refund(data)
  reference = data.client_reference_id || "null"
  [data.payment_id, data.payment_status, reference, data.original_payment_id, data.amount.value, data.request_key]
end

ENV.fetch("EVENTS").each_line.with_index do |line, index|
  event = read_event(line)
  words = event ? [event.type, event.sequence, event.timestamp.strftime("%s%L"), *fields(event.data)] : ["unknown"]
  puts "event#{index}=#{words.join(" ")}"
end
