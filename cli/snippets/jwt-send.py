"""Sends a body on standard input with a token for it, with PyJWT (pip install pyjwt[crypto]):
HOOKPROOF_KEY=private.pem python3 send.py <kid> [listener URL] [event id] < body.json
"""

import base64
import hashlib
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

import jwt

LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local"


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def webhook_token(key: str, kid: str, url: str, base_url: str, event_id: str, body: bytes) -> str:
    body_hash = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    claims = {
        "sub": base_url,
        "aud": url,
        "exp": int(time.time()) + 300,
        "jti": event_id,
        "htm": "POST",
        "htb_s256": body_hash,
    }
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})


def send_webhook(url: str, token: str, event_id: str, body: bytes) -> "tuple[int, bytes]":
    headers = {
        "Content-Type": "application/json",
        "Webhook-Timestamp": str(int(time.time())),
        "Webhook-Event-Id": event_id,
        "Authorization": f"Bearer {token}",
    }
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.build_opener(NoRedirects).open(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


if __name__ == "__main__":
    if not os.path.exists(os.environ.get("HOOKPROOF_KEY", "")) or len(sys.argv) < 2:
        print("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.", file=sys.stderr)
        sys.exit(2)
    kid = sys.argv[1]
    url = sys.argv[2] if len(sys.argv) > 2 else LISTENER
    event_id = sys.argv[3] if len(sys.argv) > 3 else str(uuid.uuid4())
    base_url = url.split("/api/v1/")[0]  # the tenant's
    body = sys.stdin.buffer.read()
    with open(os.environ["HOOKPROOF_KEY"]) as file:
        token = webhook_token(file.read(), kid, url, base_url, event_id, body)  # fresh for each attempt
    try:
        status, answer = send_webhook(url, token, event_id, body)
    except OSError as error:
        sys.exit(f"no answer: {error}")
    print(status, answer.decode(errors="replace"))
    # 409 says that an earlier attempt with this id was processed.
    sys.exit(0 if status < 300 or status == 409 else 1)
