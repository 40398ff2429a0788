require "base64"
require "fileutils"
require "openssl"
require "payments"
require "securerandom"
# A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
RETRIES = JSON.parse(File.read("retries.json")) # what each status means for a refund, by the contract

def refund(api, request)
  4.times do |attempt|
    wait = 0
    begin
      return api.issue_refund(request).payment_status
    rescue Payments::ApiError => e # its code is 0 without a response
      if e.code == 409
        found = Payments::DuplicateRequestKeyProblem.build_from_hash(JSON.parse(e.response_body, symbolize_names: true)).existing
        same_money = found.original_payment_id == request.payment_id && found.amount == request.amount
        return same_money && found.client_reference_id == request.client_reference_id ? found.payment_status : "conflict"
      end
      result = RETRIES[e.code.to_s]
      # This alone shows that no attempt made the refund, of this run or of an earlier one.
      return "none" if result == "none" && e.response_body.to_s.include?("errorDetails")
      return "unknown" if e.code.to_i.between?(300, 499) && result != "again"
      wait = e.response_headers ? e.response_headers["Retry-After"].to_i : 0
    rescue JSON::ParserError # no response that can be read
    end
    sleep(wait + 0.3 * 2**attempt)
  end
  "unknown"
end

def receive(secret, id, timestamp, signatures, body)
  key = Base64.strict_decode64(secret.delete_prefix("whsec_"))
  return 400 if key.bytesize < 24 || !timestamp.match?(/\A\d{1,12}\z/) || (Time.now.to_i - timestamp.to_i).abs > 300

  expected = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.".b + body))}"
  return 400 unless signatures.split.any? { |given| OpenSSL.secure_compare(given, expected) }

  FileUtils.mkdir_p("events")
  half = "events/.#{SecureRandom.uuid}"
  File.open(half, "wb") { |file| file.write(body) && file.fsync }
  File.rename(half, "events/#{id}") # before the response: after a 2xx nothing is sent again; a repeat changes nothing
  204
end

if ARGV[0] == "receive"
  puts receive(ENV.fetch("WEBHOOK_SECRET"), *ARGV[1..], $stdin.binmode.read)
else
  payment, amount, reference = ARGV[1..]
  configuration = Payments::Configuration.new
  configuration.scheme, configuration.host = ENV.fetch("PAYMENTS_URL").split("://")
  configuration.server_index = nil
  configuration.access_token = ENV.fetch("PAYMENTS_TOKEN")
  configuration.timeout = 10
  # The service never redirects, and the generated client would follow with the whole request.
  client = Class.new(Payments::ApiClient) { def build_request(...) = super.tap { |call| call.options[:followlocation] = false } }
  value = Payments::Amount.new(currency: "USD", value: Float(amount))
  ids = { payment_id: payment, client_reference_id: reference, request_key: reference }
  puts refund(Payments::RefundsApi.new(client.new(configuration)), Payments::RefundRequest.new(amount: value, **ids))
end
