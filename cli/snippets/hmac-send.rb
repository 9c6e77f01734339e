# Signs a body on standard input and sends it, with the standard library alone:
#   HOOKPROOF_SECRET=... ruby send.rb [listener URL] [event id] < body.json
require "net/http"
require "openssl"
require "securerandom"

LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"

def send_webhook(url, secret, event_id, body)
  timestamp = Time.now.to_i.to_s # fresh for each attempt
  # The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
  digest = OpenSSL::HMAC.digest("SHA256", secret, "#{timestamp}.#{event_id}.".b + body)
  uri = URI(url)
  request = Net::HTTP::Post.new(
    uri,
    "Content-Type" => "application/json",
    "Webhook-Timestamp" => timestamp,
    "Webhook-Event-Id" => event_id,
    "Webhook-Signature" => [digest].pack("m0").tr("+/", "-_").delete("="),
  )
  request.body = body
  limits = { open_timeout: 10, read_timeout: 10, use_ssl: uri.scheme == "https" }
  Net::HTTP.start(uri.host, uri.port, **limits) { |http| http.request(request) }
end

if ENV["HOOKPROOF_SECRET"].to_s.empty?
  warn "Set HOOKPROOF_SECRET to the listener's secret."
  exit 2
end
begin
  url, event_id = ARGV[0] || LISTENER, ARGV[1] || SecureRandom.uuid
  answer = send_webhook(url, ENV.fetch("HOOKPROOF_SECRET"), event_id, $stdin.binmode.read)
rescue SystemCallError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError => error
  abort "no answer: #{error.message}"
end
puts "#{answer.code} #{answer.body}"
# 409 says that an earlier attempt with this id was processed.
exit answer.code.to_i < 300 || answer.code == "409"
