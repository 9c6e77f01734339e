"""Makes tokens the way people get them wrong, with PyJWT and cryptography.

Prints one JSON document: the key set, and a list of cases with the request as sent and the id of the mistake.
"""

import base64
import hashlib
import json

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, utils
from cryptography.hazmat.primitives import hashes

NOW = 1767225600
ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"
BASE = "https://tenant.example.com/id"
URL = f"{BASE}/api/v1/webhooks/incoming/lst_1"
PAYLOAD = {"type": "user.offboarded", "name": "Zoë", "n": [1, 2.5]}
BODY = json.dumps(PAYLOAD, ensure_ascii=False, separators=(",", ":")).encode()


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def public_jwk(alg, kid, key):
    jwk = json.loads(jwt.get_algorithm_by_name(alg).to_jwk(key.public_key()))
    jwk.pop("key_ops", None)
    return {**jwk, "use": "sig", "alg": alg, "kid": kid}


KEYS = {
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "RS256": rsa.generate_private_key(65537, 2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
OTHER = ec.generate_private_key(ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())
JWKS = {"keys": [public_jwk(alg, alg.lower(), key) for alg, key in KEYS.items()] + [public_jwk("ES256", "other", OTHER)]}

cases = []


def claims(**changed):
    right = {"sub": BASE, "aud": URL, "exp": NOW + 300, "jti": ID, "htm": "POST", "htb_s256": b64url(hashlib.sha256(BODY).digest())}
    return {name: value for name, value in {**right, **changed}.items() if value is not None}


def token(members, alg="ES256", key=None, kid=None):
    return jwt.encode(members, key or KEYS[alg], algorithm=alg, headers={"kid": kid or alg.lower()})


def case(mistake, authorization, name=None, now=NOW, jwks=JWKS, timestamp=NOW, says=None, body=BODY, headers=None):
    cases.append({
        "mistake": mistake, "name": name or mistake, "now": now, "jwks": jwks, "says": says,
        "headers": headers or {"Content-Type": "application/json", "Webhook-Timestamp": str(timestamp), "Webhook-Event-Id": ID, "Authorization": authorization},
        "bodyBase64": base64.b64encode(body).decode(),
    })


def claim(mistake, name=None, says=None, now=NOW, timestamp=NOW, body=BODY, **changed):
    case(mistake, f"Bearer {token(claims(**changed))}", name=name, says=says, now=now, timestamp=timestamp, body=body)


for alg in KEYS:
    case(None, f"Bearer {token(claims(), alg)}", name=f"a right token, {alg}")

for name in ["sub", "aud", "exp", "jti", "htm", "htb_s256"]:
    claim(f"claim-{name.replace('_s256', '')}-missing", **{name: None})
claim("claim-sub-trailing-slash", sub=BASE + "/", says=BASE)
claim("claim-sub-swapped", sub=URL)
claim("claim-sub-scheme", sub=BASE.replace("https", "http"))
claim("claim-sub-without-scheme", sub="tenant.example.com/id")
claim("claim-sub-without-scheme", sub="tenant.example.com", name="sub is a host")
claim("claim-sub-origin-only", sub="https://tenant.example.com")
claim("claim-sub-port", sub="https://tenant.example.com:443/id")
claim("claim-sub-case", sub="https://Tenant.example.com/id")
claim("claim-sub-host", sub="http://127.0.0.1:4400/id")
claim("claim-sub-other", sub="my-client")
claim("claim-sub-other-type", sub=17)
claim("claim-aud-trailing-slash", aud=URL + "/")
claim("claim-aud-swapped", aud=BASE)
claim("claim-aud-swapped", aud=BASE + "/", name="aud is the base URL with a slash")
claim("claim-aud-scheme", aud=URL.replace("https", "http"))
claim("claim-aud-port", aud=URL.replace(".com", ".com:443"))
claim("claim-aud-case", aud=URL.replace("lst", "LST"))
claim("claim-aud-host", aud=URL.replace("tenant.example.com", "abc.tunnel.example"))
claim("claim-aud-path-only", aud="/id/api/v1/webhooks/incoming/lst_1")
claim("claim-aud-query", aud=URL + "?a=1")
claim("claim-aud-space", aud=URL + "\n")
claim("claim-aud-listener-id", aud=URL.replace("lst_1", "lst_2"))
claim("claim-aud-list", aud=[URL])
claim("claim-aud-misnamed", aud=None, htu=URL, says="htu")
claim("claim-exp-past", exp=NOW - 37, says="37 s ago")
claim("claim-exp-clock-behind", timestamp=NOW - 40, exp=NOW - 10, says="10 s ago")
claim("claim-exp-clock-ahead", timestamp=NOW + 100, exp=NOW + 700, says="100 s")
claim("claim-exp-too-far", exp=NOW + 3600, says="3000 s")
claim("claim-exp-milliseconds", exp=(NOW + 300) * 1000)
claim("claim-exp-fraction", exp=NOW + 300.5)
case("claim-exp-text", "Bearer " + jwt.api_jws.encode(json.dumps(claims(exp=str(NOW + 300))).encode(), KEYS["ES256"], "ES256", headers={"kid": "es256"}))
claim("claim-nbf", nbf=NOW + 20, says="20 s")
claim("claim-jti-other", jti="6f0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10")
claim("claim-jti-spelling", jti=ID.replace("-", ""))
claim("claim-jti-spelling", jti=f"urn:uuid:{ID}", name="jti as URN")
claim(None, jti=ID.upper(), name="jti in capitals, which is no mistake")
claim("claim-htm-case", htm="post")
claim("claim-htm-other", htm="PUT")

digest = hashlib.sha256(BODY).digest()
claim("claim-htb-hex", htb_s256=digest.hex())
claim("claim-htb-padded", htb_s256=base64.urlsafe_b64encode(digest).decode())
body = next(b for b in (b'{"n":%d}' % n for n in range(99)) if set(b"+/") & set(base64.b64encode(hashlib.sha256(b).digest())))
claim("claim-htb-base64", htb_s256=base64.b64encode(hashlib.sha256(body).digest()).decode(), body=body)
claim("claim-htb-sha1", htb_s256=b64url(hashlib.sha1(BODY).digest()))
claim("claim-htb-sha512", htb_s256=b64url(hashlib.sha512(BODY).digest()))
claim("claim-htb-base64-of-hex", htb_s256=b64url(digest.hex().encode()))
claim("claim-htb-of-signing-input", htb_s256=b64url(hashlib.sha256(f"{NOW}.{ID}.".encode() + BODY).digest()))
claim("claim-htb-malformed", htb_s256="nothing")
claim("claim-htb-unexplained", htb_s256=b64url(hashlib.sha256(b"another body").digest()))
claim("body-spaced", htb_s256=b64url(hashlib.sha256(json.dumps(PAYLOAD).encode()).digest()), says="htb_s256")
claim("body-indented", htb_s256=b64url(hashlib.sha256(json.dumps(PAYLOAD, indent=2, ensure_ascii=False).encode()).digest()))
claim("body-empty", htb_s256=b64url(hashlib.sha256(b"").digest()))

right = token(claims())
head, middle, signature = right.split(".")
raw = base64.urlsafe_b64decode(signature + "==")
case("bearer-missing", right)
case("bearer-other-scheme", f"JWT {right}")
case("bearer-other-scheme", f"Bearer: {right}", name="Bearer with a colon")
case("token-malformed", "Bearer opaque-access-token")
case("token-not-base64url", f"Bearer {head}.{middle}.{base64.urlsafe_b64encode(raw).decode()}")
case("token-alg-hmac", "Bearer " + jwt.encode(claims(), "x" * 43, algorithm="HS256", headers={"kid": "es256"}))
case("token-alg-none", f"Bearer {b64url(json.dumps({'alg': 'none', 'kid': 'es256'}).encode())}.{middle}.")
case("token-alg-other", "Bearer " + jwt.encode(claims(), KEYS["RS256"], algorithm="PS256", headers={"kid": "rs256"}))
case("token-kid-missing", "Bearer " + jwt.encode(claims(), KEYS["ES256"], algorithm="ES256"))
case("token-header-member", "Bearer " + jwt.encode(claims(), KEYS["ES256"], algorithm="ES256", headers={"kid": "es256", "jku": "https://a.example/"}))
der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
case("token-signature-der", f"Bearer {head}.{middle}.{b64url(der)}")
hashed_once = hashlib.sha256(f"{head}.{middle}".encode()).digest()
r, s = utils.decode_dss_signature(KEYS["ES256"].sign(hashed_once, ec.ECDSA(hashes.SHA256())))
case("token-signature-prehashed", f"Bearer {head}.{middle}.{b64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}")
case("kid-of-other-key", f"Bearer {token(claims(), key=OTHER)}", says="other")
case("kid-of-other-key", f"Bearer {token(claims(), kid='unpublished')}", name="a kid nobody published, a key that is", says="es256")
case("kid-unknown", f"Bearer {token(claims(), key=STRANGER, kid='stranger')}")
case("token-signature-unexplained", f"Bearer {token(claims(), key=STRANGER)}")
case("token-alg-of-other-key", f"Bearer {token(claims(), 'RS256', kid='es256')}")
named = JWKS["keys"][0]
case("key-members-missing", f"Bearer {right}", jwks={"keys": [{k: v for k, v in named.items() if k != "use"}]})
case("kid-twice", f"Bearer {right}", jwks={"keys": [named, named]})
case("key-set-bare-key", f"Bearer {right}", jwks=named)
case("key-set-malformed", f"Bearer {right}", jwks={"jwks": 1})
case("key-set-private", f"Bearer {right}", jwks={"keys": [{**named, "d": "AA"}]})

common = {"Content-Type": "application/json", "Webhook-Timestamp": str(NOW), "Webhook-Event-Id": ID}
case("token-missing", "", headers=common)
case("token-in-signature-header", "", headers={**common, "Webhook-Signature": right})
case("credential-of-other-method", "", headers={**common, "Webhook-Signature": "x" * 43})
case("header-misnamed", "", headers={**common, "X-Authorization": f"Bearer {right}"})

print(json.dumps({"url": URL, "baseUrl": BASE, "cases": cases}))
