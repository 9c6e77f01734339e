# Sends a body on standard input with a token for it, with the standard library; the gem jwt has the other algorithms:
#   HOOKPROOF_KEY=private.pem ruby send.rb <kid> [listener URL] [event id] < body.json
require "json"
require "net/http"
require "openssl"
require "securerandom"

LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"

def base64url(bytes) = [bytes].pack("m0").tr("+/", "-_").delete("=")

def webhook_token(key, kid, url, base_url, event_id, body)
  claims = {
    sub: base_url, aud: url, exp: Time.now.to_i + 300, jti: event_id, htm: "POST",
    htb_s256: base64url(OpenSSL::Digest.digest("SHA256", body)),
  }
  signed = [{ alg: "RS256", kid: kid, typ: "JWT" }, claims].map { |part| base64url(part.to_json) }.join(".")
  "#{signed}.#{base64url(key.sign("SHA256", signed))}"
end

def send_webhook(url, token, event_id, body)
  uri = URI(url)
  request = Net::HTTP::Post.new(
    uri,
    "Content-Type" => "application/json",
    "Webhook-Timestamp" => Time.now.to_i.to_s,
    "Webhook-Event-Id" => event_id,
    "Authorization" => "Bearer #{token}",
  )
  request.body = body
  limits = { open_timeout: 10, read_timeout: 10, use_ssl: uri.scheme == "https" }
  Net::HTTP.start(uri.host, uri.port, **limits) { |http| http.request(request) }
end

if !File.exist?(ENV["HOOKPROOF_KEY"].to_s) || ARGV.length < 1
  warn "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid."
  exit 2
end
begin
  kid, url, event_id = ARGV[0], ARGV[1] || LISTENER, ARGV[2] || SecureRandom.uuid
  body = $stdin.binmode.read
  key = OpenSSL::PKey.read(File.read(ENV.fetch("HOOKPROOF_KEY")))
  base_url = url.split("/api/v1/").first # the tenant's
  token = webhook_token(key, kid, url, base_url, event_id, body) # fresh for each attempt
  answer = send_webhook(url, token, event_id, body)
rescue SystemCallError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError => error
  abort "no answer: #{error.message}"
end
puts "#{answer.code} #{answer.body}"
# 409 says that an earlier attempt with this id was processed.
exit answer.code.to_i < 300 || answer.code == "409"
