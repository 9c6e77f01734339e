/** What a listener with one bug has in common with others: where in its code the bug is. */
export type Family = "key" | "secret" | "input" | "form" | "body" | "time" | "headers" | "token";

/** The words of one mistake, seen from the listener that makes it. */
export interface ListenerWords {
  /** What the listener accepts because of it, such as `signatures made with the decoded secret`. */
  readonly accepts: string;
  /** The bug in its code, such as `it decodes the secret`. */
  readonly bug: string;
  readonly family: Family;
}

function family(name: Family, rows: Readonly<Record<string, readonly [accepts: string, bug: string]>>) {
  return Object.entries(rows).map(
    ([id, [accepts, bug]]) => [id, { accepts, bug, family: name }] as const satisfies [string, ListenerWords],
  );
}

/** The words of every mistake that is tried on a listener, by the id that `mistakes` of hookproof/diagnose has. */
export const LISTENER_WORDS: ReadonlyMap<string, ListenerWords> = new Map([
  ...family("key", {
    "secret-base64url-decoded": ["signatures made with the decoded secret", "it decodes the secret"],
    "secret-base64-decoded": [
      "signatures made with the secret decoded from base64",
      "it decodes the secret from base64",
    ],
    "secret-hex-decoded": [
      "signatures made with the secret decoded from hex",
      "it decodes the secret from hex",
    ],
    "secret-decoded-to-text": [
      "signatures made with the secret decoded to text",
      "it decodes the secret to text",
    ],
    "secret-prefix-removed": [
      "signatures made with the secret without its prefix",
      "it removes the prefix of the secret",
    ],
    "secret-prefix-removed-and-decoded": [
      "signatures made with the secret without its prefix and decoded",
      "it treats the secret as Standard Webhooks does",
    ],
    "secret-prefix-added": [
      "signatures made with whsec_ in front of the secret",
      "it has a prefix in front of the secret",
    ],
    "secret-other-alphabet": [
      "signatures made with the secret in the other base64 alphabet",
      "it replaces characters of the secret",
    ],
    "secret-padding": [
      "signatures made with another padding (=) of the secret",
      "it adds or removes the padding of the secret",
    ],
    "secret-encoded": [
      "signatures made with the secret encoded once more",
      "it encodes the secret once more",
    ],
    "secret-hashed": ["signatures made with the hash of the secret", "it hashes the secret"],
    "secret-utf16": ["signatures made with the secret in UTF-16", "it encodes the secret as UTF-16"],
    "secret-case": ["signatures made with the secret in other case", "it changes the case of the secret"],
  }),
  ...family("secret", {
    "secret-newline": [
      "signatures made with a line break after the secret",
      "its secret ends with a line break",
    ],
    "secret-trimmed": [
      "signatures made with the secret without white space around it",
      "the secret given here has white space around it, and the listener's has none",
    ],
    "secret-quoted": ["signatures made with quotes around the secret", "its secret has quotes around it"],
    "secret-unquoted": [
      "signatures made with the secret without quotes around it",
      "the secret given here has quotes around it, and the listener's has none",
    ],
    "secret-space": ["signatures made with a space beside the secret", "its secret has a space beside it"],
    "secret-bom": [
      "signatures made with a byte order mark before the secret",
      "its secret begins with a byte order mark",
    ],
    "secret-missing": [
      "signatures made with an empty secret, or with a word such as undefined",
      "its secret is not set",
    ],
  }),
  ...family("input", {
    "input-id-first": [
      "signatures over event id, timestamp and body in this order",
      "it puts the event id before the timestamp",
    ],
    "input-without-id": [
      "signatures that do not cover the event id",
      "it leaves the event id out of the signing input",
    ],
    "input-body-only": ["signatures over the body alone", "it verifies the body alone"],
    "input-without-timestamp": [
      "signatures that do not cover the timestamp",
      "it leaves the timestamp out of the signing input",
    ],
    "input-without-body": [
      "signatures that do not cover the body",
      "it leaves the body out of the signing input",
    ],
    "input-other-order": [
      "signatures over the three parts in another order",
      "it joins the parts in another order",
    ],
    "input-no-separator": [
      "signatures over the parts without periods between them",
      "it joins the parts without a separator",
    ],
    "input-other-separator": [
      "signatures over the parts with another separator than a period",
      "it joins the parts with another separator",
    ],
    "input-prefix": [
      "signatures over an input with something before the timestamp",
      "it puts something before the timestamp",
    ],
    "event-id-signed-in-other-case": [
      "signatures over the event id in other case than its header",
      "it changes the case of the event id before it verifies",
    ],
    "event-id-signed-without-hyphens": [
      "signatures over the event id without hyphens",
      "it removes the hyphens of the event id",
    ],
    "hmac-arguments-swapped": [
      "signatures made with key and message swapped",
      "it swaps the key and the message",
    ],
    "hash-instead-of-hmac": ["plain hashes in place of signatures", "it computes a hash and no HMAC"],
    "signature-other-hash": ["signatures made with another hash", "it uses another hash than SHA-256"],
  }),
  ...family("form", {
    "signature-hex": ["signatures in hex", "it compares hex with base64url"],
    "signature-base64": ["signatures in standard base64", "it compares standard base64 with base64url"],
    "signature-padded": ["signatures with padding (=)", "it compares base64url with padding"],
    "signature-prefixed": ["signatures with a prefix such as sha256=", "it expects a prefix"],
    "signature-base64-of-hex": ["signatures in base64 of hex", "it encodes the hex text as base64"],
  }),
  ...family("time", {
    "timestamp-milliseconds": [
      "timestamps in milliseconds",
      "it takes Webhook-Timestamp for milliseconds, and it has seconds",
    ],
    "timestamp-signed-in-milliseconds": [
      "signatures over the timestamp in milliseconds",
      "it turns the timestamp into milliseconds before it verifies",
    ],
    "timestamp-signed-in-seconds": [
      "signatures over the timestamp in seconds",
      "it turns the timestamp into seconds before it verifies",
    ],
    "timestamp-signed-as-date": [
      "signatures over the timestamp as a date",
      "it turns the timestamp into a date before it verifies",
    ],
    "timestamp-signed-with-fraction": [
      "signatures over the timestamp with decimals",
      "it turns the timestamp into a number with decimals before it verifies",
    ],
  }),
  ...family("headers", {
    "header-misnamed": ["requests with a header under another name", "it reads another header"],
  }),
  ...family("body", {
    "body-compact": [
      "signatures over the body written anew without white space",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-spaced": [
      "signatures over the body written anew with spaces, as Python's json.dumps does",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-indented": [
      "signatures over the body written anew with indentation",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-keys-sorted": [
      "signatures over the body with its keys sorted",
      "it parses the body and sorts its keys before it verifies",
    ],
    "body-ascii-escaped": [
      "signatures over the body written anew with \\u escapes",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-slashes-escaped": [
      "signatures over the body written anew with escaped slashes, as PHP's json_encode does",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-html-escaped": [
      "signatures over the body written anew with <, > and & escaped",
      "it parses the body and serialises it again before it verifies",
    ],
    "body-empty": ["signatures over an empty body", "the body is consumed before it verifies"],
    "body-as-object": ["signatures over [object Object]", "it verifies the parsed body as text"],
    "body-python-repr": ["signatures over a Python value", "it verifies the parsed body as text"],
    "body-ruby-inspect": ["signatures over a Ruby hash", "it verifies the parsed body as text"],
    "body-undefined": ["signatures over the word undefined or null", "it has no body when it verifies"],
    "body-newline-added": [
      "signatures over the body and a line break",
      "it adds a line break to the body before it verifies",
    ],
    "body-newline-removed": [
      "signatures over the body without the white space at its ends",
      "it trims the body before it verifies",
    ],
    "body-line-endings": [
      "signatures over the body with other line endings",
      "it changes the line endings of the body before it verifies",
    ],
    "body-bom": ["signatures over the body with a byte order mark", "it adds a byte order mark to the body"],
    "body-utf16": ["signatures over the body in UTF-16", "it encodes the body as UTF-16"],
    "body-latin1": ["signatures over the body in Latin-1", "it encodes the body as Latin-1"],
    "body-utf8-twice": ["signatures over the body encoded twice", "it reads the body's bytes as Latin-1"],
    "body-stringified-twice": [
      "signatures over the body serialised twice",
      "it serialises the body's text once more",
    ],
    "body-python-bytes": ["signatures over Python's b'…'", "it puts bytes into a text"],
    "body-hashed": ["signatures over a hash of the body", "it verifies a hash of the body"],
    "body-base64": ["signatures over the body in base64", "it does not decode the gateway's base64"],
  }),
  ...family("token", {
    "bearer-missing": [
      "tokens without Bearer in front",
      "it does not take the scheme off Authorization, or does not want one",
    ],
    "claim-aud-list": ["tokens whose aud is a list", "it expects a list in aud"],
    "claim-htm-case": ["tokens with htm in lower case", "it compares htm in lower case"],
    "claim-jti-spelling": ["tokens with jti in another spelling", "it changes the event id"],
    "claim-exp-milliseconds": ["tokens with exp in milliseconds", "it takes exp for milliseconds"],
    "claim-htb-hex": ["tokens with htb_s256 in hex", "it compares hex with base64url"],
    "claim-htb-base64": ["tokens with htb_s256 in standard base64", "it compares standard base64"],
    "claim-htb-of-signing-input": [
      "tokens with htb_s256 of more than the body",
      "it hashes timestamp, event id and body",
    ],
    "token-signature-der": ["tokens with an ES256 signature in DER", "it verifies DER and not 64 bytes"],
  }),
]);

/** Languages that a listener's answers can show. */
export type Language = "node" | "python" | "php" | "ruby" | "java";

/** The code to write, by the place of the bug and the language. */
export const FIXES: Readonly<Record<Family, Partial<Record<Language, string>>>> = {
  key: {
    node: "createHmac('sha256', secret), with the secret's text as it is.",
    python: "hmac.new(secret.encode(), message, 'sha256'), with the secret's text as it is.",
    php: "hash_hmac('sha256', $message, $secret, true), with the secret's text as it is.",
    ruby: "OpenSSL::HMAC.digest('SHA256', secret, message), with the secret's text as it is.",
    java: 'new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"), with the secret\'s text as it is.',
  },
  secret: {
    node: "readFileSync(path, 'utf8').trim(), and no quotes where it is stored.",
    python: "open(path).read().strip(), and no quotes where it is stored.",
    php: "trim(file_get_contents($path)), and no quotes where it is stored.",
    ruby: "File.read(path).strip, and no quotes where it is stored.",
    java: "Files.readString(path).strip(), and no quotes where it is stored.",
  },
  input: {
    node: "createHmac('sha256', secret).update(timestamp + '.' + eventId + '.').update(body), with the headers' texts and the body's bytes.",
    python:
      "f'{timestamp}.{event_id}.'.encode() + body, with the headers' texts and the body's bytes, by HMAC-SHA256.",
    php: "\"$timestamp.$eventId.$body\", with the headers' texts and the body's bytes, by hash_hmac('sha256', …).",
    ruby: "\"#{timestamp}.#{event_id}.#{body}\", with the headers' texts and the body's bytes, by HMAC-SHA256.",
    java: 'mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8)); mac.doFinal(body), with HmacSHA256.',
  },
  form: {
    node: ".digest('base64url')",
    python: "base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').decode()",
    php: "rtrim(strtr(base64_encode($mac), '+/', '-_'), '='), of hash_hmac(…, true)",
    ruby: "Base64.urlsafe_encode64(mac, padding: false)",
    java: "Base64.getUrlEncoder().withoutPadding().encodeToString(mac)",
  },
  body: {
    node: "Verify the bytes as received: express.raw({ type: () => true }), await request.arrayBuffer().",
    python:
      "Verify the bytes as received: request.get_data() in Flask, request.body in Django, await request.body() in FastAPI.",
    php: "Verify the bytes as received: file_get_contents('php://input').",
    ruby: "Verify the bytes as received: request.raw_post in Rails, request.body.read elsewhere.",
    java: "Verify the bytes as received: @RequestBody byte[] body in Spring, getRequestBody().readAllBytes() elsewhere.",
  },
  time: {
    node: "Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300, with the header's text in the signing input.",
    python: "abs(time.time() - int(timestamp)) <= 300, with the header's text in the signing input.",
    php: "abs(time() - (int) $timestamp) <= 300, with the header's text in the signing input.",
    ruby: "(Time.now.to_i - timestamp.to_i).abs <= 300, with the header's text in the signing input.",
    java: "Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) <= 300, with the header's text in the signing input.",
  },
  headers: {
    php: "Read $_SERVER['HTTP_WEBHOOK_SIGNATURE'], and …_WEBHOOK_TIMESTAMP and …_WEBHOOK_EVENT_ID.",
  },
  token: {},
};

/** What is to be done in any language, where the sender's words would mislead. */
export const GENERAL_FIXES: Readonly<Partial<Record<Family, string>>> = {
  input:
    "Compute HMAC-SHA256 over {timestamp}.{event_id}.{body}: the headers' texts and the body's bytes, as received, joined by periods.",
  form: "Compare the header's text with the base64url of the HMAC: 43 characters, - and _, no =, no prefix.",
  body: "Verify the bytes as received, and parse them afterwards.",
  time: "Compare in seconds: abs(now - timestamp) <= 300, and verify with the header's text.",
  headers: "Read Webhook-Timestamp, Webhook-Event-Id and Webhook-Signature (tokens: Authorization).",
  token:
    "Compare sub with the base URL, aud with the listener's URL, jti with Webhook-Event-Id, htm with POST, and htb_s256 with the base64url of the body's SHA-256.",
};

const SIGNS: readonly (readonly [Language, RegExp])[] = [
  ["php", /php/i],
  ["python", /python|werkzeug|gunicorn|uvicorn|wsgi|hypercorn|daphne|tornado/i],
  ["ruby", /ruby|webrick|puma|passenger|unicorn/i],
  ["java", /java|jetty|tomcat|coyote|undertow/i],
  ["node", /express|node|next\.js/i],
];

/** The language that a text of the headers Server and X-Powered-By shows. */
export function languageOf(software: string): Language | undefined {
  return SIGNS.find(([, sign]) => sign.test(software))?.[0];
}
