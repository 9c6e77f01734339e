"""Reads tokens with PyJWT. In: JSON lines of token, jwk, alg, url, bodyBase64. Out: what it found, line by line."""

import base64
import hashlib
import json
import sys

import jwt


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


for line in sys.stdin:
    given = json.loads(line)
    try:
        claims = jwt.decode(
            given["token"],
            jwt.PyJWK(given["jwk"]).key,
            algorithms=[given["alg"]],
            audience=given["url"],
            options={"require": ["sub", "aud", "exp", "jti"]},
        )
        body = base64.b64decode(given["bodyBase64"])
        found = {
            "header": jwt.get_unverified_header(given["token"]),
            "claims": claims,
            "bodyHash": base64url(hashlib.sha256(body).digest()),
        }
    except jwt.PyJWTError as error:
        found = {"error": type(error).__name__}
    print(json.dumps(found))
