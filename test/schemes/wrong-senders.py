"""Senders that go wrong as people's programs do. Reads one JSON object from standard input, writes a request as JSON."""

import base64
import hashlib
import hmac
import json
import sys
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

given = json.load(sys.stdin)
mistake, body, now = given["mistake"], given["body"], given["now"]
key = serialization.load_pem_private_key(given["pem"].encode(), None) if "pem" in given else None


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token():
    header = {"kid": "k1", "typ": "secevent+jwt"}
    if mistake == "alg-none":
        return jwt.encode(given["claims"], None, "none", header)
    if mistake == "alg-other":
        return jwt.encode(given["claims"], ec.generate_private_key(ec.SECP384R1()), "ES384", header)
    signed = ".".join(
        base64url(json.dumps(part).encode()) for part in ({"alg": "ES256", **header}, given["claims"])
    )
    # What cryptography gives is DER, and goes into the token as it is.
    return signed + "." + base64url(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))


def http_signature():
    url, split = given["url"], urlsplit(given["url"])
    digest = hashlib.sha256(body.encode())
    written = digest.hexdigest() if mistake == "digest-in-hex" else base64.b64encode(digest.digest()).decode()
    lines = [
        ("Content-Type", "application/json"),
        ("Content-Digest", f"sha-256=:{written}:"),
        ("Webhook-Event-Id", "id-1"),
        ("Cache-Control", "no-store"),
        ("Cache-Control", "no-transform"),
    ]
    values = {"@method": "POST", "@target-uri": url, "@authority": split.netloc}
    if mistake == "authority-without-port":
        values["@authority"] = split.hostname
    for name in dict.fromkeys(name for name, _ in lines):
        own = [value for other, value in lines if other == name]
        values[name.lower()] = ("," if mistake == "header-joined-otherwise" else ", ").join(own)
    alg = "ecdsa-p256-sha256" if key else "hmac-sha256"
    names = " ".join(f'"{name}"' for name in values)
    parameters = f'({names});created={now};keyid="k1";alg="{alg}"'
    text = "\n".join(f'"{name}": {value}' for name, value in [*values.items(), ("@signature-params", parameters)])
    if key:
        made = key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
    else:
        made = hmac.new(given["secret"].encode(), text.encode(), hashlib.sha256).digest()
    signature = ("Signature", f"sig1=:{base64.b64encode(made).decode()}:")
    copies = 2 if mistake == "header-twice" else 1
    return [*lines, ("Signature-Input", f"sig1={parameters}"), *[signature] * copies]


if given["scheme"] == "set":
    print(json.dumps({"headers": [("Content-Type", "application/secevent+jwt")], "body": token()}))
else:
    print(json.dumps({"headers": http_signature(), "body": body}))
