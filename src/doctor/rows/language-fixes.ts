// The code to write on the other side, by the bug's place and the language that its headers show.
import { type Family, type Mistake, type MistakeRow, withoutFunctions } from "./mistake.js";

/** Languages that the headers of a program can show. */
type Language = "node" | "python" | "php" | "ruby" | "java" | "go" | "csharp" | "rust";

/** The code to write, by the place of the bug and the language. */
export const FIXES: Readonly<Record<Family, Partial<Record<Language, string>>>> = {
  key: {
    node: "createHmac('sha256', secret), with the secret's text as it is.",
    python: "hmac.new(secret.encode(), message, 'sha256'), with the secret's text as it is.",
    php: "hash_hmac('sha256', $message, $secret, true), with the secret's text as it is.",
    ruby: "OpenSSL::HMAC.digest('SHA256', secret, message), with the secret's text as it is.",
    java: 'new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"), with the secret\'s text as it is.',
    go: "hmac.New(sha256.New, []byte(secret)), with the secret's text as it is.",
    csharp: "new HMACSHA256(Encoding.UTF8.GetBytes(secret)), with the secret's text as it is.",
    rust: "Hmac::<Sha256>::new_from_slice(secret.as_bytes()), with the secret's text as it is.",
  },
  secret: {
    node: "readFileSync(path, 'utf8').trim(), and no quotes where it is stored.",
    python: "open(path).read().strip(), and no quotes where it is stored.",
    php: "trim(file_get_contents($path)), and no quotes where it is stored.",
    ruby: "File.read(path).strip, and no quotes where it is stored.",
    java: "Files.readString(path).strip(), and no quotes where it is stored.",
    go: "strings.TrimSpace(string(data)) of what os.ReadFile(path) gives, and no quotes where it is stored.",
    csharp: "File.ReadAllText(path).Trim(), and no quotes where it is stored.",
    rust: "std::fs::read_to_string(path)?.trim().to_owned(), and no quotes where it is stored.",
  },
  input: {
    node: "createHmac('sha256', secret).update(timestamp + '.' + eventId + '.').update(body), with the headers' texts and the body's bytes.",
    python:
      "f'{timestamp}.{event_id}.'.encode() + body, with the headers' texts and the body's bytes, by HMAC-SHA256.",
    php: "\"$timestamp.$eventId.$body\", with the headers' texts and the body's bytes, by hash_hmac('sha256', …).",
    ruby: "\"#{timestamp}.#{event_id}.#{body}\", with the headers' texts and the body's bytes, by HMAC-SHA256.",
    java: 'mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8)); mac.doFinal(body), with HmacSHA256.',
    go: 'mac.Write([]byte(timestamp + "." + eventID + ".")); mac.Write(body), with the headers\' texts and the body\'s bytes.',
    csharp:
      "hmac.ComputeHash(Encoding.UTF8.GetBytes($\"{timestamp}.{eventId}.\").Concat(body).ToArray()), with the headers' texts and the body's bytes.",
    rust: "mac.update(format!(\"{timestamp}.{event_id}.\").as_bytes()); mac.update(&body), with the headers' texts and the body's bytes.",
  },
  form: {
    node: ".digest('base64url')",
    python: "base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').decode()",
    php: "rtrim(strtr(base64_encode($mac), '+/', '-_'), '='), of hash_hmac(…, true)",
    ruby: "Base64.urlsafe_encode64(mac, padding: false)",
    java: "Base64.getUrlEncoder().withoutPadding().encodeToString(mac)",
    go: "base64.RawURLEncoding.EncodeToString(mac.Sum(nil))",
    csharp: "Convert.ToBase64String(hash).TrimEnd('=').Replace('+', '-').Replace('/', '_')",
    rust: "Base64UrlUnpadded::encode(&mac.finalize().into_bytes(), &mut [0; 43]).unwrap().to_owned()",
  },
  body: {
    node: "Verify the bytes as received: express.raw({ type: () => true }), await request.arrayBuffer().",
    python:
      "Verify the bytes as received: request.get_data() in Flask, request.body in Django, await request.body() in FastAPI.",
    php: "Verify the bytes as received: file_get_contents('php://input').",
    ruby: "Verify the bytes as received: request.raw_post in Rails, request.body.read elsewhere.",
    java: "Verify the bytes as received: @RequestBody byte[] body in Spring, getRequestBody().readAllBytes() elsewhere.",
    go: "Verify the bytes as received: io.ReadAll(r.Body), before json.Unmarshal.",
    csharp:
      "Verify the bytes as received: copy Request.Body into a MemoryStream before a model is bound to it.",
    rust: "Verify the bytes as received: body: axum::body::Bytes, actix_web::web::Bytes.",
  },
  time: {
    node: "Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300, with the header's text in the signing input.",
    python: "abs(time.time() - int(timestamp)) <= 300, with the header's text in the signing input.",
    php: "abs(time() - (int) $timestamp) <= 300, with the header's text in the signing input.",
    ruby: "(Time.now.to_i - timestamp.to_i).abs <= 300, with the header's text in the signing input.",
    java: "Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) <= 300, with the header's text in the signing input.",
    go: "A difference of at most 300 between time.Now().Unix() and the number of strconv.ParseInt(timestamp, 10, 64), with the header's text in the signing input.",
    csharp:
      "Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) <= 300, with the header's text in the signing input.",
    rust: "now.abs_diff(timestamp.parse::<u64>()?) <= 300, in seconds, with the header's text in the signing input.",
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
    "Set the listener's clock: date +%s prints it. Compare Unix times, which are UTC, and not local times.",
  headers: "Read Webhook-Timestamp, Webhook-Event-Id and Webhook-Signature (tokens: Authorization).",
  token:
    "Compare sub with the base URL, aud with the listener's URL, jti with Webhook-Event-Id, htm with POST, and htb_s256 with the base64url of the body's SHA-256.",
};

/** What a sender writes so that it signs the bytes that it sends. */
export const SENT_BODY: Readonly<Record<Language, string>> = {
  node: "const body = JSON.stringify(payload), for the signature and for fetch(url, { body }).",
  python: "body = json.dumps(payload).encode(), for the signature and for requests.post(url, data=body).",
  php: "$body = json_encode($payload), for the signature and for CURLOPT_POSTFIELDS.",
  ruby: "body = JSON.generate(payload), for the signature and for request.body = body.",
  java: "byte[] body = mapper.writeValueAsBytes(payload), for the Mac and for BodyPublishers.ofByteArray(body).",
  go: "body, err := json.Marshal(payload), for the signature and for bytes.NewReader(body).",
  csharp:
    "byte[] body = JsonSerializer.SerializeToUtf8Bytes(payload), for the signature and for new ByteArrayContent(body).",
  rust: "let body = serde_json::to_vec(&payload)?, for the signature and for .body(body).",
};

const NAMES: Readonly<Record<Language, string>> = {
  node: "JavaScript",
  python: "Python",
  php: "PHP",
  ruby: "Ruby",
  java: "Java",
  go: "Go",
  csharp: "C#",
  rust: "Rust",
};

const LANGUAGES = Object.keys(NAMES) as readonly Language[];

const SIGNS: readonly (readonly [Language, RegExp])[] = [
  ["php", /php/i],
  ["python", /python|werkzeug|gunicorn|uvicorn|wsgi|hypercorn|daphne|tornado/i],
  ["ruby", /ruby|webrick|puma|passenger|unicorn/i],
  ["java", /java|jetty|tomcat|coyote|undertow/i],
  ["csharp", /kestrel|asp\.net|microsoft-iis|\.net\b/i],
  ["go", /\bgo\b|golang|fasthttp/i],
  ["rust", /\brust|actix|axum|\bhyper\b|rocket/i],
  ["node", /express|node|next\.js/i],
];

/** What clients write into User-Agent, where it is not the name of their language. */
const CLIENTS: readonly (readonly [Language, RegExp])[] = [
  ["php", /guzzle|symfony|\bphp\b/i],
  ["python", /python|aiohttp|httpx/i],
  ["ruby", /ruby|faraday|httparty|rest-client|http\.rb|typhoeus/i],
  ["java", /\bjava\b|okhttp|apache-httpclient|reactornetty|jersey/i],
  ["csharp", /\.net\b|restsharp|flurl/i],
  ["go", /\bgo-|\bresty\b|fasthttp/i],
  ["rust", /\brust\b|reqwest|\bhyper\/|\bureq\b/i],
  ["node", /\bnode\b|node-fetch|undici|axios|\bgot\b|superagent|needle/i],
];

/** The language that a text of the headers Server and X-Powered-By shows. */
export function languageOf(software: string): Language | undefined {
  return SIGNS.find(([, sign]) => sign.test(software))?.[0];
}

/**
 * The mistakes of a request in words. Where code is what fixes one, the fix has the code of the sender's language, which
 * its User-Agent shows, once for each place in its code; and `fixes` has that of every language, the sender's own first.
 * JavaScript's there is the row's fix, which knows more of the mistake.
 */
export function inLanguagesOfSenders(
  rows: readonly MistakeRow[],
  userAgent: string | undefined,
): readonly Mistake[] {
  const text = userAgent?.slice(0, 200) ?? "";
  const own = CLIENTS.find(([, sign]) => sign.test(text))?.[0];
  const told = new Set<Family>();
  return rows.map((row) => {
    const mistake = withoutFunctions(row);
    const family = row.listener?.family;
    if (family === undefined || !OF_SENDERS.has(family)) return mistake;
    const fixes = LANGUAGES.flatMap((language) => {
      const code = language === "node" ? row.fix : codeOf(language, family);
      return code === undefined ? [] : [{ language: NAMES[language], fix: code }];
    });
    if (own === undefined) return { ...mistake, fixes };
    const isOwn = ({ language }: { language: string }) => language === NAMES[own];
    const sorted = [...fixes.filter(isOwn), ...fixes.filter((one) => !isOwn(one))];
    const words = told.has(family) ? "" : ` In ${NAMES[own]}: ${codeOf(own, family)}`;
    told.add(family);
    return { ...mistake, fix: mistake.fix + words, fixes: sorted };
  });
}

function codeOf(language: Language, family: Family): string | undefined {
  return family === "body" ? SENT_BODY[language] : FIXES[family][language];
}

/** Where the code of a sender is that of a listener, and the body. */
const OF_SENDERS: ReadonlySet<Family> = new Set(["key", "secret", "input", "form", "body"]);
