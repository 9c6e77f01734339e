"""Checks the Webhook-Signature of a body on standard input, with the standard library alone:
HOOKPROOF_SECRET=... python3 hmac-verify.py <timestamp> <event id> <signature> < body.json
"""

import base64
import hashlib
import hmac
import os
import re
import sys
import time


def is_genuine(secret: str, timestamp: str, event_id: str, signature: str, body: bytes, now: int) -> bool:
    # The body has to be the bytes as received: parse it afterwards.
    if not re.fullmatch(r"[0-9]{1,15}", timestamp) or abs(now - int(timestamp)) > 300:
        return False
    # Nothing else ends the id: without its form a part of the body could be moved into it.
    if not re.fullmatch(r"(?ai:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})", event_id):
        return False
    if secret == "":  # everybody can sign with it
        return False
    signed = f"{timestamp}.{event_id}.".encode() + body
    # The key is the secret's text itself, not what it decodes to.
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    expected = base64.urlsafe_b64encode(digest).rstrip(b"=")
    return hmac.compare_digest(expected, signature.encode())  # in constant time


if __name__ == "__main__":
    if not os.environ.get("HOOKPROOF_SECRET") or len(sys.argv) < 4:
        print("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.", file=sys.stderr)
        sys.exit(2)
    now = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    genuine = is_genuine(os.environ["HOOKPROOF_SECRET"], *sys.argv[1:4], sys.stdin.buffer.read(), now)
    print("genuine" if genuine else "refused")
    sys.exit(0 if genuine else 1)
