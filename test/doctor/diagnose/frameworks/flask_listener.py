import base64, hashlib, hmac, json, os
from flask import Flask, request

app = Flask(__name__)
SECRET = os.environ["LISTENER_SECRET"]


def is_signed(headers, body):
    message = f"{headers['Webhook-Timestamp']}.{headers['Webhook-Event-Id']}.".encode() + body
    digest = hmac.new(SECRET.encode(), message, hashlib.sha256).digest()
    right = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(right, headers.get("Webhook-Signature", ""))


if os.environ["LISTENER"] == "wrong":
    @app.post("/api/v1/webhooks/incoming/<listener>")
    def incoming(listener):
        return "", 200 if is_signed(request.headers, json.dumps(request.get_json()).encode()) else 401
else:
    # --- page
    @app.post("/api/v1/webhooks/incoming/<listener>")
    def incoming(listener):
        body = request.get_data()  # before request.json, request.form or request.values
        return "", 200 if is_signed(request.headers, body) else 401
    # ---

app.run("127.0.0.1", int(os.environ["PORT"]))
