"""Signs a body on standard input and sends it, with the standard library alone:
HOOKPROOF_SECRET=... python3 send.py [listener URL] [event id] < body.json
"""

import base64
import hashlib
import hmac
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def send_webhook(url: str, secret: str, event_id: str, body: bytes) -> "tuple[int, bytes]":
    timestamp = str(int(time.time()))  # fresh for each attempt
    # The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
    digest = hmac.new(secret.encode(), f"{timestamp}.{event_id}.".encode() + body, hashlib.sha256).digest()
    headers = {
        "Content-Type": "application/json",
        "Webhook-Timestamp": timestamp,
        "Webhook-Event-Id": event_id,
        "Webhook-Signature": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    }
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.build_opener(NoRedirects).open(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


if __name__ == "__main__":
    if not os.environ.get("HOOKPROOF_SECRET"):
        print("Set HOOKPROOF_SECRET to the listener's secret.", file=sys.stderr)
        sys.exit(2)
    url = sys.argv[1] if len(sys.argv) > 1 else LISTENER
    event_id = sys.argv[2] if len(sys.argv) > 2 else str(uuid.uuid4())
    try:
        status, answer = send_webhook(url, os.environ["HOOKPROOF_SECRET"], event_id, sys.stdin.buffer.read())
    except OSError as error:
        sys.exit(f"no answer: {error}")
    print(status, answer.decode(errors="replace"))
    # 409 says that an earlier attempt with this id was processed.
    sys.exit(0 if status < 300 or status == 409 else 1)
