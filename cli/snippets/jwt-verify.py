"""Checks the token of a webhook whose body is on standard input, with PyJWT (pip install pyjwt[crypto]):
HOOKPROOF_KEY=public.pem python3 jwt-verify.py <listener URL> <tenant's base URL> <event id> <token> < body.json

The key is the one of the sender's key set that the token's kid names; jwt.PyJWKClient(url) fetches it.
"""

import base64
import hashlib
import hmac
import os
import re
import sys
import time

import jwt

REFUSED_IN_HEADER = {"crit", "b64", "jwk", "jku", "x5u", "x5c"}
UUID = r"(?ai:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"


def is_canonical(part: str) -> bool:
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() == part


def is_genuine(key: str, url: str, base_url: str, event_id: str, token: str, body: bytes, now: int) -> bool:
    # The library reads over what is no base64url, and over bits that it drops: only one text stands for the same bytes.
    if not re.fullmatch(r"(?:[A-Za-z0-9_-]+\.){2}[A-Za-z0-9_-]+", token) or not re.fullmatch(UUID, event_id):
        return False
    try:
        if any(not is_canonical(part) for part in token.split(".")):
            return False
        header = jwt.get_unverified_header(token)
        # The algorithm is fixed here, and never taken from the token. Times are checked below, against one clock.
        off = {"verify_aud": False, "verify_exp": False, "verify_nbf": False, "verify_iat": False}
        off |= {"verify_sub": False, "verify_jti": False}
        claims = jwt.decode(token, key, algorithms=["RS256"], options=off)
    except (jwt.PyJWTError, ValueError, RecursionError):  # the last for a header that is nested deeply
        return False
    # The body has to be the bytes as received: parse it afterwards.
    body_hash = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    exp, nbf = claims.get("exp"), claims.get("nbf", 0)
    return (
        not REFUSED_IN_HEADER & header.keys()
        and claims.get("sub") == base_url
        and claims.get("aud") == url
        and type(exp) is int
        and now < exp <= now + 600
        and type(nbf) in (int, float)
        and nbf <= now
        and str(claims.get("jti")).lower() == event_id.lower()
        and claims.get("htm") == "POST"
        and hmac.compare_digest(str(claims.get("htb_s256")).encode(), body_hash.encode())
    )


if __name__ == "__main__":
    if not os.path.exists(os.environ.get("HOOKPROOF_KEY", "")) or len(sys.argv) < 5:
        print("Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.", file=sys.stderr)
        sys.exit(2)
    with open(os.environ["HOOKPROOF_KEY"]) as file:
        pem = file.read()
    now = int(sys.argv[5]) if len(sys.argv) > 5 else int(time.time())
    genuine = is_genuine(pem, *sys.argv[1:5], sys.stdin.buffer.read(), now)
    print("genuine" if genuine else "refused")
    sys.exit(0 if genuine else 1)
