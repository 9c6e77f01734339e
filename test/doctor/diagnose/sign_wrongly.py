"""Signs webhooks the way people get it wrong, with nothing but Python's own library.

Prints one JSON document: a list of cases, each with the request as sent and the id of the mistake.
"""

import base64
import datetime
import hashlib
import hmac
import json
import unicodedata
import urllib.parse

SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka--xw_R8"
SECRETS = {"whsec": "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "hex": "0f" * 32}
T = 1767225600
ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"
PAYLOAD = {"type": "user.offboarded", "name": "Zoë", "url": "https://a.example/b?c=<d>&e", "ok": True, "none": None, "n": [1, 2.5]}
BODY = json.dumps(PAYLOAD, ensure_ascii=False, separators=(",", ":")).encode()


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def mac(key, message, hash="sha256"):
    return hmac.new(key, message, hash).digest()


def message(body, t=T, i=ID):
    return f"{t}.{i}.".encode() + body


cases = []


def case(mistake, signature, body=BODY, secret=SECRET, t=T, i=ID, name=None):
    cases.append({
        "mistake": mistake,
        "name": name or mistake,
        "secret": secret,
        "headers": {"Content-Type": "application/json", "Webhook-Timestamp": str(t), "Webhook-Event-Id": i, "Webhook-Signature": signature},
        "bodyBase64": base64.b64encode(body).decode(),
    })


def keyed(mistake, key, secret=SECRET, name=None):
    case(mistake, b64url(mac(key, message(BODY))), secret=secret, name=name)


def input_of(mistake, text, name=None):
    case(mistake, b64url(mac(SECRET.encode(), text)), name=name)


def signed_body(mistake, signed, sent=BODY, name=None):
    case(mistake, b64url(mac(SECRET.encode(), message(signed))), body=sent, name=name)


raw = SECRET.encode()
decoded = base64.urlsafe_b64decode(SECRET + "=")
keyed("secret-base64url-decoded", decoded)
keyed("secret-base64-decoded", base64.b64decode("".join(c for c in SECRET if c not in "-_") + "==="), name="b64decode, which drops - and _")
keyed("secret-base64-decoded", base64.b64decode("ab+/" * 11), secret="ab+/" * 11)
keyed("secret-hex-decoded", bytes.fromhex(SECRETS["hex"]), secret=SECRETS["hex"])
for end in ["\n", "\r\n"]:
    keyed("secret-newline", raw + end.encode(), name=f"secret and {end!r}")
keyed("secret-space", raw + b" ")
keyed("secret-space", b" " + raw, name="space before the secret")
keyed("secret-trimmed", raw, secret=SECRET + "\n")
keyed("secret-quoted", b'"' + raw + b'"')
keyed("secret-quoted", b"'" + raw + b"'", name="secret in single quotes")
keyed("secret-unquoted", raw, secret=f'"{SECRET}"')
keyed("secret-prefix-added", b"whsec_" + raw)
keyed("secret-prefix-removed", SECRETS["whsec"][6:].encode(), secret=SECRETS["whsec"])
keyed("secret-prefix-removed-and-decoded", base64.b64decode(SECRETS["whsec"][6:] + "="), secret=SECRETS["whsec"])
keyed("secret-prefix-removed-and-decoded", base64.b64decode(SECRET + "="), secret="whsec_" + SECRET, name="a prefix, and b64decode, which drops - and _")
for text in ["", "undefined", "null", "None"]:
    keyed("secret-missing", text.encode(), name=f"secret {text!r}")
keyed("secret-decoded-to-text", decoded.decode("latin-1").encode(), name="atob")
keyed("secret-decoded-to-text", decoded.decode("utf-8", "replace").encode(), name="decoded, then U+FFFD")
keyed("secret-other-alphabet", SECRET.replace("-", "+").replace("_", "/").encode())
keyed("secret-padding", raw + b"=")
keyed("secret-encoded", base64.b64encode(raw))
keyed("secret-encoded", raw.hex().encode(), name="secret in hex")
keyed("secret-encoded", decoded.hex().encode(), name="decoded secret in hex")
keyed("secret-hashed", hashlib.sha256(raw).digest())
keyed("secret-utf16", SECRET.encode("utf-16-le"))
keyed("secret-bom", SECRET.encode("utf-8-sig"))
keyed("secret-case", SECRET.lower().encode())

t, i = str(T).encode(), ID.encode()
input_of("input-id-first", b".".join([i, t, BODY]))
input_of("input-without-id", b".".join([t, BODY]))
input_of("input-without-timestamp", b".".join([i, BODY]))
input_of("input-body-only", BODY)
input_of("input-without-body", b".".join([t, i]))
for order in [[BODY, t, i], [t, BODY, i], [BODY, i, t], [i, BODY, t]]:
    input_of("input-other-order", b".".join(order), name=f"order of {[part[:4].decode() for part in order]}")
input_of("input-no-separator", t + i + BODY)
input_of("input-no-separator", t + b"." + i + BODY, name="no period before the body")
for separator in [":", "\n", "|", ",", "-", " ", "_", ";", "/"]:
    input_of("input-other-separator", separator.encode().join([t, i, BODY]), name=f"separator {separator!r}")
input_of("input-prefix", b"v1." + message(BODY))

input_of("timestamp-signed-in-milliseconds", message(BODY, t=T * 1000))
for text in [datetime.datetime.fromtimestamp(T, datetime.timezone.utc).isoformat(), "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"]:
    input_of("timestamp-signed-as-date", message(BODY, t=text), name=f"timestamp {text}")
input_of("timestamp-signed-with-fraction", message(BODY, t=float(T)))
for away in [1, -1, 3]:
    input_of("timestamp-of-another-second", message(BODY, t=T + away), name=f"timestamp {away:+}")
input_of("event-id-signed-in-other-case", message(BODY, i=ID.upper()))
input_of("event-id-signed-without-hyphens", message(BODY, i=ID.replace("-", "")))

signed_body("body-compact", BODY, sent=json.dumps(PAYLOAD).encode())
signed_body("body-spaced", json.dumps(PAYLOAD).encode())
signed_body("body-spaced", json.dumps(PAYLOAD, ensure_ascii=False).encode(), name="json.dumps(ensure_ascii=False)")
for indent in [2, 4, "\t"]:
    signed_body("body-indented", json.dumps(PAYLOAD, indent=indent, ensure_ascii=False).encode(), name=f"indent {indent!r}")
    signed_body("body-compact", BODY, sent=json.dumps(PAYLOAD, indent=indent, ensure_ascii=False).encode(), name=f"sent with indent {indent!r}")
signed_body("body-indented", json.dumps(PAYLOAD, indent=2).encode(), name="indent and escapes")
signed_body("body-keys-sorted", json.dumps(PAYLOAD, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
signed_body("body-keys-sorted", json.dumps(PAYLOAD, sort_keys=True).encode(), name="json.dumps(sort_keys=True)")
signed_body("body-ascii-escaped", json.dumps(PAYLOAD, separators=(",", ":")).encode())
signed_body("body-slashes-escaped", json.dumps(PAYLOAD, separators=(",", ":")).replace("/", "\\/").encode())
signed_body("body-slashes-escaped", BODY.replace(b"/", b"\\/"), name="slashes only")
signed_body("body-html-escaped", BODY.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026"))
signed_body("body-python-repr", f"{PAYLOAD}".encode())
signed_body("body-python-bytes", f"{BODY}".encode())
signed_body("body-stringified-twice", json.dumps(BODY.decode(), ensure_ascii=False).encode())
signed_body("body-as-object", b"[object Object]")
signed_body("body-empty", b"")
signed_body("body-undefined", b"undefined")
signed_body("body-newline-added", BODY + b"\n")
signed_body("body-newline-added", BODY + b"\r\n", name="CRLF after the body")
signed_body("body-newline-removed", BODY, sent=BODY + b"\n")
signed_body("body-newline-removed", b'{"a" : 1}', sent=b'  {"a" : 1} \n', name="trimmed body")
lines = json.dumps(PAYLOAD, indent=2, ensure_ascii=False).encode()
signed_body("body-line-endings", lines.replace(b"\n", b"\r\n"), sent=lines)
signed_body("body-line-endings", b'{"a" : 1,\n"b":2}', sent=b'{"a" : 1,\r\n"b":2}', name="LF instead of CRLF")
signed_body("body-bom", b"\xef\xbb\xbf" + BODY)
signed_body("body-bom", BODY, sent=b"\xef\xbb\xbf" + BODY, name="sent with a BOM")
signed_body("body-utf16", BODY.decode().encode("utf-16-le"))
signed_body("body-utf16", BODY.decode().encode("utf-16-be"), name="UTF-16 BE")
signed_body("body-latin1", BODY.decode().encode("latin-1"))
signed_body("body-utf8-twice", BODY.decode("latin-1").encode())
signed_body("body-not-utf8", b'"Zo\xef\xbf\xbd"', sent=b'"Zo\xeb"')
signed_body("body-normalised", unicodedata.normalize("NFD", BODY.decode()).encode())
signed_body("body-hashed", hashlib.sha256(BODY).hexdigest().encode())
signed_body("body-hashed", b64url(hashlib.sha256(BODY).digest()).encode(), name="base64url of the body's hash")
signed_body("body-base64", base64.b64encode(BODY))

right = mac(raw, message(BODY))
assert any(c in base64.b64encode(right) for c in b"+/"), "choose values whose signature shows its alphabet"
case("signature-hex", right.hex())
case("signature-hex", right.hex().upper(), name="hex in capitals")
case("signature-base64", base64.b64encode(right).decode())
case("signature-base64", base64.b64encode(right).decode().rstrip("="), name="standard base64 without padding")
case("signature-padded", base64.urlsafe_b64encode(right).decode())
case("signature-base64-of-hex", base64.b64encode(right.hex().encode()).decode())
for prefix in ["v1,", "sha256=", "v1=", "HMAC-SHA256 "]:
    case("signature-prefixed", prefix + b64url(right), name=f"prefix {prefix}")
case("signature-prefixed", f"t={T},v1={b64url(right)}", name="as Stripe writes it")
case("signature-several", f"v1,{b64url(right)} v1,{b64url(mac(b'old', message(BODY)))}")
case("signature-quoted", f'"{b64url(right)}"')
case("signature-sha1", b64url(mac(raw, message(BODY), "sha1")))
case("signature-sha512", b64url(mac(raw, message(BODY), "sha512")))
case("hmac-arguments-swapped", b64url(mac(message(BODY), raw)))
case("hash-instead-of-hmac", b64url(hashlib.sha256(raw + message(BODY)).digest()))
case("hash-instead-of-hmac", b64url(hashlib.sha256(message(BODY)).digest()), name="a hash without the secret")
case("secret-sent", SECRET)
case("signature-malformed", "not a signature")
case("signature-unexplained", b64url(mac(b"a secret nobody gave", message(BODY))))
case("timestamp-milliseconds", b64url(mac(raw, message(BODY, t=T * 1000))), t=T * 1000)
case("timestamp-signed-in-seconds", b64url(mac(raw, message(BODY))), t=T * 1000)
case("event-id-not-v4", b64url(mac(raw, message(BODY, i="0b0f2b3e-6f3c-1c1d-9a6e-2f6d8b7c1a10"))), i="0b0f2b3e-6f3c-1c1d-9a6e-2f6d8b7c1a10")

# The secret as it comes out of pages, files and secrets managers.
keyed("secret-invisible-character", (SECRET + "\u200b").encode(), name="a zero-width space after the secret")
keyed("secret-invisible-character", (SECRET + "\u00a0").encode(), name="a no-break space after the secret")
keyed("secret-cut", SECRET[:-1].encode(), name="the last character of the secret lost")
keyed("secret-cut", SECRET[1:].encode(), name="the first character of the secret lost")
keyed("secret-in-json", json.dumps({"secret": SECRET}).encode(), name="the JSON of a secrets manager")
keyed("secret-assignment", f"WEBHOOK_SECRET={SECRET}".encode())
keyed("secret-not-expanded", b"${WEBHOOK_SECRET}")
keyed("secret-not-expanded", b"$SECRET", name="secret-not-expanded, without braces")
keyed("secret-fingerprint", b"sha256:" + hashlib.sha256(raw).hexdigest()[:8].encode())
keyed("secret-encoded", base64.b64encode((SECRET + "\n").encode()), name="echo $SECRET | base64")

# What becomes of a digest on its way into the header.
right = mac(raw, message(BODY))
case("signature-openssl-output", f"(stdin)= {right.hex()}", name="openssl dgst")
case("signature-openssl-output", f"SHA2-256(stdin)= {right.hex()}", name="openssl 3 dgst")
case("signature-python-bytes", str(base64.urlsafe_b64encode(right)))
case("signature-percent-encoded", urllib.parse.quote(base64.b64encode(right).decode(), safe=""))
case("signature-byte-list", ",".join(str(byte) for byte in right), name="String(new Uint8Array(…))")
case("signature-byte-list", str(list(right)), name="str(list(digest))")
case("signature-not-text", "[object ArrayBuffer]")
case("signature-not-text", "undefined", name="signature undefined")
case("signature-sha384", b64url(mac(raw, message(BODY), "sha384")))
for n in range(100):
    numbered = json.dumps({"n": n}).encode()
    standard = base64.b64encode(mac(raw, message(numbered))).decode()
    if "+" in standard[1:-2]:
        case("signature-plus-as-space", standard.replace("+", " "), body=numbered)
        break

print(json.dumps(cases))
