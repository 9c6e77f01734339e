# The Webhook-Signature of a body on standard input, with the standard library alone:
#   HOOKPROOF_SECRET=... ruby sign.rb <timestamp> <event id> < body.json
require "openssl"

def webhook_signature(secret, timestamp, event_id, body)
  # The key is the secret's text itself, not what it decodes to.
  digest = OpenSSL::HMAC.digest("SHA256", secret, "#{timestamp}.#{event_id}.".b + body)
  [digest].pack("m0").tr("+/", "-_").delete("=")
end

if ENV["HOOKPROOF_SECRET"].to_s.empty? || ARGV.length < 2
  warn "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id."
  exit 2
end
puts webhook_signature(ENV.fetch("HOOKPROOF_SECRET"), ARGV[0], ARGV[1], $stdin.binmode.read)
