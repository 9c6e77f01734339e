"""PyJWT as the other party of security event tokens. Reads one JSON object from standard input, writes one."""

import json
import sys

import jwt

given = json.load(sys.stdin)
key = jwt.PyJWK(given["jwk"]).key
if given["do"] == "verify":
    print(
        json.dumps(
            {
                "header": jwt.get_unverified_header(given["token"]),
                "claims": jwt.decode(
                    given["token"],
                    key,
                    algorithms=[given["alg"]],
                    audience=given["audience"],
                    issuer=given["issuer"],
                    options={"require": ["iss", "iat", "jti", "aud", "events"]},
                ),
            }
        )
    )
else:
    headers = {"kid": given["jwk"]["kid"], "typ": "secevent+jwt"}
    print(json.dumps({"token": jwt.encode(given["claims"], key, given["alg"], headers)}))
