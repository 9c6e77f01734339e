import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const NOW = 1_767_225_600;
const SECRET = "a-secret-of-more-than-thirty-two-characters";
const URL_ = "https://hooks.example.com/in?a=1";
const BODY = '{"n": 1}';
const NAMES = ["@method", "@target-uri", "content-type", "content-digest", "webhook-event-id"];
const sha256 = (text: string) => createHash("sha256").update(text).digest("base64");

interface Change {
  readonly names?: readonly string[];
  readonly values?: Record<string, string>;
  readonly parameters?: string;
  /** What is signed, of its lines. */
  readonly text?: (lines: string[], last: string) => string;
  /** The header lines as they are sent; undefined removes one. */
  readonly headers?: (made: Record<string, string>) => Record<string, string | undefined>;
}

/** A request signed by hand, by the text of RFC 9421. */
function request({ names = NAMES, values = {}, parameters, text, headers = (made) => made }: Change) {
  const own: Record<string, string> = {
    "@method": "POST",
    "@target-uri": URL_,
    "content-type": "application/json",
    "content-digest": `sha-256=:${sha256(BODY)}:`,
    "webhook-event-id": "id-1",
  };
  const input = `(${names.map((name) => `"${name}"`).join(" ")})${parameters ?? `;created=${NOW};keyid="k";alg="hmac-sha256"`}`;
  const lines = names.map((name) => `"${name}": ${values[name] ?? own[name] ?? ""}`);
  const signed = (text ?? ((all, last) => [...all, last].join("\n")))(lines, `"@signature-params": ${input}`);
  const made = {
    "Content-Type": "application/json",
    "Content-Digest": own["content-digest"] as string,
    "Webhook-Event-Id": "id-1",
    "Signature-Input": `sig1=${input}`,
    Signature: `sig1=:${createHmac("sha256", SECRET).update(signed).digest("base64")}:`,
  };
  return Object.fromEntries(
    Object.entries(headers(made)).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
}

const target = (uri: string): Change => ({ values: { "@target-uri": uri } });
const parameters = (text: string): Change => ({ parameters: text });
const sent = (change: Record<string, string | undefined>): Change => ({
  headers: (made) => ({ ...made, ...change }),
});
const END = ';keyid="k";alg="hmac-sha256"';

const CASES: Readonly<Record<string, Change>> = {
  "draft-cavage": sent({
    "Signature-Input": undefined,
    Signature: 'keyId="k",algorithm="hmac-sha256",headers="(request-target) digest",signature="AAAA"',
  }),
  "signature-input-missing": sent({ "Signature-Input": undefined }),
  "signature-not-in-colons": {
    headers: (made) => ({ ...made, Signature: made.Signature?.replaceAll(":", "") }),
  },
  "signature-in-base64url": sent({ Signature: `sig1=:${"-_".repeat(21)}A:` }),
  "label-differs": { headers: (made) => ({ ...made, Signature: made.Signature?.replace("sig1", "sig") }) },
  "digest-header-old": sent({ "Content-Digest": undefined, Digest: `SHA-256=${sha256(BODY)}` }),
  "digest-not-in-colons": sent({ "Content-Digest": `sha-256=${sha256(BODY)}` }),
  "digest-name-differs": sent({ "Content-Digest": `sha256=:${sha256(BODY)}:` }),
  "digest-of-other-body": sent({ "Content-Digest": `sha-256=:${sha256('{"n":1}')}:` }),
  "created-missing": parameters(END),
  "created-not-a-number": parameters(`;created="${NOW}"${END}`),
  "created-in-milliseconds": parameters(`;created=${NOW * 1000}${END}`),
  "created-too-old": parameters(`;created=${NOW - 301}${END}`),
  "created-in-future": parameters(`;created=${NOW + 301}${END}`),
  "expires-over": parameters(`;created=${NOW};expires=${NOW - 1}${END}`),
  "components-missing": { names: NAMES.slice(1) },
  "component-in-capitals": { names: [...NAMES.slice(0, 2), "Content-Type", ...NAMES.slice(3)] },
  "covers-what-is-not-there": { names: [...NAMES, "x-gone"] },
  "alg-unknown": parameters(`;created=${NOW};keyid="k";alg="hs2019"`),
  "keyid-missing": parameters(`;created=${NOW};alg="hmac-sha256"`),
  "keyid-unknown": parameters(`;created=${NOW};keyid="other";alg="hmac-sha256"`),
  "key-of-other-kind": parameters(`;created=${NOW};keyid="k";alg="ed25519"`),
  "target-of-other-host": { ...target("https://internal:8443/in?a=1"), ...sent({ Host: "internal:8443" }) },
  "target-of-other-scheme": target(URL_.replace("https", "http")),
  "target-without-query": target("https://hooks.example.com/in"),
  "authority-with-port": target("https://hooks.example.com:443/in?a=1"),
  "method-in-small-letters": { values: { "@method": "post" } },
  "components-in-other-order": { text: (lines, last) => [...lines].reverse().concat(last).join("\n") },
  "parameters-not-signed": { text: (lines) => lines.join("\n") },
  "names-without-quotes": {
    text: (lines, last) => [...lines, last].join("\n").replace(/^"([^"]*)"/gm, "$1"),
  },
  "request-target-signed-otherwise": {
    names: [...NAMES, "@request-target"],
    values: { "@request-target": "post /in?a=1" },
  },
  "scheme-signed-otherwise": { names: [...NAMES, "@scheme"], values: { "@scheme": "https:" } },
  "line-ends-differ": { text: (lines, last) => [...lines, last].join("\r\n") },
};

it("each mistake is named alone, and refused", async () => {
  const rules = { url: URL_, secrets: { k: SECRET } };
  const receiver = createReceiver({
    verifier: httpSignatureVerifier(rules),
    clock: { now: () => NOW * 1000 },
  });
  const judge = async (headers: Record<string, string>) => {
    const verdict = await receiver.verify({ method: "POST", url: URL_, headers, body: BODY });
    const mistakes = await mistakesOf("http-signature", { ...rules, headers, body: BODY, nowSeconds: NOW });
    return { ok: verdict.ok, ids: mistakes.map(({ id }) => id) };
  };
  const found: Record<string, unknown> = {};
  for (const [id, change] of Object.entries(CASES)) found[id] = await judge(request(change));
  expect(found).toEqual(Object.fromEntries(Object.keys(CASES).map((id) => [id, { ok: false, ids: [id] }])));
  expect(await judge(request({}))).toEqual({ ok: true, ids: [] });
  expect(await judge(request(parameters(`;created=${NOW};keyid="k"`)))).toEqual({ ok: true, ids: [] });
});

it("a key set without the key's algorithm, and header lines of any text", async () => {
  const { publicJwk } = await generateKey({ alg: "ES256", kid: "k" });
  const rules = { url: URL_, keys: localKeys({ keys: [publicJwk] }) };
  const ids = async (headers: Record<string, string>) =>
    (await mistakesOf("http-signature", { ...rules, headers, body: BODY, nowSeconds: NOW })).map(
      ({ id }) => id,
    );
  expect(await ids(request({}))).toEqual(["key-of-other-kind"]);
  const texts = ["", ":", "sig1=", "=:::", "a".repeat(9_000), '("'.repeat(3_000), ":-".repeat(4_000)];
  for (const text of texts)
    expect(
      Array.isArray(await ids({ Signature: text, "Signature-Input": text, "Content-Digest": text })),
    ).toBe(true);
});

it("an ECDSA signature with its bytes in another order, or without a zero in front", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" };
  const rules = { url: URL_, keys: localKeys({ keys: [jwk as never] }) };
  let text = "";
  const made = request({
    parameters: `;created=${NOW};keyid="k";alg="ecdsa-p256-sha256"`,
    text: (lines, last) => {
      text = [...lines, last].join("\n");
      return text;
    },
  });
  const signed = () => sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  const ids = async (signature: Buffer) => {
    const headers = { ...made, Signature: `sig1=:${signature.toString("base64")}:` };
    const found = await mistakesOf("http-signature", { ...rules, headers, body: BODY, nowSeconds: NOW });
    return found.map(({ id }) => id);
  };
  expect(await ids(signed())).toEqual([]);
  expect(await ids(signed().reverse())).toEqual(["signature-byte-order"]);
  let short = signed();
  while (short[0] !== 0) short = signed(); // one in 256
  expect(await ids(short.subarray(1))).toEqual(["signature-zeros"]);
  for (const hash of ["sha256", "sha512"]) {
    const digest = createHash(hash).update(text).digest();
    const ofDigest = sign("sha256", digest, { key: privateKey, dsaEncoding: "ieee-p1363" });
    expect(await ids(ofDigest)).toEqual(["text-hashed-first"]);
  }
});

const digest = (text: string): Change => sent({ "Content-Digest": `sha-256=:${sha256(text)}:` });

/** The same mistake has several sentences, each for what was seen. */
it.each<[what: string, change: Change, words: string, body?: string]>([
  ["alg is another", parameters(`;created=${NOW};keyid="k";alg="hs2019"`), 'alg is "hs2019".'],
  ["alg is a number", parameters(`;created=${NOW};keyid="k";alg=7`), "alg is 7, and no text in quotes."],
  [
    "a digest of nothing, as before the body was read",
    digest(""),
    "Content-Digest is that of an empty body.",
  ],
  [
    "a digest with a line break more",
    digest(`${BODY}\n`),
    "Content-Digest is that of the body with a line break more or less at its end.",
  ],
  [
    "a digest with a line break less",
    digest(BODY),
    "Content-Digest is that of the body with a line break more or less at its end.",
    `${BODY}\n`,
  ],
  [
    "a digest of the JSON without blanks",
    digest('{"n":1}'),
    "Content-Digest is that of the same JSON written again: other bytes were sent.",
  ],
  [
    "a digest of the JSON in lines",
    digest('{\n  "n": 1\n}'),
    "Content-Digest is that of the same JSON written again: other bytes were sent.",
  ],
  [
    "a digest of JSON in lines of which one blank was changed",
    digest('{\n  "n": 1\n}'),
    "Content-Digest is that of another body.",
    '{\n  "n": 1 }',
  ],
  ["a digest of something else", digest('{"n": 2}'), "Content-Digest is that of another body."],
  [
    "another name of the digest",
    sent({ "Content-Digest": `sha256=:${sha256(BODY)}:` }),
    'Content-Digest names "sha256", and the names are sha-256 and sha-512.',
  ],
  [
    "another label",
    { headers: (made) => ({ ...made, Signature: made.Signature?.replace("sig1", "sig") }) },
    'Signature-Input has the label "sig1", and Signature "sig".',
  ],
  ["created long ago", parameters(`;created=${NOW - 301}${END}`), "created is 301 s in the past."],
  [
    "created in the future",
    parameters(`;created=${NOW + 301}${END}`),
    "created is 301 s ahead of the receiver's clock.",
  ],
  ["expires is over", parameters(`;created=${NOW};expires=${NOW - 1}${END}`), "expires was 1 s ago."],
  ["components are missing", { names: NAMES.slice(2) }, "The signature does not cover @method, @target-uri."],
  [
    "a component in capitals",
    { names: [...NAMES.slice(0, 2), "Content-Type", ...NAMES.slice(3)] },
    'The covered component "Content-Type" has capitals.',
  ],
  [
    "a component that is not there",
    { names: [...NAMES, "x-gone"] },
    'The signature covers "x-gone", which the request does not have.',
  ],
  [
    "a keyid that nobody knows",
    parameters(`;created=${NOW};keyid="other";alg="hmac-sha256"`),
    'The receiver has no key named "other".',
  ],
  [
    "a key for another algorithm",
    parameters(`;created=${NOW};keyid="k";alg="ed25519"`),
    'The receiver\'s key "k" is not for alg "ed25519".',
  ],
  [
    "the host of Host",
    { ...target("https://internal:8443/in?a=1"), ...sent({ Host: "internal:8443" }) },
    "It matches with the host of the request's own Host header: the receiver's url is another one.",
  ],
  [
    "the host of X-Forwarded-Host",
    { ...target("https://internal:8443/in?a=1"), ...sent({ "X-Forwarded-Host": "internal:8443" }) },
    "It matches with the host of X-Forwarded-Host: a proxy stands between.",
  ],
  [
    "the opposite order",
    { text: (lines, last) => [...lines].reverse().concat(last).join("\n") },
    "It matches with the lines in the opposite order of Signature-Input.",
  ],
  [
    "the order of the alphabet",
    { text: (lines, last) => [...lines].sort().concat(last).join("\n") },
    "It matches with the lines in another order than Signature-Input lists them.",
  ],
  [
    "a line break at the end",
    { text: (lines, last) => `${[...lines, last].join("\n")}\n` },
    "It matches with a line break at the end.",
  ],
  [
    "CR and LF",
    { text: (lines, last) => [...lines, last].join("\r\n") },
    "It matches with CR and LF between the lines, or with a line break at the end.",
  ],
])("its sentence says what was seen: %s", async (_, change, words, body = BODY) => {
  const found = await mistakesOf("http-signature", {
    url: URL_,
    secrets: { k: SECRET },
    headers: request(change),
    body,
    nowSeconds: NOW,
  });
  expect(found.map(({ message }) => message)).toEqual([words]);
});

it("of a header in two lines, it names the header", async () => {
  const lines = Object.entries(request({}));
  for (const name of ["Signature", "Signature-Input", "Content-Digest"]) {
    const headers = [...lines, ...lines.filter(([one]) => one === name)];
    const rules = { url: URL_, secrets: { k: SECRET }, body: BODY, nowSeconds: NOW };
    const [first] = await mistakesOf("http-signature", { ...rules, headers });
    expect([first?.id, first?.message]).toEqual(["header-twice", `${name} stands in more than one line.`]);
  }
});

const joinedAs = (change: (lines: string[], last: string) => string[], between = "\n"): Change => ({
  text: (lines, last) => change(lines, last).join(between),
});
const lastAs = (change: (last: string) => string): Change =>
  joinedAs((lines, last) => [...lines, change(last)]);
const PARTS = ["@authority", "@path", "@query"];
const part = (values: Record<string, string>): Change => ({
  names: [...NAMES, ...PARTS],
  values: { "@authority": "hooks.example.com", "@path": "/in", "@query": "?a=1", ...values },
});
const macOf = (text: string, key: string | Buffer = SECRET, hash = "sha256") =>
  createHmac(hash, key).update(text).digest();
/** A signature of the right text, made or written in another way. */
const writtenAs = (by: (text: string) => string): Change => {
  let signed = "";
  const { text } = joinedAs((lines, last) => [...lines, last]);
  return {
    text: (lines, last) => (signed = text?.(lines, last) ?? ""),
    headers: (made) => ({ ...made, Signature: `sig1=:${by(signed)}:` }),
  };
};

it.each<[id: string, what: string, change: Change]>([
  ["path-signed-otherwise", "with the query", part({ "@path": "/in?a=1" })],
  ["path-signed-otherwise", "without the slash", part({ "@path": "in" })],
  ["query-signed-otherwise", "without ?", part({ "@query": "a=1" })],
  ["authority-signed-otherwise", "in capitals", part({ "@authority": "HOOKS.EXAMPLE.COM" })],
  ["authority-signed-otherwise", "with the scheme", part({ "@authority": "https://hooks.example.com" })],
  ["target-signed-otherwise", "the path", target("/in?a=1")],
  ["target-signed-otherwise", "without the scheme", target("hooks.example.com/in?a=1")],
  ["authority-with-port", "with the port", target("https://hooks.example.com:443/in?a=1")],
  ["target-signed-otherwise", "with capitals", target("https://Hooks.Example.com/in?a=1")],
  ["target-without-query", "the query missing", target("https://hooks.example.com/in")],
  [
    "header-value-signed-otherwise",
    "a charset",
    { values: { "content-type": "application/json; charset=utf-8" } },
  ],
  ["header-value-signed-otherwise", "the bare digest", { values: { "content-digest": sha256(BODY) } }],
  [
    "lines-written-otherwise",
    "no blank",
    joinedAs((lines, last) => [...lines, last].map((one) => one.replace('": ', '":'))),
  ],
  [
    "lines-written-otherwise",
    "names in capitals",
    joinedAs((lines, last) => [
      ...lines.map((one) => one.replace(/^"[^"]*"/, (name) => name.toUpperCase())),
      last,
    ]),
  ],
  ["lines-joined-otherwise", "nothing between", joinedAs((lines, last) => [...lines, last], "")],
  ["lines-joined-otherwise", "a line break in front", joinedAs((lines, last) => ["", ...lines, last])],
  ["parameters-signed-otherwise", "the label", lastAs((last) => last.replace(": ", ": sig1="))],
  ["parameters-signed-otherwise", "no list", lastAs((last) => last.replace(/\([^)]*\);/, ""))],
  ["parameters-signed-otherwise", "the list alone", lastAs((last) => last.replace(/\).*/, ")"))],
  ["parameters-signed-otherwise", "no alg", lastAs((last) => last.replace(/;alg="[^"]*"/, ""))],
  [
    "parameters-signed-otherwise",
    "another order",
    lastAs((last) => last.replace(/\).*/, `);alg="hmac-sha256";keyid="k";created=${NOW}`)),
  ],
  ["other-text-signed", "the body", { text: () => BODY }],
  ["other-text-signed", "the digest", { text: () => `sha-256=:${sha256(BODY)}:` }],
  [
    "secret-in-another-form",
    "decoded",
    writtenAs((text) => macOf(text, Buffer.from(SECRET, "base64")).toString("base64")),
  ],
  [
    "secret-in-another-form",
    "a line break",
    writtenAs((text) => macOf(text, `${SECRET}\n`).toString("base64")),
  ],
  ["signature-other-hash", "SHA-512", writtenAs((text) => macOf(text, SECRET, "sha512").toString("base64"))],
  ["signature-in-hex", "hex", writtenAs((text) => macOf(text).toString("hex"))],
  [
    "signature-encoded-twice",
    "base64 of hex",
    writtenAs((text) => Buffer.from(macOf(text).toString("hex")).toString("base64")),
  ],
  [
    "signature-read-as-text",
    "UTF-8",
    writtenAs((text) => Buffer.from(macOf(text).toString("utf8")).toString("base64")),
  ],
  ["signature-unexplained", "another secret", writtenAs((text) => macOf(text, "another").toString("base64"))],
  ["signature-missing", "no Signature", sent({ Signature: undefined })],
  [
    "signature-input-malformed",
    "commas",
    {
      headers: (made) => ({ ...made, "Signature-Input": made["Signature-Input"]?.replaceAll('" "', '", "') }),
    },
  ],
  ["signature-input-malformed", "keyId", parameters(`;created=${NOW};keyId="k"`)],
  ["digest-missing", "no digest", sent({ "Content-Digest": undefined })],
  [
    "digest-in-base64url",
    "base64url",
    sent({
      "Content-Digest": `sha-256=:${sha256(BODY).replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}:`,
    }),
  ],
  [
    "digest-of-other-length",
    "SHA-512 by another name",
    sent({ "Content-Digest": `sha-256=:${createHash("sha512").update(BODY).digest("base64")}:` }),
  ],
  ["created-with-decimals", "decimals", parameters(`;created=${NOW}.5${END}`)],
  ["expires-not-a-number", "a text", parameters(`;created=${NOW};expires="${NOW + 60}"${END}`)],
])("%s: %s", async (id, _, change) => {
  const found = await mistakesOf("http-signature", {
    ...{ url: URL_, secrets: { k: SECRET }, body: BODY, nowSeconds: NOW },
    headers: request(change),
  });
  expect(found.map((one) => one.id)).toEqual([id]);
});

it("a digest of the body in another form says in which", async () => {
  const digest = `sha-256=:${sha256('"{\\"n\\": 1}"')}:`;
  const headers = request(sent({ "Content-Digest": digest }));
  const [found] = await mistakesOf("http-signature", {
    url: URL_,
    secrets: { k: SECRET },
    body: BODY,
    nowSeconds: NOW,
    headers,
  });
  expect(found?.message).toMatch(/^Content-Digest is that of the body in another form: \S/);
});
