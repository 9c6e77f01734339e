"""Mistakes that strangers made, from public threads, written anew without the catalogue of src/doctor/diagnose at hand.

Prints one JSON document: a list of cases, each with the request as it arrives, what a cause has to say about it
(`cause`) and what its fix has to say (`fix`), both as words of which one must be there.
"""

import base64
import gzip
import hashlib
import hmac
import json
import urllib.parse

SECRET = "m5hLk2-Qv7s_RzT0wPnXcB8uYd4GjEaF1oIiH6tKqWs"
T = 1790000000
ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
PATH = "/api/v1/webhooks/incoming/lst_apart"
URL = "https://tenant.example.com" + PATH
ISSUE = "https://github.com/"

EVENT = {
    "userId": 4711, "type": "user.offboarded", "at": "2026-09-21T14:13:20Z", "displayName": " Zoë O'Neil ",
    "manager": None, "active": True, "homePage": "https://example.org/a?b=1&c=<d>", "quota": 3,
    "groups": [{"groupName": "Ops", "id": 9, "note": ""}, {"groupName": "Dev", "id": 12, "note": None}],
}


def compact(value, **more):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, **more)


BODY = compact(EVENT)
cases = []


def b64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def raw(text):
    return text if isinstance(text, bytes) else text.encode()


def digest(message, key=SECRET, hash="sha256"):
    return hmac.new(raw(key), raw(message), hash).digest()


def full(body, t=T, i=ID):
    return f"{t}.{i}.".encode() + raw(body)


def case(what, cause, fix, signature, body=BODY, t=T, i=ID, source=None, headers=None, **more):
    sent = {"Content-Type": "application/json", "Webhook-Timestamp": str(t), "Webhook-Event-Id": i}
    if signature is not None:
        sent["Webhook-Signature"] = signature
    sent.update(headers or {})
    cases.append({"what": what, "source": source, "cause": cause, "fix": fix, "secret": SECRET, "url": URL,
                  "headers": sent, "bodyBase64": base64.b64encode(raw(body)).decode(), **more})


def body_signed(what, cause, fix, signed, sent=BODY, source=None):
    case(what, cause, fix, b64url(digest(full(signed))), body=sent, source=source)


def input_signed(what, cause, fix, message, source=None, **more):
    case(what, cause, fix, b64url(digest(message)), source=source, **more)


def keyed(what, cause, fix, key, source=None):
    case(what, cause, fix, b64url(digest(full(BODY), key=key)), source=source)


def deep(value, on_object=lambda o: o, on_leaf=lambda leaf: leaf):
    if isinstance(value, dict):
        return on_object({name: deep(inner, on_object, on_leaf) for name, inner in value.items()})
    if isinstance(value, list):
        return [deep(inner, on_object, on_leaf) for inner in value]
    return on_leaf(value)


def by_length(o):
    return dict(sorted(o.items(), key=lambda one: (len(one[0].encode()), one[0].encode())))


def renamed(rename):
    return lambda o: {rename(name): inner for name, inner in o.items()}


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


def without_nulls(o):
    return {name: inner for name, inner in o.items() if inner is not None}


RAW_BODY = ["raw", "as received", "bytes", "same text", "same bytes", "as it arrived", "Serialise once"]
STORED = "order"

# The order and the shape of the body.
body_signed("read back from a jsonb column", ["jsonb"], ["text", "bytea", "bytes"], json.dumps(deep(EVENT, by_length), ensure_ascii=False),
            source=ISSUE + "Auxx-Ai/auxx-ai/pull/762")
body_signed("jsonb, then JSON.stringify(row.payload)", ["jsonb"], ["text", "bytea", "bytes"], compact(deep(EVENT, by_length)),
            source=ISSUE + "sint-ai/sint-protocol/pull/168")
body_signed("sorted at the top level only, as Object.keys(payload).sort() does", ["top level", "sort"], RAW_BODY, compact(dict(sorted(EVENT.items()))),
            source=ISSUE + "SandeepVashishtha/Eventra/issues/11561")
body_signed("sorted at every level", ["alphabetical", "sort"], RAW_BODY, compact(EVENT, sort_keys=True), source=ISSUE + "SandeepVashishtha/Eventra/pull/11572")
body_signed("json.dumps(sort_keys=True, ensure_ascii=False)", ["alphabetical", "sort"], RAW_BODY, json.dumps(EVENT, sort_keys=True, ensure_ascii=False),
            source=ISSUE + "prebid/salesagent/issues/2084")
body_signed("exclude_none", ["null"], RAW_BODY, compact(deep(EVENT, without_nulls)), source=ISSUE + "fastapi/fastapi/issues/1050")
body_signed("pydantic's .json(exclude_none=True)", ["null"], RAW_BODY, json.dumps(deep(EVENT, without_nulls)), source=ISSUE + "fastapi/fastapi/issues/3314")
body_signed("keys in snake_case", ["snake_case", "renamed"], RAW_BODY, compact(deep(EVENT, renamed(snake))))
body_signed("keys in snake_case, with json.dumps", ["snake_case", "renamed"], RAW_BODY, json.dumps(deep(EVENT, renamed(snake))))
body_signed("keys in camelCase where snake_case arrived", ["camelCase", "renamed"], RAW_BODY, compact(EVENT), sent=compact(deep(EVENT, renamed(snake))))
body_signed("keys in PascalCase, as a .NET class has them", ["PascalCase", "renamed"], RAW_BODY, compact(deep(EVENT, renamed(lambda n: n[0].upper() + n[1:]))),
            source=ISSUE + "eBay/eBay-Notification-SDK-Dot-Net-Core/issues/2")
trimmed = deep(EVENT, on_leaf=lambda leaf: leaf.strip() if isinstance(leaf, str) else leaf)
body_signed("strings trimmed by a framework", ["trim"], RAW_BODY + ["TrimStrings"], compact(trimmed), source=ISSUE + "laravel/cashier-paddle/issues/120")
body_signed("strings trimmed, and empty ones turned into null", ["trim", "empty"], RAW_BODY + ["TrimStrings"],
            compact(deep(trimmed, on_leaf=lambda leaf: None if leaf == "" else leaf)), source=ISSUE + "laravel/cashier-paddle/issues/173")
body_signed("whole numbers as doubles", ["3.0", "number"], RAW_BODY, compact(deep(EVENT, on_leaf=lambda leaf: float(leaf) if type(leaf) is int else leaf)),
            source=ISSUE + "ucloud/ucloud-sdk-java/issues/41")
body_signed("136.0 that became 136", ["number"], RAW_BODY, '{"weight":136,"status":"in_transit"}', sent='{"weight":136.0,"status":"in_transit"}',
            source=ISSUE + "EasyPost/easypost-node/issues/467")
body_signed("0.0 that became 0, beside other text", ["number"], RAW_BODY, '{"cvss":{"vector_string":null,"score":0}}', sent='{"cvss":{"vector_string":null,"score":0.0}}',
            source=ISSUE + "octokit/webhooks.js/issues/775")
body_signed("a large number that lost its last digits", ["number"], RAW_BODY, '{"id":9007199254740992,"n":1}', sent='{"id":9007199254740993,"n":1}')
body_signed("an exponent written out", ["number"], RAW_BODY, '{"limit":100000.0,"small":1e-05}', sent='{"limit":1e5,"small":0.00001}')
body_signed("every number as text", ["number", "text"], RAW_BODY, compact(deep(EVENT, on_leaf=lambda leaf: str(leaf) if type(leaf) is int else leaf)),
            source=ISSUE + "exercism/v2-website/pull/28")
body_signed("milliseconds added to a date", ["date"], RAW_BODY, BODY.replace("14:13:20Z", "14:13:20.000Z"))
body_signed("+00:00 in place of Z", ["date"], RAW_BODY, BODY.replace("14:13:20Z", "14:13:20+00:00"), source=ISSUE + "prebid/salesagent/pull/1605")
body_signed("one member of the envelope", ["member"], RAW_BODY + ["whole body"], compact(EVENT), sent=compact({"event": "x", "data": EVENT}),
            source=ISSUE + "Eppo-exp/eppo-docs/pull/658")
body_signed("the body inside an envelope", ["envelope", "wrapped"], RAW_BODY + ["whole body", "the body alone"], compact({"payload": EVENT}))

# What printers write.
body_signed("json.dumps of the parsed body", ["space"], RAW_BODY + ["data="], json.dumps(EVENT), source=ISSUE + "prebid/salesagent/issues/1104")
body_signed("json.dumps with indent=2", ["indent"], RAW_BODY, json.dumps(EVENT, indent=2), source=ISSUE + "stripe/stripe-node/issues/341")
body_signed("compact, with \\u escapes", ["\\u"], RAW_BODY + ["data="], json.dumps(EVENT, separators=(",", ":")), source=ISSUE + "box/box-node-sdk/pull/568")
body_signed("JSON.stringify(body).replace(/\\//g, '\\\\/')", ["slash"], RAW_BODY, BODY.replace("/", "\\/"), source=ISSUE + "cloudconvert/cloudconvert-node/pull/59")
body_signed("the text stringified once more", ["once more", "twice"], RAW_BODY, json.dumps(BODY, ensure_ascii=False), source=ISSUE + "workos/workos-node/pull/1578")
body_signed("printed indented, received so, signed compact", ["white space"], RAW_BODY, BODY, sent=json.dumps(EVENT, indent=2, ensure_ascii=False),
            source=ISSUE + "stripe/stripe-node/issues/1768")
html = BODY.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
body_signed("&, < and > escaped", ["escape"], RAW_BODY, html, source=ISSUE + "contentful/contentful.java/pull/288")
gson = html.replace("=", "\\u003d").replace("'", "\\u0027")
body_signed("', = escaped as well", ["Gson", "escape"], RAW_BODY, gson, source=ISSUE + "Tinder/bazel-diff/pull/179")
body_signed("ConvertTo-Json -Compress", ["PowerShell", "escape"], RAW_BODY, html.replace("'", "\\u0027"), source=ISSUE + "PowerShell/PowerShell/issues/11195")

# Not the body at all.
body_signed("an empty body, as somebody had read it before", ["empty"], ["Read", "read"] + RAW_BODY, "", source=ISSUE + "nozzlegear/ShopifySharp/issues/683")
body_signed("{} of a parser that skipped the content type", ["{}"], RAW_BODY, "{}", source=ISSUE + "airqo-platform/AirQo-api/pull/6616")
body_signed("[object Object]", ["[object"], RAW_BODY, "[object Object]", source=ISSUE + "stripe/stripe-node/issues/331")
body_signed("a promise", ["[object", "promise"], ["await", "Await"] + RAW_BODY, "[object Promise]")
body_signed("a stream", ["[object", "stream"], ["await", "Await"] + RAW_BODY, "[object ReadableStream]", source=ISSUE + "vercel/next.js/issues/61365")
body_signed("JSON.stringify(buffer)", ["Buffer"], RAW_BODY, compact({"type": "Buffer", "data": list(BODY.encode())}), source=ISSUE + "muxinc/mux-node-sdk/issues/587")
body_signed("String(uint8array)", ["number", "list"], RAW_BODY, ",".join(map(str, BODY.encode())))
body_signed("base64, as a gateway hands it over", ["base64"], ["isBase64Encoded", "ecode"], base64.b64encode(BODY.encode()), source=ISSUE + "stripe/stripe-node/issues/356")
body_signed("form-encoded members", ["form"], RAW_BODY, urllib.parse.urlencode({"type": "a b", "id": 7}), sent='{"type":"a b","id":7}',
            source=ISSUE + "nodejs/node/issues/11844")
body_signed("payload= and the JSON, as a form", ["form"], RAW_BODY, urllib.parse.urlencode({"payload": BODY}), source=ISSUE + "frain-dev/convoy/pull/2392")
body_signed("form-encoded and sorted", ["form"], RAW_BODY, urllib.parse.urlencode(sorted({"type": "a", "id": 7}.items())), sent='{"type":"a","id":7}',
            source=ISSUE + "TwilioDevEd/api-snippets/pull/619")
body_signed("quotes as &quot;", ["HTML"], RAW_BODY, BODY.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#039;"))
body_signed("quotes escaped by a mapping template", ["ackslash", "escape"], RAW_BODY, BODY.replace("'", "\\'").replace('"', '\\"'), source=ISSUE + "serverless/serverless/issues/537")
case("compressed on the way, signed before", ["compress", "gzip"], ["ompress"], b64url(digest(full(BODY))), body=gzip.compress(BODY.encode(), mtime=0))
body_signed("non-ASCII as question marks", ["?", "ASCII"], ["UTF-8", "UTF8"], BODY.encode("ascii", "replace"), source=ISSUE + "github/docs/issues/3567")
body_signed("non-ASCII left out", ["left out", "ASCII"], ["UTF-8", "UTF8"], BODY.encode("ascii", "ignore"))
body_signed("Windows-1252 for UTF-8", ["Latin-1", "1252"], ["UTF-8", "UTF_8", "latin1"], BODY.encode("cp1252"))
body_signed("CRLF after the body", ["line break"], ["printf", "bytes"], BODY + "\r\n", source=ISSUE + "sendgrid/sendgrid-csharp/issues/1066")
body_signed("str() of a dict", ["Python"], ["json.dumps"], str(EVENT), source=ISSUE + "aws/chalice/issues/2")
body_signed("str() of the bytes", ["b'"], ["decode", "bytes"], str(BODY.encode()))
body_signed("the hash of the body in hex", ["SHA-256"], ["body"], hashlib.sha256(BODY.encode()).hexdigest())

# The signing input.
input_signed("the body alone", ["body alone"], ["timestamp"], BODY, source=ISSUE + "NousResearch/hermes-agent/pull/95068")
input_signed("timestamp and body", ["event id"], ["timestamp"], f"{T}.{BODY}", source=ISSUE + "adcontextprotocol/adcp-client/issues/313")
input_signed("as Slack does, v0:timestamp:body", ["event id"], ["timestamp"], f"v0:{T}:{BODY}", source=ISSUE + "n8n-io/n8n/pull/28522")
input_signed("as Standard Webhooks does", ["before the timestamp"], ["timestamp comes first"], f"{ID}.{T}.{BODY}", source=ISSUE + "svix/svix-webhooks/issues/1463")
input_signed("joined by line breaks", ["period"], ["period"], f"{T}\n{ID}\n{BODY}")
input_signed("joined by double colons", ["period"], ["period"], f"{T}::{ID}::{BODY}")
input_signed("id, colon, timestamp, colon, body", ["before the timestamp", "order", "period"], ["timestamp"], f"{ID}:{T}:{BODY}")
input_signed("the placeholders left standing", ["placeholder", "braces"], ["f", "`"], "{timestamp}.{event_id}." + BODY)
input_signed("${} in a text without backticks", ["placeholder", "braces"], ["`", "backtick"], "${timestamp}.${eventId}.${body}")
input_signed("a dollar before each part", ["$", "braces"], ["timestamp"], f"${T}.${ID}.${BODY}")
input_signed("a JSON object of the three", ["JSON object"], ["timestamp"], compact({"timestamp": T, "eventId": ID, "body": EVENT}))
input_signed("a JSON object of the three, with texts", ["JSON object"], ["timestamp"], compact({"timestamp": str(T), "event_id": ID, "payload": BODY}))
input_signed("URL and body", ["URL"], ["timestamp"], URL + BODY, source=ISSUE + "twilio/twilio-php/issues/750")
input_signed("method, path and body", ["method"], ["timestamp"], f"POST\n{PATH}\n{T}\n{BODY}", source=ISSUE + "connorjburton/hmac-auth-express/issues/55")
input_signed("a period at the end", ["after the body", "end"], ["timestamp"], f"{T}.{ID}.{BODY}.")
input_signed("Date.now() signed, its seconds sent", ["millisecond"], ["once"], full(BODY, t=f"{T}137"))
input_signed("the time with decimals", ["decimals", "fraction"], ["once", "int("], full(BODY, t=f"{T}.0"))
input_signed("an hour off, by a time zone", ["zone", "hour"], ["once", "UTC"], full(BODY, t=T + 7200))
input_signed("the timestamp of an attempt five minutes ago", ["attempt", "earlier"], ["attempt", "again", "once"], full(BODY, t=T - 300))
input_signed("an ISO date signed", ["date"], ["once"], full(BODY, t="2026-09-21T14:13:20.000Z"), source=ISSUE + "prebid/salesagent/pull/1605")
input_signed("the event id in capitals", ["case"], ["character by character"], full(BODY, i=ID.upper()))
input_signed("the event id in braces", ["braces", "around"], ["header", "character"], full(BODY, i="{" + ID + "}"))

# The secret.
keyed("base64-decoded", ["decoded"], ["text as it is"], base64.urlsafe_b64decode(SECRET + "="), source=ISSUE + "stripe/stripe-node/issues/341")
keyed("with a line break", ["line break"], ["trim"], SECRET + "\n")
keyed("in double quotes", ["quotes"], ["quotes"], f'"{SECRET}"')
keyed("undefined", ["undefined"], ["missing"], "undefined")
keyed("its last character lost", ["character"], ["whole"], SECRET[:-1])
keyed("with whsec_ before it", ["whsec_"], ["prefix"], "whsec_" + SECRET)
keyed("hashed first", ["SHA-256"], ["hash"], hashlib.sha256(SECRET.encode()).digest())
keyed("base64 of it, as a Kubernetes manifest has it", ["base64"], ["again", "encod"], base64.b64encode(SECRET.encode()))

# The digest.
right = digest(full(BODY))
case("sha256= before hex", ["in front", "hex"], ["43 characters", "base64url"], "sha256=" + right.hex(), source=ISSUE + "nodejs/help/issues/535")
case("standard base64", ["base64", "padding"], ["base64url", "Remove"], base64.b64encode(right).decode())
case("repr() of bytes", ["Python"], ["decode"], str(base64.urlsafe_b64encode(right)))
case("a JSON text, with its quotes", ["quotes"], ["43 characters"], json.dumps(b64url(right)))
case("cut to 32 characters", ["cut", "characters"], ["43 characters"], b64url(right)[:32])
case("t=…,v1=… as Stripe has it", ["in front"], ["43 characters"], f"t={T},v1={right.hex()}", source=ISSUE + "stripe/stripe-node/issues/1768")
case("signed with SHA-1", ["SHA-1"], ["SHA-256", "sha256"], digest(full(BODY), hash="sha1").hex(), source=ISSUE + "gabrieldwight/Whatsapp-Business-Cloud-Api-Net/issues/11")
case("a digest that was read as text", ["read as text", "text"], ["bytes"], b64url(right.decode("utf-8", "replace").encode()))

# Tokens. Nobody checks their signature here: what is wrong is to be seen without a key.
BASE = "https://tenant.example.com"


def token(claims=None, header=None, signature=b64url(bytes(range(64)))):
    head = {"alg": "ES256", "kid": "k-1", "typ": "JWT", **(header or {})}
    body = {"sub": BASE, "aud": URL, "exp": T + 300, "jti": ID, "htm": "POST", "htb_s256": b64url(hashlib.sha256(BODY.encode()).digest()), **(claims or {})}
    return ".".join([b64url(compact(head).encode()), b64url(compact({k: v for k, v in body.items() if v is not None}).encode()), signature])


def bearer(what, cause, fix, headers, source=None):
    case(what, cause, fix, None, source=source, headers=headers, token=True)


PASS_ON = ["Authorization", "header"]
for name, source in [("X-Forwarded-Authorization", None), ("x-amzn-Remapped-Authorization", None), ("X-Serverless-Authorization", "pomerium/pomerium/pull/6268"),
                     ("X-Original-Authorization", None)]:
    bearer(f"a gateway moved the token to {name}", [name], PASS_ON, {name: "Bearer " + token()}, source=source and ISSUE + source)
bearer("the signature replaced by a word", ["removed"], PASS_ON + ["gateway"], {"Authorization": "Bearer " + token(signature="SIGNATURE_REMOVED_BY_GOOGLE")},
       source=ISSUE + "pomerium/pomerium/issues/6677")
bearer("the gateway's own token", ["gateway", "another issuer", "another system"], PASS_ON + ["gateway"],
       {"Authorization": "Bearer " + token({"iss": "https://accounts.google.com", "aud": BASE, "sub": "1122334455", "email": "svc@example.com", "jti": None, "htm": None, "htb_s256": None})},
       source=ISSUE + "GoogleCloudPlatform/cloud-run-mesh/issues/61")
bearer("a DPoP proof in its own header", ["DPoP"], ["Authorization"], {"DPoP": token({"htu": URL}, {"typ": "dpop+jwt"})},
       source=ISSUE + "webuild-consortium/wp4-interop-test-bed/issues/33")
bearer("what a DPoP library makes", ["DPoP"], ["htb_s256"], {"Authorization": "Bearer " + token({"htu": URL, "ath": "x" * 43, "aud": None, "sub": None, "exp": None, "iat": T, "htb_s256": None}, {"typ": "dpop+jwt"})},
       source=ISSUE + "inrupt/solid-client-authn-js/issues/3184")
bearer("DPoP as the scheme", ["DPoP"], ["Bearer"], {"Authorization": "DPoP " + token()}, source=ISSUE + "keycloak/keycloak/issues/39332")
bearer("Bearer twice", ["twice", "Bearer"], ["once", "Bearer"], {"Authorization": "Bearer Bearer " + token()})
bearer("Bearer undefined", ["undefined", "no token"], ["await", "token"], {"Authorization": "Bearer undefined"})
bearer("a promise of a token", ["[object", "promise"], ["await"], {"Authorization": "Bearer [object Promise]"})
bearer("a token that was kept for the next event", ["reused", "another event", "earlier event"], ["each", "every"],
       {"Authorization": "Bearer " + token({"jti": "11111111-2222-4333-8444-555555555555", "htb_s256": b64url(hashlib.sha256(b"{}").digest())})})

print(json.dumps(cases, ensure_ascii=True))
