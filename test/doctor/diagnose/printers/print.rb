# What Ruby prints; the arguments are a plain body and one with numbers.
require "json"
require "base64"
require "cgi"
plain, numbers = ARGV
value = JSON.parse(plain)
puts JSON.generate(
  "Ruby, JSON.pretty_generate" => JSON.pretty_generate(value),
  "Ruby, Hash#inspect" => value.inspect,
  "Ruby, numbers" => JSON.generate(JSON.parse(numbers)),
  "Ruby, compact" => JSON.generate(value.compact),
  "Ruby, Base64.encode64" => Base64.encode64(plain),
  "Ruby, CGI.escape" => CGI.escape(plain),
  "Ruby, to_json twice" => plain.to_json,
  "Ruby, CGI.escapeHTML" => CGI.escapeHTML(plain),
)
