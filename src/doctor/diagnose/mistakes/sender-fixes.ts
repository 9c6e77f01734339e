// The code to write at a sender, by what went wrong and by its language.
import type { Family, Mistake, MistakeRow } from "../../rows/mistake.js";

/** Languages that a sender's User-Agent can show, in the order in which they are shown. */
const LANGUAGES = ["JavaScript", "Python", "Go", "PHP", "Ruby", "Java"] as const;

/** One of them. */
type Language = (typeof LANGUAGES)[number];

type Fixes = Readonly<Record<Language, string>>;

/** What to write, by the place of the mistake. What is not here is no matter of code. */
const FIXES: Readonly<Partial<Record<Family, Fixes>>> = {
  key: {
    JavaScript: "createHmac('sha256', secret), with the secret's text as it is.",
    Python: "hmac.new(secret.encode(), message, 'sha256'), with the secret's text as it is.",
    Go: "hmac.New(sha256.New, []byte(secret)), with the secret's text as it is.",
    PHP: "hash_hmac('sha256', $message, $secret, true), with the secret's text as it is.",
    Ruby: "OpenSSL::HMAC.digest('SHA256', secret, message), with the secret's text as it is.",
    Java: 'new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"), with the secret\'s text as it is.',
  },
  secret: {
    JavaScript: "readFileSync(path, 'utf8').trim(), and no quotes where it is stored.",
    Python: "open(path).read().strip(), and no quotes where it is stored.",
    Go: "strings.TrimSpace(string(text)), after os.ReadFile(path); no quotes where it is stored.",
    PHP: "trim(file_get_contents($path)), and no quotes where it is stored.",
    Ruby: "File.read(path).strip, and no quotes where it is stored.",
    Java: "Files.readString(path).strip(), and no quotes where it is stored.",
  },
  input: {
    JavaScript: "createHmac('sha256', secret).update(timestamp + '.' + eventId + '.').update(body)",
    Python: "hmac.new(secret.encode(), f'{timestamp}.{event_id}.'.encode() + body, 'sha256')",
    Go: 'fmt.Fprintf(mac, "%s.%s.", timestamp, eventID); mac.Write(body)',
    PHP: "hash_hmac('sha256', \"$timestamp.$eventId.$body\", $secret, true)",
    Ruby: "OpenSSL::HMAC.digest('SHA256', secret, \"#{timestamp}.#{event_id}.\".b + body)",
    Java: 'mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8)); mac.doFinal(body)',
  },
  form: {
    JavaScript: ".digest('base64url')",
    Python: "base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').decode()",
    Go: "base64.RawURLEncoding.EncodeToString(mac.Sum(nil))",
    PHP: "rtrim(strtr(base64_encode($mac), '+/', '-_'), '='), of hash_hmac(…, true)",
    Ruby: "Base64.urlsafe_encode64(mac, padding: false)",
    Java: "Base64.getUrlEncoder().withoutPadding().encodeToString(mac)",
  },
  body: {
    JavaScript:
      "const body = JSON.stringify(event) once: sign it, and send it with fetch(url, { body }); not axios.post(url, event).",
    Python:
      "body = json.dumps(event).encode() once: sign it, and send it with requests.post(url, data=body); not json=event.",
    Go: "body, _ := json.Marshal(event) once: sign it, and send it with bytes.NewReader(body).",
    PHP: "$body = json_encode($event) once: sign it, and send it as 'body' => $body; not 'json' => $event.",
    Ruby: "body = JSON.generate(event) once: sign it, and send it with request.body = body.",
    Java: "byte[] body = mapper.writeValueAsBytes(event) once: sign it, and send it with BodyPublishers.ofByteArray(body).",
  },
  time: {
    JavaScript: "const timestamp = String(Math.floor(Date.now() / 1000)), for header and signing input.",
    Python: "timestamp = str(int(time.time())), for header and signing input.",
    Go: "timestamp := strconv.FormatInt(time.Now().Unix(), 10), for header and signing input.",
    PHP: "$timestamp = (string) time(), for header and signing input.",
    Ruby: "timestamp = Time.now.to_i.to_s, for header and signing input.",
    Java: "String timestamp = Long.toString(Instant.now().getEpochSecond()), for header and signing input.",
  },
};

/** What a User-Agent has in it; a program that anything may be written in, such as curl, shows none. */
const SIGNS: readonly (readonly [Language, RegExp])[] = [
  ["Python", /python|aiohttp|httpx|urllib3/i],
  ["Go", /\bgo-http-client|go-resty|\bgolang/i],
  ["PHP", /php|guzzle|symfony httpclient/i],
  ["Ruby", /\bruby\b|faraday|httparty|rest-client/i],
  ["Java", /\bjava\b|java-http-client|okhttp|apache-httpclient|reactornetty|jersey/i],
  ["JavaScript", /\bnode\b|undici|axios|node-fetch|\bgot\b|\bbun\b|\bdeno\b/i],
];

/**
 * A mistake in the sender's words: where code fixes it, that code in every language, the sender's own first and in the
 * place of `fix`. A sender in JavaScript has the row's own fix, which says more than the general one.
 */
export function inSendersWords(
  { id, title, message, fix, listener }: MistakeRow,
  userAgent: string | undefined,
): Mistake {
  const fixes = listener && FIXES[listener.family];
  if (!fixes) return { id, title, message, fix };
  const own = SIGNS.find(([, sign]) => sign.test(userAgent ?? ""))?.[0] ?? "JavaScript";
  const textOf = (language: Language) => (language === "JavaScript" ? fix : fixes[language]);
  const order = [own, ...LANGUAGES.filter((language) => language !== own)];
  return {
    id,
    title,
    message,
    fix: textOf(own),
    fixes: order.map((language) => ({ language, fix: textOf(language) })),
  };
}
