"""A listener of tokens by PyJWT with one bug, which BUG names: /usr/bin/python3 tokens.py; it prints its port."""
import base64, hashlib, json, os, re, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

BUG = os.environ["BUG"]
JWKS = json.loads(os.environ["JWKS"])
KEYS = {key["kid"]: jwt.PyJWK.from_dict(key).key for key in JWKS["keys"]}
PATH = "/api/v1/webhooks/incoming/lst_1"
UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
processed = set()


def is_plain(part):
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() == part


def claims_of(token):
    if len(token) > 8192 or not re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]*", token, re.A):
        raise ValueError("form")
    if not all(is_plain(part) for part in token.split(".")):
        raise ValueError("form")
    header = jwt.get_unverified_header(token)
    if BUG == "alg-none" and header["alg"] == "none":
        return jwt.decode(token, options={"verify_signature": False})
    if any(name in header for name in ("crit", "b64", "jwk", "jku", "x5u", "x5c")):
        raise ValueError("header")
    key = next(iter(KEYS.values())) if BUG == "first-key" else KEYS[header["kid"]]
    algorithms = [header["alg"]] if BUG == "alg-of-token" else ["ES256"]
    own = {"verify_aud": False, "verify_exp": BUG != "exp", "verify_signature": BUG != "unverified"}
    claims = jwt.decode(token, key, algorithms=algorithms, options=own)
    if not isinstance(claims, dict):
        raise ValueError("claims")
    return claims


def wanted_hash(body):
    if BUG == "dumps":
        try:
            body = json.dumps(json.loads(body), separators=(",", ":")).encode()
        except ValueError:
            pass
    digest = hashlib.sha256(body)
    if BUG == "hex":
        return digest.hexdigest()
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


def is_proven(authorization, body, event_id, host):
    found = re.fullmatch("bearer ([^ ,]+)", authorization, re.I)
    try:
        claims = claims_of(found[1])
    except Exception:
        return False
    wanted = {"sub": f"http://{host}", "aud": f"http://{host}{PATH}", "jti": event_id, "htm": "POST"}
    wanted["htb_s256"] = wanted_hash(body)
    for name, value in wanted.items():
        seen = claims.get(name)
        if name == "jti" and isinstance(seen, str):
            seen, value = seen.lower(), value.lower()
        if BUG == name + "-if-there" and name not in claims:
            continue
        if BUG != name and seen != value:
            return False
    exp = claims.get("exp")
    if BUG == "exp" or (BUG == "exp-if-there" and exp is None):
        return True
    if type(exp) is not int:
        return False
    return BUG == "long-life" or exp <= time.time() + 600


class Listener(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Werkzeug/2.2.2", "Python/3.11.2"

    def log_message(self, *_):
        pass

    def status(self, body):
        headers = self.headers
        if self.path != PATH:
            return 404
        if self.command != "POST":
            return 405
        if len(body) > 65536:
            return 413
        for name in ("Webhook-Timestamp", "Webhook-Event-Id", "Content-Type"):
            if len(headers.get_all(name, [])) != 1:
                return 400
        timestamp, event_id = headers["Webhook-Timestamp"], headers["Webhook-Event-Id"]
        if not re.fullmatch("0|[1-9][0-9]{0,11}", timestamp) or abs(int(time.time()) - int(timestamp)) > 300:
            return 400
        if not re.fullmatch(UUID4, event_id, re.I):
            return 400
        if len(headers.get_all("Authorization", [])) != 1:
            return 401
        if not is_proven(headers["Authorization"], body, event_id, headers["Host"]):
            return 401
        content_type = headers["Content-Type"].split(";")[0].strip().lower()
        if content_type != "application/json" or "Content-Encoding" in headers:
            return 415
        try:
            json.loads(body.decode("utf-8"), parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError, RecursionError):
            return 400
        if event_id.lower() in processed and BUG != "copies":
            return 409
        processed.add(event_id.lower())
        return 200

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST


server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
print(server.server_port, flush=True)
server.serve_forever()
