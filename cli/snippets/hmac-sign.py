"""The Webhook-Signature of a body on standard input, with the standard library alone:
HOOKPROOF_SECRET=... python3 sign.py <timestamp> <event id> < body.json
"""

import base64
import hashlib
import hmac
import os
import sys


def webhook_signature(secret: str, timestamp: str, event_id: str, body: bytes) -> str:
    signed = f"{timestamp}.{event_id}.".encode() + body
    # The key is the secret's text itself, not what it decodes to.
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


if __name__ == "__main__":
    if not os.environ.get("HOOKPROOF_SECRET") or len(sys.argv) < 3:
        print("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.", file=sys.stderr)
        sys.exit(2)
    print(webhook_signature(os.environ["HOOKPROOF_SECRET"], *sys.argv[1:3], sys.stdin.buffer.read()))
