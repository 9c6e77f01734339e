require "base64"
require "json"
require "openssl"
require "sinatra/base"

class Listener < Sinatra::Base
  set :bind, "127.0.0.1"
  set :port, ENV.fetch("PORT").to_i
  set :server, :webrick
  set :environment, :production

  def signed?(body)
    input = "#{request.env["HTTP_WEBHOOK_TIMESTAMP"]}.#{request.env["HTTP_WEBHOOK_EVENT_ID"]}.".b + body.b
    digest = OpenSSL::HMAC.digest("SHA256", ENV.fetch("LISTENER_SECRET"), input)
    Rack::Utils.secure_compare(Base64.urlsafe_encode64(digest, padding: false), request.env["HTTP_WEBHOOK_SIGNATURE"].to_s)
  end

  if ENV["LISTENER"] == "wrong"
    post("/*") { status(signed?(JSON.pretty_generate(JSON.parse(request.body.read))) ? 200 : 401) }
  else
    # --- page
    post "/api/v1/webhooks/incoming/:id" do
      request.body.rewind
      status(signed?(request.body.read) ? 200 : 401)
    end
    # ---
  end
  run!
end
