// Mistakes in HTTP message signatures, made by plain node:crypto by someone who had not read the catalogue.
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { localKeys } from "hookproof/jwks";
import { expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const NOW = 1_767_225_600;
const URL_ = "https://hooks.example.com/events?tenant=7";
const SECRET = "shared-secret-of-at-least-thirty-two-bytes!!";
const BODY = '{"type":"user.offboarded","userId":"u_123"}';
const [ED, RSA] = [generateKeyPairSync("ed25519"), generateKeyPairSync("rsa", { modulusLength: 2048 })];
const published = ({ publicKey }: { publicKey: KeyObject }, kid: string, alg: string) => ({
  ...publicKey.export({ format: "jwk" }),
  kid,
  alg,
  use: "sig",
});
const JWKS = { keys: [published(ED, "ed-1", "EdDSA"), published(RSA, "rsa-1", "RS256")] } as never;

const hashed = (hash: string, text = BODY) => createHash(hash).update(text);
const digestOf = (text: string) => `sha-256=:${hashed("sha256", text).digest("base64")}:`;
const NAMES = ["@method", "@target-uri", "content-type", "content-digest", "webhook-event-id"];
const parametersOf = (keyid: string, alg: string) => `;created=${NOW};keyid="${keyid}";alg="${alg}"`;
const OURS = parametersOf("shared-1", "hmac-sha256");

interface Change {
  readonly names?: readonly string[];
  /** The names in the order in which they are signed. */
  readonly signedNames?: readonly string[];
  readonly values?: Readonly<Record<string, string>>;
  readonly parameters?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly text?: (lines: readonly string[], last: string) => string;
  readonly sign?: (text: string) => Buffer;
  readonly body?: string;
  readonly tag?: string;
}

const mac = (text: string, key: string | Buffer = SECRET) => createHmac("sha256", key).update(text).digest();
const byEd = (keyid: string): Change => ({
  parameters: parametersOf(keyid, "ed25519"),
  sign: (text) => sign(null, Buffer.from(text), ED.privateKey),
});
const listed = (names: string, parameters = OURS): Change => ({
  headers: { "Signature-Input": `sig1=(${names})${parameters}` },
});
const QUOTED = NAMES.map((name) => `"${name}"`).join(" ");

function request(change: Change): Record<string, string> {
  const { names = NAMES, signedNames = names, parameters = OURS, body = BODY } = change;
  const own: Record<string, string> = {
    "@method": "POST",
    "@target-uri": URL_,
    "content-type": change.headers?.["Content-Type"] ?? "application/json",
    "content-digest": change.headers?.["Content-Digest"] ?? digestOf(body),
    "webhook-event-id": "id-1",
    ...change.values,
  };
  const list = (of: readonly string[]) => `(${of.map((name) => `"${name}"`).join(" ")})${parameters}`;
  const lines = signedNames.map((name) => `"${name}": ${own[name] ?? ""}`);
  const last = `"@signature-params": ${list(signedNames)}`;
  const text = change.text?.(lines, last) ?? [...lines, last].join("\n");
  const made: Record<string, string | undefined> = {
    "Content-Type": "application/json",
    "Content-Digest": digestOf(body),
    "Webhook-Event-Id": "id-1",
    "Signature-Input": `sig1=${list(names)}`,
    Signature: `sig1=:${(change.sign ?? mac)(text).toString("base64")}:`,
    ...change.headers,
  };
  return Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

const thumbprint = createHash("sha256")
  .update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x: ED.publicKey.export({ format: "jwk" }).x }))
  .digest("base64url");

const CASES: readonly (readonly [what: string, id: string | undefined, words: string, change: Change])[] = [
  ["nothing", undefined, "", {}],
  [
    "the list in another order than the lines that were signed",
    "components-in-other-order",
    "in each other's place",
    { signedNames: ["@target-uri", "@method", ...NAMES.slice(2)] },
  ],
  [
    "two lines in each other's place",
    "components-in-other-order",
    "in each other's place",
    { text: ([one = "", two = "", ...lines], last) => [two, one, ...lines, last].join("\n") },
  ],
  [
    "the last line first",
    "components-in-other-order",
    "moved",
    { signedNames: [NAMES[4] ?? "", ...NAMES.slice(0, 4)] },
  ],
  [
    "keyid without quotes",
    "keyid-missing",
    'keyid is "shared-1", and no text',
    {
      parameters: `;created=${NOW};keyid=shared-1;alg="hmac-sha256"`,
    },
  ],
  [
    "alg without quotes",
    "alg-unknown",
    'alg is "hmac-sha256", and no text',
    {
      parameters: `;created=${NOW};keyid="shared-1";alg=hmac-sha256`,
    },
  ],
  [
    "the name of JOSE",
    "alg-unknown",
    'as JOSE calls it: here it is "hmac-sha256"',
    {
      parameters: parametersOf("shared-1", "HS256"),
    },
  ],
  [
    "a name of every object",
    "alg-unknown",
    'alg is "constructor".',
    {
      parameters: parametersOf("shared-1", "constructor"),
    },
  ],
  [
    "parameters behind commas",
    "parameters-behind-commas",
    "comma",
    {
      parameters: `,created=${NOW},keyid="shared-1",alg="hmac-sha256"`,
    },
  ],
  [
    "names in single quotes",
    "signature-input-malformed",
    "single quotes",
    listed(QUOTED.replaceAll('"', "'")),
  ],
  ["names behind commas", "signature-input-malformed", "Commas", listed(QUOTED.replaceAll(" ", ", "))],
  ["names without quotes", "signature-input-malformed", "no quotes", listed(NAMES.join(" "))],
  [
    "keyId",
    "signature-input-malformed",
    '"keyId" has capitals',
    { parameters: `;created=${NOW};keyId="shared-1"` },
  ],
  [
    "no label",
    "signature-input-malformed",
    "No label",
    { headers: { "Signature-Input": `(${QUOTED})${OURS}` } },
  ],
  [
    "a component with a parameter",
    "component-with-parameters",
    '"sf"',
    listed(QUOTED.replace('gest"', 'gest";sf')),
  ],
  ["a component twice", "component-twice", "content-type", { names: [...NAMES, "content-type"] }],
  ["no tag", "tag-differs", "tag is missing", { tag: "app" }],
  ["another tag", "tag-differs", 'tag is "other"', { tag: "app", parameters: `${OURS};tag="other"` }],
  [
    "base64 of the hex of the digest",
    "digest-of-other-length",
    "it is the hex of the SHA-256, encoded as base64,",
    {
      headers: {
        "Content-Digest": `sha-256=:${Buffer.from(hashed("sha256").digest("hex")).toString("base64")}:`,
      },
    },
  ],
  [
    "SHA-512 as sha-256",
    "digest-of-other-length",
    "it is the SHA-512 of the body",
    {
      headers: { "Content-Digest": `sha-256=:${hashed("sha512").digest("base64")}:` },
    },
  ],
  [
    "a digest without a name",
    "digest-malformed",
    "no list of names",
    {
      headers: { "Content-Digest": `:${hashed("sha256").digest("base64")}:` },
    },
  ],
  [
    "a colon in place of =",
    "digest-malformed",
    "no list of names",
    {
      headers: { "Content-Digest": `sha-256:${hashed("sha256").digest("base64")}` },
    },
  ],
  [
    "Repr-Digest",
    "digest-missing",
    "It has Repr-Digest",
    {
      headers: { "Content-Digest": undefined, "Repr-Digest": digestOf(BODY) },
      values: { "content-digest": "" },
    },
  ],
  [
    "another type",
    "content-type-other",
    "not application/json",
    { headers: { "Content-Type": "text/plain" } },
  ],
  ["a compressed body", "content-encoding", "Content-Encoding", { headers: { "Content-Encoding": "gzip" } }],
  ["a form", "body-not-json", "not one JSON value", { body: "a=1" }],
  [
    "a secret decoded by Node",
    "secret-in-another-form",
    "skips other characters",
    {
      sign: (text) => mac(text, Buffer.from(SECRET, "base64")),
    },
  ],
  [
    "a secret that is hashed",
    "secret-in-another-form",
    "the SHA-256 of the secret",
    {
      sign: (text) => mac(text, createHash("sha256").update(SECRET).digest()),
    },
  ],
  [
    "a hash",
    "hash-instead-of-hmac",
    "plain hash of the signed text",
    {
      sign: (text) =>
        createHash("sha256")
          .update(SECRET + text)
          .digest(),
    },
  ],
  ["key and message swapped", "hmac-arguments-swapped", "swapped", { sign: (text) => mac(SECRET, text) }],
  [
    "another key of the set",
    "keyid-of-other-key",
    'The key "ed-1" made it',
    {
      parameters: parametersOf("rsa-1", "rsa-v1_5-sha256"),
      sign: (text) => sign(null, Buffer.from(text), ED.privateKey),
    },
  ],
  [
    "a kid behind the address of its set",
    "keyid-unknown",
    'It has "ed-1", with which this one ends',
    byEd("https://sender.example.com/jwks.json#ed-1"),
  ],
  [
    "a thumbprint",
    "keyid-unknown",
    'the thumbprint (RFC 7638) of a key that the set has as "ed-1"',
    byEd(thumbprint),
  ],
];

it.each(CASES)("%s", async (_, id, words, change) => {
  const { body = BODY, tag } = change;
  const isByKey = /"rsa-1"|ed25519/.test(change.parameters ?? "");
  const [first, ...others] = await mistakesOf("http-signature", {
    ...{ url: URL_, headers: request(change), body, nowSeconds: NOW },
    ...(tag === undefined ? {} : { tag }),
    ...(isByKey ? { keys: localKeys(JWKS), jwks: JWKS } : { secrets: { "shared-1": SECRET } }),
  });
  expect([first?.id, others.map((one) => one.id)]).toEqual([id, []]);
  expect(first?.message ?? "").toContain(words);
});

it("a proxy's signature before ours is not what is looked at", async () => {
  const made = request({});
  const proxys = {
    "Signature-Input": `proxy=("@method");created=${NOW};keyid="gateway"`,
    Signature: "proxy=:AAAA:",
  };
  const judge = async (headers: Record<string, string>) =>
    (
      await mistakesOf("http-signature", {
        ...{ url: URL_, headers, body: BODY, nowSeconds: NOW, secrets: { "shared-1": SECRET } },
      })
    ).map((one) => one.id);
  const both = (ours: Record<string, string>) => ({
    ...ours,
    "Signature-Input": `${proxys["Signature-Input"]}, ${ours["Signature-Input"]}`,
    Signature: `${proxys.Signature}, ${ours.Signature}`,
  });
  expect(await judge(both(made))).toEqual([]);
  expect(await judge(both(request({ values: { "@method": "post" } })))).toEqual(["method-in-small-letters"]);
});

it("what was tried is counted for this request, and of a key no secret is spoken", async () => {
  const wrong: Change = { ...byEd("ed-1"), sign: () => Buffer.alloc(64, 7) };
  const rules = { url: URL_, body: BODY, nowSeconds: NOW };
  const [byKey] = await mistakesOf("http-signature", {
    ...rules,
    headers: request(wrong),
    keys: localKeys(JWKS),
  });
  const [bySecret] = await mistakesOf("http-signature", {
    ...{ ...rules, headers: request({ sign: (text) => mac(text, "x") }), secrets: { "shared-1": SECRET } },
  });
  expect(byKey?.fix).toMatch(/What was tried: 7\d other ways to write that text, and other spellings/);
  expect(bySecret?.fix).toMatch(
    /What was tried: 1\d\d other ways to write that text, \d+ ways to make the key/,
  );
});
