require "base64"
require "openssl"
require "action_controller/railtie"
require "rack/handler/webrick"

class App < Rails::Application
  config.eager_load = false
  config.logger = Logger.new(nil)
  config.secret_key_base = "of no use here"
  config.hosts = nil
  routes.append { post "/api/v1/webhooks/incoming/:id", to: "listeners#create" }
end

class ListenersController < ActionController::Base
  def signed?(body)
    input = "#{request.headers["Webhook-Timestamp"]}.#{request.headers["Webhook-Event-Id"]}.".b + body.b
    digest = OpenSSL::HMAC.digest("SHA256", ENV.fetch("LISTENER_SECRET"), input)
    right = Base64.urlsafe_encode64(digest, padding: false)
    ActiveSupport::SecurityUtils.secure_compare(right, request.headers["Webhook-Signature"].to_s)
  end

  # --- page
  skip_before_action :verify_authenticity_token, raise: false

  def create
    head(signed?(request.raw_post) ? :ok : :unauthorized)
  end
  # ---

  if ENV["LISTENER"] == "wrong"
    def create
      head(signed?(request.request_parameters.to_json) ? :ok : :unauthorized)
    end
  end
end

App.initialize!
Rack::Handler::WEBrick.run(App, Host: "127.0.0.1", Port: ENV.fetch("PORT").to_i, AccessLog: [], Logger: WEBrick::Log.new(nil, 0))
