"""A token for the Authorization header of a webhook, with PyJWT (pip install pyjwt[crypto]):
HOOKPROOF_KEY=private.pem python3 jwt-sign.py <kid> <listener URL> <tenant's base URL> <event id> < body.json
"""

import base64
import hashlib
import os
import sys
import time

import jwt


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


if __name__ == "__main__":
    if not os.path.exists(os.environ.get("HOOKPROOF_KEY", "")) or len(sys.argv) < 5:
        print("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.", file=sys.stderr)
        sys.exit(2)
    with open(os.environ["HOOKPROOF_KEY"]) as file:
        print(webhook_token(file.read(), *sys.argv[1:5], sys.stdin.buffer.read()))
