# A token for the Authorization header of a webhook, with the standard library; the gem jwt has the other algorithms:
#   HOOKPROOF_KEY=private.pem ruby jwt-sign.rb <kid> <listener URL> <tenant's base URL> <event id> < body.json
require "json"
require "openssl"

def base64url(bytes) = [bytes].pack("m0").tr("+/", "-_").delete("=")

def webhook_token(key, kid, url, base_url, event_id, body)
  claims = {
    sub: base_url, aud: url, exp: Time.now.to_i + 300, jti: event_id, htm: "POST",
    htb_s256: base64url(OpenSSL::Digest.digest("SHA256", body)),
  }
  signed = [{ alg: "RS256", kid: kid, typ: "JWT" }, claims].map { |part| base64url(part.to_json) }.join(".")
  "#{signed}.#{base64url(key.sign("SHA256", signed))}"
end

if !File.exist?(ENV["HOOKPROOF_KEY"].to_s) || ARGV.length < 4
  warn "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id."
  exit 2
end
key = OpenSSL::PKey.read(File.read(ENV.fetch("HOOKPROOF_KEY")))
puts webhook_token(key, *ARGV[0, 4], $stdin.binmode.read)
