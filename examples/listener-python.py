"""A webhook listener with the HMAC method in Python's standard library, and nothing else.

    SIGNING_SECRET=... python3 examples/listener-python.py

Prints its URL, then a line for every event it accepts. Settings, all from the environment: SIGNING_SECRET,
LISTENER_ID (lst_python), PORT (0 takes a free one). It listens on 127.0.0.1 only.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 65_536
MAX_DRAINED_BYTES = 2_000_000
TOLERANCE_SECONDS = 300
RETENTION_SECONDS = 7 * 24 * 60 * 60

TIMESTAMP = re.compile(r"(?:0|[1-9][0-9]{0,14})\Z")
UUID_V4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE)

SECRET = os.environ.get("SIGNING_SECRET", "")
PATH = "/api/v1/webhooks/incoming/" + os.environ.get("LISTENER_ID", "lst_python")


class ProcessedIds:
    """Event ids of the last seven days. In memory: they are lost when the process ends; use a database."""

    def __init__(self):
        self._lock = threading.Lock()
        self._until = {}

    def add(self, event_id):
        """Whether the id is new; looked up and stored in one step."""
        now = time.time()
        with self._lock:
            self._until = {one: until for one, until in self._until.items() if until > now}
            if event_id in self._until:
                return False
            self._until[event_id] = now + RETENTION_SECONDS
            return True


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def check(headers, body, now):
    """The event of a request, or Refused. `headers` gives every value that was sent under a name."""
    for name in ("Webhook-Timestamp", "Webhook-Event-Id", "Content-Type"):
        if len(headers(name)) != 1:
            raise Refused(400, f"{name} must be sent once")
    (timestamp,) = headers("Webhook-Timestamp")
    (event_id,) = headers("Webhook-Event-Id")
    (content_type,) = headers("Content-Type")
    if not TIMESTAMP.match(timestamp):
        raise Refused(400, "Webhook-Timestamp must be Unix seconds")
    if not UUID_V4.match(event_id):
        raise Refused(400, "Webhook-Event-Id must be a UUID of version 4")
    if abs(int(now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise Refused(400, "Webhook-Timestamp is more than 5 minutes off")

    signatures = headers("Webhook-Signature")
    # The key is the text of the secret, not what it decodes to; the body is the bytes as they came.
    signed = f"{timestamp}.{event_id}.".encode("latin-1") + body
    digest = hmac.new(SECRET.encode("utf-8"), signed, hashlib.sha256).digest()
    expected = base64.urlsafe_b64encode(digest).rstrip(b"=")
    # Bytes, because compare_digest refuses texts with characters beyond ASCII.
    if len(signatures) != 1 or not hmac.compare_digest(signatures[0].encode("latin-1"), expected):
        raise Refused(401, "the signature does not match")

    if content_type.split(";")[0].strip().lower() != "application/json" or headers("Content-Encoding"):
        raise Refused(415, "the body must be application/json, and not encoded")
    return event_id, parse(body)


def parse(body):
    """Strict JSON: by itself Python's parser takes NaN and Infinity as well."""

    def refuse(constant):
        raise ValueError(constant)

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON") from None


class Listener(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    processed = ProcessedIds()

    def do_POST(self):
        try:
            body = self.read_body()
            if self.path != PATH:
                raise Refused(404, "there is no such listener")
            event_id, payload = check(lambda name: self.headers.get_all(name, []), body, time.time())
            if not self.processed.add(event_id.lower()):
                raise Refused(409, "this event id was processed before")
        except Refused as refused:
            self.answer(refused.status, {"message": str(refused)})
            return
        run_automation(event_id, payload)
        self.answer(200, {})

    def refuse_method(self):
        self.close_connection = True
        self.answer(405, {"message": "webhooks are sent with POST"}, {"Allow": "POST"})

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse_method

    def read_body(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length):
            self.close_connection = True
            raise Refused(411, "Content-Length is missing")
        if int(length) > MAX_BODY_BYTES:
            # What is under way is read and dropped, or the sender would see a reset and not the answer.
            self.close_connection = True
            left = min(int(length), MAX_DRAINED_BYTES)
            while left > 0 and (chunk := self.rfile.read(min(left, 65_536))):
                left -= len(chunk)
            raise Refused(413, "the body is larger than 65,536 bytes")
        return self.rfile.read(int(length))

    def answer(self, status, value, headers=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def run_automation(event_id, payload):
    """What a customer would do with an event; here it is only told."""
    print(f"event {event_id}: {type(payload).__name__}", flush=True)


def main():
    if SECRET == "":
        sys.exit("SIGNING_SECRET is not set")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Listener)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}{PATH}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
