# Checks the Webhook-Signature of a body on standard input, with the standard library alone:
#   HOOKPROOF_SECRET=... ruby hmac-verify.rb <timestamp> <event id> <signature> < body.json
require "openssl"

# The body has to be the bytes as received, such as request.raw_post: parse it afterwards.
def genuine?(secret, timestamp, event_id, signature, body, now)
  return false unless timestamp.match?(/\A[0-9]{1,15}\z/) && (now - timestamp.to_i).abs <= 300
  # Nothing else ends the id: without its form a part of the body could be moved into it.
  return false unless event_id.match?(/\A[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/i)
  return false if secret.empty? # everybody can sign with it
  # The key is the secret's text itself, not what it decodes to.
  digest = OpenSSL::HMAC.digest("SHA256", secret, "#{timestamp}.#{event_id}.".b + body)
  expected = [digest].pack("m0").tr("+/", "-_").delete("=")
  OpenSSL.secure_compare(expected, signature) # in constant time
end

if ENV["HOOKPROOF_SECRET"].to_s.empty? || ARGV.length < 3
  warn "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature."
  exit 2
end
now = (ARGV[3] || Time.now).to_i
genuine = genuine?(ENV.fetch("HOOKPROOF_SECRET"), ARGV[0], ARGV[1], ARGV[2], $stdin.binmode.read, now)
puts genuine ? "genuine" : "refused"
exit genuine
