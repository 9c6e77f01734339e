# Checks the token of a webhook whose body is on standard input, with the standard library; the gem jwt has the other
# algorithms, and JWT::JWK::Set the sender's key set, which has the key of the token's kid:
#   HOOKPROOF_KEY=public.pem ruby jwt-verify.rb <listener URL> <tenant's base URL> <event id> <token> < body.json
require "json"
require "openssl"

def base64url(bytes) = [bytes].pack("m0").tr("+/", "-_").delete("=")

def decoded(part)
  bytes = part.tr("-_", "+/").unpack1("m")
  base64url(bytes) == part ? bytes : raise(ArgumentError) # only one text stands for the same bytes
end

def genuine?(key, url, base_url, event_id, token, body, now)
  return false unless event_id.match?(/\A[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/i)
  parts = token.split(".", -1)
  return false unless parts.length == 3
  header, claims = parts.first(2).map { |part| JSON.parse(decoded(part).force_encoding("UTF-8")) }
  # The algorithm is fixed here, and never chosen by the token.
  return false unless header.is_a?(Hash) && claims.is_a?(Hash) && header["alg"] == "RS256"
  return false unless (header.keys & %w[crit b64 jwk jku x5u x5c]).empty?
  return false unless key.verify("SHA256", decoded(parts[2]), parts.first(2).join("."))
  exp, nbf = claims["exp"], claims.fetch("nbf", 0)
  # The body has to be the bytes as received: parse it afterwards.
  body_hash = base64url(OpenSSL::Digest.digest("SHA256", body))
  exp.is_a?(Integer) && exp > now && exp <= now + 600 &&
    nbf.is_a?(Numeric) && nbf <= now &&
    claims["sub"] == base_url && claims["aud"] == url && claims["htm"] == "POST" &&
    claims["jti"].to_s.downcase == event_id.downcase &&
    OpenSSL.secure_compare(body_hash, claims["htb_s256"].to_s)
rescue ArgumentError, JSON::ParserError
  false
end

if !File.exist?(ENV["HOOKPROOF_KEY"].to_s) || ARGV.length < 4
  warn "Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token."
  exit 2
end
key = OpenSSL::PKey.read(File.read(ENV.fetch("HOOKPROOF_KEY")))
genuine = genuine?(key, *ARGV[0, 4], $stdin.binmode.read, (ARGV[4] || Time.now).to_i)
puts genuine ? "genuine" : "refused"
exit genuine
