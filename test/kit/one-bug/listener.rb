# A listener in Ruby with one bug, which BUG names: ruby listener.rb; it prints its port.
require "base64"
require "json"
require "openssl"
require "socket"

BUG = ENV.fetch("BUG")
SECRET = ENV.fetch("SECRET")
UUID4 = /\A\h{8}-\h{4}-4\h{3}-[89abAB]\h{3}-\h{12}\z/

def status(method, path, headers, body)
  return 404 unless path == "/api/v1/webhooks/incoming/lst_1"
  return 405 unless method == "POST"
  timestamp = headers["webhook-timestamp"].to_s
  event_id = headers["webhook-event-id"].to_s
  return 400 unless timestamp.match?(/\A[1-9]\d{0,15}\z/) && (Time.now.to_i - timestamp.to_i).abs <= 300
  return 400 unless event_id.match?(UUID4)

  input = "#{timestamp}.#{event_id}.#{body}"
  input = "#{event_id}.#{timestamp}.#{body}" if BUG == "order"
  input = "#{timestamp}:#{event_id}:#{body}" if BUG == "separator"
  input = "#{timestamp}.#{event_id.upcase}.#{body}" if BUG == "upper"
  mac = OpenSSL::HMAC.digest("SHA256", SECRET, input)
  name = BUG == "header" ? "x-webhook-signature" : "webhook-signature"
  return 401 unless Base64.urlsafe_encode64(mac, padding: false) == headers[name]
  return 415 unless headers["content-type"].to_s.start_with?("application/json")

  JSON.parse(body)
  200
rescue JSON::ParserError
  400
end

server = TCPServer.new("127.0.0.1", 0)
puts server.addr[1]
$stdout.flush
loop do
  Thread.new(server.accept) do |socket|
    method, path = socket.gets.to_s.split
    headers = {}
    while (line = socket.gets.to_s.chomp) != ""
      name, value = line.split(":", 2)
      headers[name.downcase] = value.to_s.strip
    end
    body = socket.read(headers["content-length"].to_i)
    socket.write("HTTP/1.1 #{status(method, path, headers, body)} x\r\nServer: Ruby\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  rescue SystemCallError
    nil # the other side has gone
  ensure
    socket.close
  end
end
