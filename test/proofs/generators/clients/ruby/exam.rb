# The whole system of a merchant, as small as it can be, for the exam.
require "fileutils"
require "json"
require "securerandom"
require "socket"
require "uri"
require_relative "refund"

STATUSES = %w[PENDING AUTHORIZED TERMINAL_FAILED].freeze
LOCK = Mutex.new

# Each refund is a file, where yours has a database.
def known(reference)
  JSON.parse(File.read("refunds/#{reference}"))
rescue Errno::ENOENT
  nil
end

def store(reference, refund)
  File.write("refunds/#{reference}.new", JSON.generate(refund))
  File.rename("refunds/#{reference}.new", "refunds/#{reference}")
end

def receive(headers, body)
  id, timestamp, signature = %w[id timestamp signature].map { |name| headers["webhook-#{name}"].to_s }
  return 400 unless genuine?(ENV.fetch("WEBHOOK_SECRET"), id, timestamp, signature, body)

  event = read_event(body)
  return 204 unless event&.type.to_s.start_with?("refund.") && STATUSES.include?(event.data.payment_status)

  LOCK.synchronize do
    reference = event.data.client_reference_id
    refund = known(reference) || { "requestKey" => event.data.request_key, "sequence" => 0 }
    newer = event.sequence > refund["sequence"] # otherwise a repeat, or older
    store(reference, refund.merge("sequence" => event.sequence, "status" => event.data.payment_status)) if newer
  end
  204
end

def api_for(order)
  address = URI(order["url"])
  configuration = Payments::Configuration.new
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.server_index = nil
  configuration.access_token = order["token"]
  configuration.timeout = 10
  Payments::RefundsApi.new(WithoutRedirects.new(configuration))
end

def issue(order)
  reference = order["reference"]
  # If it is known, it is the same decision to refund, after a run that did not finish.
  refund = known(reference) || { "requestKey" => SecureRandom.uuid, "sequence" => 0 }
  store(reference, refund)
  amount = Payments::Amount.new(currency: "USD", value: Float(order["amount"]))
  fields = { payment_id: order["paymentId"], amount: amount, client_reference_id: reference }
  status = refund_once(api_for(order), Payments::RefundRequest.new(request_key: refund["requestKey"], **fields))
  LOCK.synchronize do
    refund = known(reference)
    store(reference, refund.merge("status" => status)) if refund["sequence"].zero?
  end
rescue Payments::ApiError, JSON::ParserError
  nil # the outcome is unknown; it is run again with the stored key
end

def handle(socket)
  _method, target = socket.gets.split
  headers = {}
  while (line = socket.gets.chomp) != ""
    name, value = line.split(": ", 2)
    headers[name.downcase] = value
  end
  body = socket.read(headers["content-length"].to_i)
  path, query = target.split("?")
  status, text = 204, ""
  case path
  when "/webhooks" then status = receive(headers, body)
  when "/refund" then issue(JSON.parse(body))
  else status, text = 200, known(URI.decode_www_form(query).to_h["reference"])&.fetch("status", "").to_s
  end
  length = status == 204 ? "" : "Content-Length: #{text.bytesize}\r\n"
  socket.write("HTTP/1.1 #{status} Done\r\nConnection: close\r\n#{length}\r\n#{text}")
ensure
  socket.close
end

FileUtils.mkdir_p("refunds")
server = TCPServer.new("127.0.0.1", Integer(ENV.fetch("PORT")))
server.listen(128)
loop { Thread.new(server.accept) { |socket| handle(socket) } }
