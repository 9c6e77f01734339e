"""Checks AWS Signature Version 4 of a request with Python's own hmac: method, URL, headers and body on stdin as JSON."""
import datetime
import hashlib
import hmac
import json
import sys
from urllib.parse import parse_qsl, quote, urlsplit

request = json.load(sys.stdin)
url = urlsplit(request["url"])
headers = {name.lower(): value for name, value in request["headers"].items()}
query = parse_qsl(url.query, keep_blank_values=True)
fields = dict(query)

if "X-Amz-Signature" in fields:
    credential, signed_headers = fields["X-Amz-Credential"], fields["X-Amz-SignedHeaders"]
    stamp, given = fields["X-Amz-Date"], fields["X-Amz-Signature"]
    payload = "UNSIGNED-PAYLOAD"
    algorithm = fields["X-Amz-Algorithm"]
    query = [pair for pair in query if pair[0] != "X-Amz-Signature"]
    made = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    expired = request["now"] >= made.timestamp() + int(fields["X-Amz-Expires"])
else:
    algorithm, rest = headers["authorization"].split(" ", 1)
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    credential, signed_headers, given = parts["Credential"], parts["SignedHeaders"], parts["Signature"]
    stamp, payload = headers["x-amz-date"], headers["x-amz-content-sha256"]
    assert payload in ("UNSIGNED-PAYLOAD", request["bodySha256"]), "the body is another one"
    expired = False

access_key, day, region, service, kind = credential.split("/")
encoded = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in query)
canonical = "\n".join(
    [
        request["method"],
        url.path,
        "&".join(f"{name}={value}" for name, value in encoded),
        *(f"{name}:{headers[name].strip()}" for name in signed_headers.split(";")),
        "",
        signed_headers,
        payload,
    ]
)
digest = hashlib.sha256(canonical.encode()).hexdigest()
key = ("AWS4" + request["secretAccessKey"]).encode()
for part in (day, region, service, kind):
    key = hmac.new(key, part.encode(), hashlib.sha256).digest()
to_sign = "\n".join([algorithm, stamp, f"{day}/{region}/{service}/{kind}", digest])
signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
ok = algorithm == "AWS4-HMAC-SHA256" and service == "s3" and hmac.compare_digest(signature, given)
print(json.dumps({"ok": ok, "expired": expired, "accessKeyId": access_key, "region": region}))
