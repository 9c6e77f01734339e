# Makes vectors/http-dates.json, urls.json and keys.json with programs that are not Hookproof; run by hand, once.
#
#   python3 test/vectors/generate/make.py      (Python with cryptography and urllib3, Go, Java 17)
#
# Dates are read by Go's net/http and by Python's email.utils, URLs by Go's net/url and by Java's java.net.URI, waits by
# urllib3, keys by python-cryptography. Where two programs read a text, it is written down only if they agree.
import base64, calendar, json, pathlib, platform, subprocess, sys, tempfile, time
from email.utils import parsedate_tz
from unittest import mock

import cryptography, urllib3
from cryptography.hazmat.primitives import serialization as ser
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

HERE = pathlib.Path(__file__).parent
OUT = HERE.parent.parent.parent / "vectors"
NOW = 1767225600  # 2026-01-01T00:00:00Z, as in retry.json


def answers(command, lines):
    run = subprocess.run(command, input=json.dumps(lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def written(name, value):
    (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


go_version = subprocess.run(["go", "version"], capture_output=True, text=True).stdout.split()[2]
java_version = subprocess.run(["java", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
python_version = f"Python {platform.python_version()}"

# Dates. Which are none, Go says: Python's reader is for mail, and takes 31 Feb.
DATES = [
    "Thu, 01 Jan 2026 00:02:00 GMT", "Thursday, 01-Jan-26 00:02:00 GMT", "Thu Jan  1 00:02:00 2026",
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Thu, 29 Feb 2024 23:59:59 GMT", "Fri Dec 31 23:59:59 2027", "Wednesday, 25-Nov-26 18:18:07 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT", "Tue, 19 Jan 2038 03:14:08 GMT", "Thu Jan 15 12:00:00 2026",
    "Tue, 31 Feb 2026 00:00:00 GMT", "Sat, 29 Feb 2025 00:00:00 GMT", "Fri, 31 Apr 2026 00:00:00 GMT",
    "Thu, 01 Jan 2026 24:00:00 GMT", "Thu, 01 Jan 2026 00:60:00 GMT", "Thu, 32 Jan 2026 00:00:00 GMT",
    "Thu, 00 Jan 2026 00:00:00 GMT", "Thu, 01 Foo 2026 00:00:00 GMT", "Thu, 01-Jan-2026 00:00:00 GMT",
    "Thu, 01 Jan 26 00:00:00 GMT", "2026-01-01T00:00:00Z", "1767225600", "", "GMT", "Thu, 01 Jan 2026 00:00 GMT",
    "Thu, 01 Jan 2026 00:00:00 +0000", "Thu, 01 Jan 2026 00:00:00 EST", "Thu, 01 Jan 2026 00:00:00",
    "Thu,01 Jan 2026 00:00:00 GMT", "Thu Jan 1 00:02:00 26", "Jan 1 2026", "Thu, 01 Jan 2026 00:00:00 GMTx",
]
go = answers(["go", "run", str(HERE / "read.go"), "dates"], DATES)
dates = []
for text, seconds in zip(DATES, go):
    if seconds is not None:
        parts = parsedate_tz(text)
        assert parts and calendar.timegm(parts[:6]) == seconds, text
    dates.append({"input": text, "seconds": seconds})

# Waits, each at most the day that a sender waits.
WAITS = ["0", "1", "120", "00120", "21600", "soon", "12O", "1h", "-", "", *[d for d, s in zip(DATES, go) if s and NOW < s < NOW + 86400]]
waits = []
for text in WAITS:
    with mock.patch("time.time", return_value=NOW):
        try:
            seconds = urllib3.util.Retry().parse_retry_after(text)
        except urllib3.exceptions.InvalidHeader:
            seconds = None
    waits.append({"input": text, "seconds": seconds})
written("http-dates.json", {
    "note": f"Computed outside the project. dates: read by Go's net/http.ParseTime ({go_version}), each date also by email.utils of {python_version}. retryAfter: seconds to wait at now, by urllib3 {urllib3.__version__} on {python_version}.",
    "now": NOW, "dates": dates, "retryAfter": waits,
})

# URLs: the host and the target of the request line.
URLS = [
    "https://hooks.example.com", "https://hooks.example.com/", "https://Hooks.EXAMPLE.com/A/b",
    "HTTPS://hooks.example.com/a", "https://hooks.example.com:8443/a", "https://hooks.example.com/a/../b",
    "https://hooks.example.com/a/./b/", "https://hooks.example.com/a/b/..", "https://hooks.example.com/a//b",
    "https://hooks.example.com/%7Ea/%2Fb", "https://hooks.example.com/a?b=c&d=%20e", "https://hooks.example.com?a=1",
    "https://hooks.example.com/a?b=/../c", "https://hooks.example.com/a?b=c?d", "https://[2001:db8::1]:8443/a",
    "https://192.0.2.1/a", "https://xn--bcher-kva.example/a", "https://hooks.example.com/a+b", "https://hooks.example.com/a%20b",
    "https://hooks.example.com/a;b=c", "https://hooks.example.com/a@b:c", "https://hooks.example.com/%C3%A4",
    "https://hooks.example.com/a?%27=1", "https://hooks.example.com/a?b[]=1",
]
gos, javas = (answers(c, URLS) for c in (["go", "run", str(HERE / "read.go"), "urls"], ["java", str(HERE / "Read.java")]))
urls = [{"input": u, **g} for u, g, j in zip(URLS, gos, javas) if g == j]
written("urls.json", {
    "note": f"Computed outside the project: the host (in lower case, with a port) and target of the request that each URL is sent with, as Go's net/url ({go_version}) and java.net.URI ({java_version}) both have it.",
    "urls": urls,
})

# Keys, made and read by python-cryptography.
b64 = lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
octets = lambda n, size=None: n.to_bytes(size or (n.bit_length() + 7) // 8, "big")


def public_of(pem):
    key = ser.load_pem_private_key(pem.encode(), None).public_key()
    if isinstance(key, rsa.RSAPublicKey):
        n = key.public_numbers()
        return "RS256", {"kty": "RSA", "n": b64(octets(n.n)), "e": b64(octets(n.e))}
    if isinstance(key, ed25519.Ed25519PublicKey):
        raw = key.public_bytes(ser.Encoding.Raw, ser.PublicFormat.Raw)
        return "EdDSA", {"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}
    n = key.public_numbers()
    return "ES256", {"kty": "EC", "crv": "P-256", "x": b64(octets(n.x, 32)), "y": b64(octets(n.y, 32))}


def pem_of(key, form=ser.PrivateFormat.PKCS8, sealed=ser.NoEncryption()):
    return key.private_bytes(ser.Encoding.PEM, form, sealed).decode()


KEYS = [rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()]
keys, refused = [], []
for key in KEYS:
    pem = pem_of(key)
    alg, public = public_of(pem)
    forms = {"PKCS#8": pem, "with \\n written out": pem.replace("\n", "\\n"), "in the JSON of a service account": json.dumps({"private_key": pem}),
             "base64 of a PEM": base64.b64encode(pem.encode()).decode(), "in .env": f'KEY="{pem.strip()}"', "DER in base64": base64.b64encode(key.private_bytes(ser.Encoding.DER, ser.PrivateFormat.PKCS8, ser.NoEncryption())).decode()}
    if alg != "EdDSA":
        forms["PKCS#1" if alg == "RS256" else "SEC1"] = pem_of(key, ser.PrivateFormat.TraditionalOpenSSL)
    if alg == "ES256":
        d = octets(key.private_numbers().private_value, 32)
        x, y = (base64.urlsafe_b64decode(public[m] + "==") for m in "xy")
        forms["JWK with an octet too many"] = json.dumps({"kty": "EC", "crv": "P-256", "x": b64(b"\0" + x), "y": b64(b"\0" + y), "d": b64(b"\0" + d)})
        forms["JWK in padded base64"] = json.dumps({"kty": "EC", "crv": "P-256", **{m: base64.b64encode(v).decode() for m, v in {"x": x, "y": y, "d": d}.items()}})
    keys += [{"name": f"{alg}, {form}", "alg": alg, "key": text, "publicJwk": public} for form, text in forms.items()]
    refused += [{"name": f"{alg}, encrypted", "key": pem_of(key, sealed=ser.BestAvailableEncryption(b"opens it"))},
                {"name": f"{alg}, of OpenSSH", "key": pem_of(key, ser.PrivateFormat.OpenSSH)},
                {"name": f"{alg}, public", "key": key.public_key().public_bytes(ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo).decode()}]
refused += [{"name": "EC on P-384", "key": pem_of(ec.generate_private_key(ec.SECP384R1()))}, {"name": "RSA of 1024 bit", "key": pem_of(rsa.generate_private_key(65537, 1024))}]
written("keys.json", {
    "note": f"Made and read outside the project with python-cryptography {cryptography.__version__} on {python_version}. Keys here are throw-away test keys.",
    "keys": keys, "refused": refused,
})
