// The code that stands in fixes, letter by letter, and what of a request each piece makes.

/** What a piece makes: the rest of the request is right without it. */
type Part =
  | "secret"
  | "keyBytes"
  | "hmac"
  | "hmacOfAll"
  | "input"
  | "head"
  | "timestamp"
  | "eventId"
  | "body"
  | "signature"
  | "signer"
  | "tokenSignature"
  | "authorization"
  | "keyRecord"
  | "keySet"
  | "publicKey"
  | "subject"
  | "claims"
  | "refusal"
  | "standard"
  | "standardKey"
  | "standardHmac"
  | "standardPair"
  | "address"
  | "segment"
  | "rsaSignature"
  | "half"
  | "fingerprint"
  | "line"
  | "tokenInput"
  | "answer"
  | "posted";

export interface Piece {
  readonly code: string;
  readonly language: "node" | "python3" | "php" | "ruby" | "sh";
  readonly part: Part;
  /** Values that are wrong before the piece is run, by name; made of the right ones. */
  readonly given?: (right: { secret: string; signature: string; baseUrl: string }) => Record<string, unknown>;
}

const node = (code: string, part: Part, given?: Piece["given"]): Piece => ({
  code,
  language: "node",
  part,
  ...(given === undefined ? {} : { given }),
});
const PATH = "/api/v1/webhooks/incoming/lst_1";
const other = (language: Piece["language"], code: string, part: Part): Piece => ({ code, language, part });

/** Longer ones first: a shorter one may be a part of it. */
export const PIECES: readonly Piece[] = [
  node("createHmac('sha256', secret).update(input).digest('base64url')", "signature"),
  node("createHmac('sha256', secret).update(head).update(req.body)", "hmacOfAll"),
  node("createHmac('sha256', secret)", "hmac"),
  node("digest('base64url')", "signature"),
  node("const { secret } = await loadSecret()", "secret"),
  node("fetch(url, { method: 'POST', headers, body })", "posted"),
  node("headers.set(name, value)", "posted"),
  node("base64url(header) + '.' + base64url(claims) + '.' + base64url(signature)", "authorization"),
  node("base64url(header) + '.' + base64url(claims)", "tokenInput"),
  node("sign(claims)", "authorization"),
  node("res.send(JSON.stringify(keySet))", "answer"),
  node("res.json(keySet)", "answer"),
  node("createHmac('sha256', key).update(text)", "standardHmac"),
  node("createHmac('sha256', key)", "standardHmac"),
  node("'v1,' + hmac.digest('base64')", "standard"),
  node("Buffer.from(secret.slice('whsec_'.length), 'base64')", "standardKey"),
  node("'v1a,' + sign(null, text, key).toString('base64')", "standardPair"),
  node("new URL(path, base).href", "address", ({ baseUrl }) => ({ base: `${baseUrl}/`, path: PATH })),
  node("base.replace(/\\/$/, '') + path", "address", ({ baseUrl }) => ({ base: `${baseUrl}/`, path: PATH })),
  node("url.trim()", "address", ({ baseUrl }) => ({ url: ` ${baseUrl}${PATH}\n` })),
  node("new URL(url).href", "address"),
  node("new URL(url)", "address"),
  node("Buffer.from(part).toString('base64url')", "segment"),
  node("sign('sha256', input, key)", "rsaSignature"),
  node("secretFingerprint(secret)", "fingerprint"),
  node("[timestamp, eventId, body].join('.')", "input"),
  node("String(Math.floor(Date.now() / 1000))", "timestamp"),
  node("Math.floor(Date.now() / 1000)", "timestamp"),
  node("JSON.stringify(payload)", "body"),
  node("new TextEncoder().encode(body)", "body"),
  node("new TextDecoder().decode(bytes)", "body"),
  node("await request.text()", "body"),
  node("await request.arrayBuffer()", "body"),
  node("Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8')", "body"),
  node("new TextEncoder().encode(secret)", "keyBytes"),
  node(".digest('base64url')", "signature"),
  node("signature.replace(/=+$/, '')", "signature", ({ signature }) => ({ signature: `${signature}=` })),
  node("headers['Webhook-Signature'] = signature", "signature"),
  node("Buffer.from(digest).toString('base64url')", "signature"),
  node("Buffer.from(await crypto.subtle.sign('HMAC', key, input)).toString('base64url')", "signature"),
  node("signHmac({ secret, timestamp, eventId, body })", "signature"),
  node("hmacSigner({ secret: [newSecret, oldSecret] })", "signer"),
  node("hmacSigner({ secret })", "signer"),
  node("jwtSigner({ key, kid, alg })", "signer"),
  node("readFileSync(path, 'utf8').trim()", "secret"),
  node("secret.trim()", "secret", ({ secret }) => ({ secret: ` ${secret}\n` })),
  node("secret.replace(/^[\"']|[\"']$/g, '')", "secret", ({ secret }) => ({ secret: `"${secret}"` })),
  node("secret.replace(/[^\\w-]/g, '')", "secret", ({ secret }) => ({ secret: `${secret}\u200b` })),
  node("text.replace(/^\\uFEFF/, '')", "secret", ({ secret }) => ({ text: `\uFEFF${secret}` })),
  node("JSON.parse(SecretString).secret", "secret", ({ secret }) => ({
    SecretString: JSON.stringify({ secret }),
  })),
  node("if (!secret) throw new Error('the webhook secret is not set')", "refusal", () => ({ secret: "" })),
  node("newEventId()", "eventId"),
  node("crypto.randomUUID()", "eventId"),
  node("headers.Authorization = 'Bearer ' + (await makeToken())", "authorization"),
  node("'Bearer ' + token", "authorization"),
  node("token.trim()", "authorization"),
  node("jwksHandler(createKeySet(records))", "keySet"),
  node("generateKey({ alg: 'RS256' })", "keyRecord"),
  node("generateKey({ alg })", "keyRecord"),
  node("sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' })", "tokenSignature"),
  node("signature.toString('base64url')", "tokenSignature"),
  node("createPublicKey(pem).export({ format: 'jwk' })", "publicKey"),
  node("url.replace(/\\/$/, '')", "subject", ({ baseUrl }) => ({ url: `${baseUrl}/` })),
  node("{ sub: baseUrl, aud: baseUrl + '/api/v1/webhooks/incoming/' + listenerId }", "claims"),
  other("python3", "str(int(time.time()))", "timestamp"),
  other("python3", "int(time.time())", "timestamp"),
  other("python3", "str(uuid.uuid4())", "eventId"),
  other("python3", "json.dumps(payload).encode()", "body"),
  other("python3", "f'{timestamp}.{event_id}.'.encode() + body", "input"),
  other("python3", "base64.urlsafe_b64encode(mac.digest()).rstrip(b'=').decode()", "signature"),
  other("python3", "base64.urlsafe_b64encode(mac.digest()).rstrip(b'=')", "signature"),
  other("python3", "open(path, encoding='utf-8-sig')", "secret"),
  other("python3", "encoding='utf-8'", "body"),
  other("python3", "padding.PKCS1v15()", "rsaSignature"),
  other("python3", "r.to_bytes(32, 'big')", "half"),
  other("ruby", "JSON.generate(payload)", "body"),
  other("sh", "base64 -w0", "line"),
  other("sh", "date +%s", "timestamp"),
  other("sh", "curl --data-binary @body.json", "posted"),
  other("php", "hash_hmac('sha256', $input, $secret, true)", "signature"),
  other("php", "json_encode($payload)", "body"),
  other("sh", 'printf %s "$body"', "body"),
  other("sh", 'echo "$SECRET" | base64 -d', "secret"),
  other("sh", "openssl dgst -sha256 -hmac $SECRET -binary | basenc --base64url -w0 | tr -d '='", "signature"),
];

/** What a fix says not to write, or shows of another language or program, is no code to run. A name may have a period in it. */
const NOT_TO_WRITE = /(?:\bnot|\bwithout|\bneither|\bno) (?:\([^)]*\)|[^.;:(]|\.(?=\w))*/g;

/** A fix without the code that it says not to write. */
export function withoutWhatIsNotTold(fix: string): string {
  return fix.replace(NOT_TO_WRITE, " ");
}

/** The pieces that a fix tells to write. */
export function piecesOf(fix: string): readonly Piece[] {
  // What only stands behind "not" is a mistake, and not its fix.
  let rest = withoutWhatIsNotTold(fix);
  const found: Piece[] = [];
  for (const piece of [...PIECES].sort((a, b) => b.code.length - a.code.length)) {
    // A piece may have such a word itself, such as the text of an error.
    if (!rest.includes(piece.code) && !(piece.part === "refusal" && fix.includes(piece.code))) continue;
    rest = rest.replaceAll(piece.code, " ");
    found.push(piece);
  }
  return found;
}
