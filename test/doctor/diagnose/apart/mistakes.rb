# Mistakes of programs in Ruby, signed by Ruby; the form is that of mistakes.py.
require "json"
require "openssl"
require "base64"
require "uri"
require "cgi"

SECRET = "wV3tq0-kUuO8pXyJ_aZcL6sRnE5hB1mGdF2iT7vKj4A"
T = "1790000000"
ID = "9b2d7c1e-3f4a-4b5c-8d6e-7f8091a2b3c4"
EVENT = { "type" => "user.offboarded", "user" => { "last_login" => "2026-09-21T14:13:20.000Z", "is_admin" => false, "e_mail" => nil }, "tags" => [], "meta" => {}, "links" => ["https://example.org/?a=1&b=<2>"] }.freeze
BODY = JSON.generate(EVENT)
CASES = []
SAME = ["Serialise once", "raw", "as received", "same text", "as it arrived", "bytes"].freeze

def signed(what, cause, fix, message: nil, signed: BODY, sent: BODY, key: SECRET, source: nil)
  message ||= "#{T}.#{ID}.#{signed}"
  digest = OpenSSL::HMAC.digest("SHA256", key, message)
  CASES << { what: what, source: source, cause: cause, fix: fix, secret: SECRET,
             headers: { "Content-Type" => "application/json", "Webhook-Timestamp" => T, "Webhook-Event-Id" => ID, "Webhook-Signature" => Base64.urlsafe_encode64(digest, padding: false) },
             bodyBase64: Base64.strict_encode64(sent) }
end

signed("JSON.pretty_generate", ["indent"], SAME, signed: JSON.pretty_generate(EVENT))
signed("params.to_json of Rails", ["escape"], SAME, signed: BODY.gsub(/[<>&]/) { |c| format("\\u%04x", c.ord) }, source: "https://github.com/razorpay/razorpay-ruby/issues/89")
signed("the hash as text", ["Ruby"], SAME, signed: EVENT.to_s, source: "https://github.com/railslove/ebicsbox/pull/133")
signed("deep_transform_keys(&:camelize)", ["camelCase", "renamed"], SAME, signed: BODY.gsub("last_login", "lastLogin").gsub("is_admin", "isAdmin").gsub("e_mail", "eMail"))
signed("compact, which drops nil", ["null"], SAME, signed: BODY.sub(',"e_mail":null', ""))
signed("Time#iso8601 without milliseconds", ["date"], SAME, signed: BODY.sub(".000Z", "Z"))
signed("to_query, which sorts", ["form"], SAME, signed: "id=7&type=a+b", sent: '{"type":"a b","id":7}', source: "https://github.com/TwilioDevEd/api-snippets/pull/619")
signed("the body read twice, empty the second time", ["mpty"], ["ead"] + SAME, signed: "", source: "https://github.com/discourse/discourse-zoom/pull/144")
signed("Base64.encode64 of the body, with its line breaks", ["base64"], ["ecode"], signed: Base64.encode64(BODY))
signed("CGI.escape of the body", ["percent", "form"], SAME + ["encode"], signed: CGI.escape(BODY))
signed("the three in an array, as text", ["array", "list"], ["timestamp"], message: [T, ID, BODY].to_s)
signed("joined by commas", ["period"], ["period"], message: [T, ID, BODY].join(","))
signed("the time as a float", ["decimals", "fraction"], ["once", "int"], message: "#{T.to_f}.#{ID}.#{BODY}")
signed("chomp!-ed secret that had none, and a space", ["space"], ["trim"], key: "#{SECRET} ")
signed("the secret in capitals", ["capitals", "case"], ["text as it is"], key: SECRET.upcase)
puts JSON.generate(CASES)
