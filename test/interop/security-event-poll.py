"""The other party of polls (RFC 8936), on PyJWT and Python's own HTTP: a transmitter to poll, or a recipient that polls."""

import http.server
import json
import sys
import urllib.request

import jwt

ISSUER = "https://idp.example.com/"
AUDIENCE = "https://rp.example.com/"


def recipient(url, jwks):
    """Polls until nothing is left: acknowledges all but the second token, of which it reports an error."""
    keys = {key["kid"]: jwt.PyJWK(key).key for key in jwks["keys"]}

    def poll(body):
        headers = {"Content-Type": "application/json", "Authorization": "Bearer abc"}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    rounds, acks, errors = [], [], {}
    while True:
        answer = poll({"ack": acks, "setErrs": errors, "maxEvents": 2, "returnImmediately": True})
        read = {}
        for jti, token in answer["sets"].items():
            header = jwt.get_unverified_header(token)
            assert header["typ"] == "secevent+jwt", header
            required = {"require": ["iss", "iat", "jti", "aud", "events"]}
            claims = jwt.decode(
                token, keys[header["kid"]], [header["alg"]], required, audience=AUDIENCE, issuer=ISSUER
            )
            assert claims["jti"] == jti, claims
            read[jti] = list(claims["events"])
        rounds.append({"sets": read, "moreAvailable": answer.get("moreAvailable", False)})
        if not read:
            break
        acks, errors = list(read), {}
        if len(rounds) == 1:
            errors = {acks.pop(): {"err": "invalid_request", "description": "not understood"}}
    print(json.dumps(rounds))


def transmitter(jwk, tokens):
    """Gives each token until it is acknowledged or reported; what it was told stands at /told."""
    key = jwt.PyJWK(jwk).key
    headers = {"kid": jwk["kid"], "typ": "secevent+jwt"}
    waiting = {claims["jti"]: jwt.encode(claims, key, jwk["alg"], headers) for claims in tokens}
    told = {"ack": [], "setErrs": {}, "authorization": []}

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.answer(told)

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told["authorization"].append(self.headers["Authorization"])
            told["ack"] += asked.get("ack", [])
            told["setErrs"].update(asked.get("setErrs", {}))
            for jti in [*asked.get("ack", []), *asked.get("setErrs", {})]:
                waiting.pop(jti, None)
            given = dict(list(waiting.items())[: asked.get("maxEvents", 1)])
            self.answer({"sets": given, "moreAvailable": len(given) < len(waiting)})

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


given = json.loads(sys.argv[1])
if given["do"] == "poll":
    recipient(given["url"], given["jwks"])
else:
    transmitter(given["jwk"], given["tokens"])
