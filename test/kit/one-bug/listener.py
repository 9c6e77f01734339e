"""A listener in Python with one bug, which BUG names: python3 listener.py; it prints its port."""
import base64, hashlib, hmac, json, os, re, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BUG = os.environ["BUG"]
SECRET = os.environ["SECRET"]


def expected(timestamp, event_id, body):
    key = SECRET.encode()
    if BUG == "decoded":
        key = base64.urlsafe_b64decode(SECRET + "=" * (-len(SECRET) % 4))
    if BUG == "newline":
        key = (SECRET + "\n").encode()
    if BUG == "dumps":
        body = json.dumps(json.loads(body)).encode()
    if BUG == "lower":
        event_id = str(uuid.UUID(event_id))
    mac = hmac.new(key, f"{timestamp}.{event_id}.".encode() + body, hashlib.sha256)
    if BUG == "hex":
        return mac.hexdigest()
    if BUG == "base64":
        return base64.b64encode(mac.digest()).decode()
    return base64.urlsafe_b64encode(mac.digest()).rstrip(b"=").decode()


class Listener(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def status(self, body):
        headers = self.headers
        if self.path != "/api/v1/webhooks/incoming/lst_1":
            return 404
        if self.command != "POST":
            return 405
        if len(body) > 65536:
            return 413
        timestamp, event_id = headers.get("Webhook-Timestamp", ""), headers.get("Webhook-Event-Id", "")
        uuid4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
        if not re.fullmatch("[1-9][0-9]{0,15}", timestamp) or abs(time.time() - int(timestamp)) > 300:
            return 400
        if not re.fullmatch(uuid4, event_id, re.I) or "Content-Type" not in headers:
            return 400
        try:
            wanted = expected(timestamp, event_id, body)
        except ValueError:
            return 400
        if not hmac.compare_digest(wanted.encode(), headers.get("Webhook-Signature", "").encode()):
            return 401
        if not headers["Content-Type"].startswith("application/json"):
            return 415
        try:
            json.loads(body)
        except ValueError:
            return 400
        return 200

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST


server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
print(server.server_port, flush=True)
server.serve_forever()
