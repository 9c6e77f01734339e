"""Signs with Python's own hmac. In: JSON lines of secret, timestamp, eventId, bodyBase64. Out: one signature a line."""

import base64
import hashlib
import hmac
import json
import sys

for line in sys.stdin:
    given = json.loads(line)
    head = f"{given['timestamp']}.{given['eventId']}.".encode()
    body = base64.b64decode(given["bodyBase64"])
    mac = hmac.new(given["secret"].encode(), head + body, hashlib.sha256).digest()
    print(base64.urlsafe_b64encode(mac).rstrip(b"=").decode())
