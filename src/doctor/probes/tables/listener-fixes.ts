// The code to write at a listener, by the bug's place and the language.
import type { Family } from "../../rows/mistake.js";

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
  clock: {},
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
  clock:
    "Set the listener's clock: timedatectl status. Compare Unix times, which are UTC, and not local times.",
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
