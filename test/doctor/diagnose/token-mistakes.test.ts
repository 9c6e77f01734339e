import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  privateEncrypt,
  sign,
} from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { type Jwks, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const NOW = 1_767_225_600;
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const BASE = "https://tenant.example.com/id";
const URL_ = `${BASE}/api/v1/webhooks/incoming/lst_1`;
const BODY = '{"type":"user.offboarded","name":"Zoë","z":[1,2.5]}';

type Alg = "ES256" | "RS256" | "EdDSA";
const KEYS: Record<Alg, KeyPairKeyObjectResult> = {
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  EdDSA: generateKeyPairSync("ed25519"),
};
const jwkOf = (alg: Alg): Record<string, string> => ({
  ...(KEYS[alg].publicKey.export({ format: "jwk" }) as Record<string, string>),
  ...{ use: "sig", alg, kid: alg },
});
const SET = { keys: [jwkOf("ES256"), jwkOf("RS256"), jwkOf("EdDSA")] };

/** Signs as a program would that has no library: node:crypto, and base64url by hand. */
function signed(alg: Alg, input: string | Buffer, hash = "sha256"): Buffer {
  const key = { key: KEYS[alg].privateKey, dsaEncoding: "ieee-p1363" as const };
  return sign(alg === "EdDSA" ? null : hash, Buffer.from(input as string), key);
}
const inDer = (input: string, hash = "sha256") => sign(hash, Buffer.from(input), KEYS.ES256.privateKey);
const sha = (data: string | Buffer, hash = "sha256") => createHash(hash).update(data).digest();
const b64u = (data: string | Buffer) => Buffer.from(data as string).toString("base64url");
const bytesOf = (part = "") => Buffer.from(part, "base64url");

const RIGHT = {
  sub: BASE,
  aud: URL_,
  exp: NOW + 300,
  jti: ID,
  htm: "POST",
  htb_s256: sha(BODY).toString("base64url"),
};

interface Change {
  readonly alg?: Alg;
  readonly header?: Record<string, unknown>;
  /** The text of the claims. */
  readonly text?: string;
  readonly sign?: (input: string, alg: Alg) => Buffer | string;
}

function token(
  claims: Record<string, unknown> = {},
  { alg = "ES256", header, text, sign: by = (input) => signed(alg, input) }: Change = {},
): string {
  const input = `${b64u(JSON.stringify({ alg, kid: alg, typ: "JWT", ...header }))}.${b64u(text ?? JSON.stringify({ ...RIGHT, ...claims }))}`;
  const signature = by(input, alg);
  return `${input}.${typeof signature === "string" ? signature : b64u(signature)}`;
}

async function said(authorization: string, jwks: unknown = SET): Promise<string[]> {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": String(NOW),
    "Webhook-Event-Id": ID,
    Authorization: authorization,
  };
  const request = { method: "POST", url: URL_, headers, body: BODY };
  const [listener, clock] = [{ id: "lst_1", baseUrl: BASE }, fixedClock(NOW * 1000)];
  const { mistakes } = await diagnose({ request, listener, jwks: jwks as Jwks, clock });
  let ok = false;
  try {
    const auth = { method: "jwt", keys: localKeys(jwks as Jwks) } as const;
    ok = (await createReceiver({ listener: { ...listener, auth }, clock }).verify(request)).ok;
  } catch {
    // A key set that is refused as a whole.
  }
  expect(ok, "a mistake is named exactly when a listener refuses").toBe(mistakes.length === 0);
  return mistakes.map(({ id }) => id);
}

const swapped = (one: Buffer) => Buffer.concat([one.subarray(32), one.subarray(0, 32)]);
const parts = (input: string) => input.split(".");
const json = (input: string) => parts(input).map((part) => bytesOf(part).toString());
const standard = (input: string) => parts(input).map((part) => bytesOf(part).toString("base64"));

const PEM = KEYS.ES256.publicKey.export({ type: "spki", format: "pem" }).toString();
/** What a program may hand to HMAC as the key that everybody knows. */
const PUBLIC: readonly (readonly [what: string, key: string | Buffer])[] = [
  ["PEM", PEM],
  ["PEM without its last line break", PEM.trimEnd()],
  ["PEM on one line", PEM.trimEnd().replaceAll("\n", "\\n")],
  ["DER", KEYS.ES256.publicKey.export({ type: "spki", format: "der" })],
  ["base64", PEM.split("\n").slice(1, -2).join("\n")],
  ["the JWK", JSON.stringify(jwkOf("ES256"))],
  ["x of the last key", jwkOf("EdDSA").x ?? ""],
  ["n", jwkOf("RS256").n ?? ""],
];

describe("a token whose signature is wrong is explained by that alone, for each algorithm:", () => {
  it.each<[id: string, what: string, by: (input: string, alg: Alg) => Buffer | string]>([
    ["token-signature-of-other-text", "the claims alone", (input, alg) => signed(alg, parts(input)[1] ?? "")],
    [
      "token-signature-of-other-text",
      "the claims as JSON",
      (input, alg) => signed(alg, json(input)[1] ?? ""),
    ],
    ["token-signature-of-other-text", "both as JSON", (input, alg) => signed(alg, json(input).join("."))],
    [
      "token-signature-of-other-text",
      "both in base64",
      (input, alg) => signed(alg, standard(input).join(".")),
    ],
    ["token-signature-of-other-text", "a line break", (input, alg) => signed(alg, `${input}\n`)],
    ["token-signature-of-other-text", "no period", (input, alg) => signed(alg, input.replace(".", ""))],
    [
      "token-signature-of-other-text",
      "the claims first",
      (input, alg) => signed(alg, parts(input).reverse().join(".")),
    ],
    ["token-signature-of-other-text", "UTF-16", (input, alg) => signed(alg, Buffer.from(input, "utf16le"))],
    ["token-signature-of-other-text", "the body", (_, alg) => signed(alg, BODY)],
    [
      "token-header-changed",
      "kid set afterwards",
      (input, alg) => signed(alg, `${b64u(`{"alg":"${alg}","typ":"JWT"}`)}.${parts(input)[1]}`),
    ],
    ["token-signature-prehashed", "its hash", (input, alg) => signed(alg, sha(input))],
    ["token-signature-prehashed", "its hash in hex", (input, alg) => signed(alg, sha(input).toString("hex"))],
    ["token-signature-hex", "hex", (input, alg) => signed(alg, input).toString("hex")],
    [
      "token-signature-encoded-twice",
      "base64url of hex",
      (input, alg) => b64u(signed(alg, input).toString("hex")),
    ],
    [
      "token-signature-encoded-twice",
      "base64url of base64",
      (input, alg) => b64u(signed(alg, input).toString("base64")),
    ],
    ["token-signature-byte-order", "reversed", (input, alg) => signed(alg, input).reverse()],
    ["token-signature-read-as-text", "Latin-1", (input, alg) => b64u(signed(alg, input).toString("latin1"))],
    ["token-signature-read-as-text", "UTF-8", (input, alg) => b64u(signed(alg, input).toString("utf8"))],
    ["token-signature-length", "cut", (input, alg) => signed(alg, input).subarray(0, 40)],
    [
      "token-signature-length",
      "cut, with the first bytes of DER",
      (input, alg) => Buffer.concat([Buffer.of(0x30, 0x44, 0x02), signed(alg, input).subarray(3, 40)]),
    ],
    ["token-signature-unexplained", "nothing known", (input, alg) => signed(alg, `${input}!`)],
  ])("%s: %s", async (id, _, by) => {
    for (const alg of ["ES256", "RS256", "EdDSA"] as const)
      expect(await said(`Bearer ${token({}, { alg, sign: by })}`), alg).toEqual([id]);
  });

  const pss = { key: KEYS.RS256.privateKey, padding: 6, saltLength: 32 };
  const zeroAt = (input: string, at: number) => {
    for (;;) {
      const signature = signed("ES256", input);
      if (signature[at] === 0) return Buffer.concat([signature.subarray(0, at), signature.subarray(at + 1)]);
    }
  };
  it.each<[ids: string, what: string, change: Change]>([
    [
      "token-signature-pss",
      "PSS",
      { alg: "RS256", sign: (input) => sign("sha256", Buffer.from(input), pss) },
    ],
    [
      "token-signature-other-hash",
      "RSA and SHA-1",
      { alg: "RS256", sign: (input) => signed("RS256", input, "sha1") },
    ],
    [
      "token-signature-other-hash",
      "ECDSA and SHA-512",
      { sign: (input) => signed("ES256", input, "sha512") },
    ],
    [
      "token-signature-der token-signature-other-hash",
      "DER and SHA-384",
      { sign: (input) => inDer(input, "sha384") },
    ],
    [
      "token-signature-bare-hash",
      "an encrypted hash",
      { alg: "RS256", sign: (input) => privateEncrypt(KEYS.RS256.privateKey, sha(input)) },
    ],
    ["token-signature-zeros", "r without its zero", { sign: (input) => zeroAt(input, 0) }],
    ["token-signature-zeros", "s without its zero", { sign: (input) => zeroAt(input, 32) }],
    ...([[0], [32], [0, 33]] as const).map((places): [string, string, Change] => [
      "token-signature-zeros",
      `with a zero at ${places.join(" and ")}`,
      {
        sign: (input) =>
          places.reduce(
            (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.of(0), bytes.subarray(at)]),
            signed("ES256", input),
          ),
      },
    ]),
    ["token-signature-byte-order", "s before r", { sign: (input) => swapped(signed("ES256", input)) }],
    ["token-signature-missing", "none", { sign: () => "" }],
    ...PUBLIC.map(([what, key]): [string, string, Change] => [
      "token-alg-hmac-public-key",
      `the public key as secret: ${what}`,
      { header: { alg: "HS256" }, sign: (input) => createHmac("sha256", key).update(input).digest() },
    ]),
    [
      "token-alg-hmac-public-key",
      "the public key as secret of HS512",
      { header: { alg: "HS512" }, sign: (input) => createHmac("sha512", PEM).update(input).digest() },
    ],
    [
      "token-alg-other",
      "the public key, and an algorithm that is none",
      { header: { alg: "HS256K" }, sign: (input) => createHmac("sha256", PEM).update(input).digest() },
    ],
    [
      "token-alg-hmac",
      "a secret",
      { header: { alg: "HS256" }, sign: (input) => createHmac("sha256", "s").update(input).digest() },
    ],
    ["token-kid-elsewhere", "key_id", { header: { kid: undefined, key_id: "ES256" } }],
    ["token-claims-wrapped", "a member payload", { text: JSON.stringify({ payload: RIGHT }) }],
    ["token-claims-encoded-twice", "a text of JSON", { text: JSON.stringify(JSON.stringify(RIGHT)) }],
    ["token-claims-encoded-twice", "base64 of JSON", { text: b64u(JSON.stringify(RIGHT)) }],
    [
      "token-claims-malformed",
      "a text of JSON with something behind it",
      { text: `${JSON.stringify(JSON.stringify(RIGHT))},1` },
    ],
    ["token-claims-are-body", "the body", { text: BODY }],
  ])("%s: %s", async (ids, _, change) => {
    expect((await said(`Bearer ${token({}, change)}`)).join(" ")).toBe(ids);
  });
});

describe("what stands in place of a token", () => {
  const right = token();
  const [header = "", claims = "", signature = ""] = right.split(".");
  it.each<[id: string, authorization: string]>([
    ["token-quoted", `Bearer "${right}"`],
    ["token-quoted", `Bearer b'${right}'`],
    ["token-quoted", `Bearer ${right},`],
    ["bearer-other-scheme", `Bearer Bearer ${right}`],
    ["bearer-other-scheme", `Bearer=${right}`],
    ["token-broken-up", `Bearer ${right.slice(0, 76)} ${right.slice(76)}`],
    ["token-detached", `Bearer ${header}..${signature}`],
    ["token-signature-missing", `Bearer ${header}.${claims}`],
    ["token-encrypted", `Bearer ${b64u('{"alg":"dir","enc":"A256GCM"}')}..AAAA.AAAA.AAAA`],
    ["token-as-json", `Bearer ${JSON.stringify({ payload: claims, protected: header, signature })}`],
    ["token-encoded-twice", `Bearer ${b64u(right)}`],
    ["token-cut", `Bearer ${right.slice(0, 100)}`],
    ["token-cut", `Bearer ${right.slice(0, 200)}...`],
    ["token-cut", `Bearer ${right.slice(1)}`],
    ["token-parts-swapped", `Bearer ${claims}.${header}.${signature}`],
    [
      "token-not-encoded",
      `Bearer ${right
        .split(".")
        .map((part) => bytesOf(part).toString("hex"))
        .join(".")}`,
    ],
    ["token-other-case", `Bearer ${right.toLowerCase()}`],
    ["token-placeholder", "Bearer $TOKEN"],
    ["token-is-a-key", "Bearer -----BEGIN PRIVATE KEY-----"],
    ["token-malformed", "Bearer abcdefghijklmnop"],
  ])("%s: %s", async (id, authorization) => {
    expect(await said(authorization)).toEqual([id]);
  });
});

describe("a claim", () => {
  const bytesOfId = Buffer.from(ID.replaceAll("-", ""), "hex");
  const hashed = (data: string) => ({ htb_s256: sha(data).toString("base64url") });
  it.each<[id: string, claims: Record<string, unknown>]>([
    ["claim-htb-misnamed", { htb_s256: undefined, bodyHash: RIGHT.htb_s256 }],
    ["claim-exp-misnamed", { exp: undefined, expires_at: NOW + 300 }],
    ["claim-htb-of-other-text", hashed(`${ID}.${BODY}`)],
    ["claim-htb-of-other-text", hashed(URL_)],
    ["claim-htb-hmac", { htb_s256: createHmac("sha256", "").update(BODY).digest("base64url") }],
    ["claim-htb-cut", { htb_s256: sha(BODY).toString("hex").slice(0, 32) }],
    ["claim-htb-read-as-text", { htb_s256: b64u(sha(BODY).toString("latin1")) }],
    ["claim-htb-other-case", { htb_s256: RIGHT.htb_s256.toLowerCase() }],
    ["claim-htb-is-body", { htb_s256: BODY }],
    ["claim-htb-not-text", { htb_s256: "[object Promise]" }],
    ["claim-htb-hex", { htb_s256: sha(BODY).toString("hex") }],
    ["claim-jti-spelling", { jti: `evt_${ID}` }],
    ["claim-jti-spelling", { jti: Buffer.from(ID.replaceAll("-", ""), "hex").toString("base64") }],
    ...[
      ...[`{${ID}}`, ID.replaceAll("-", ""), `urn:uuid:${ID.toUpperCase()}`, b64u(ID)],
      ...[b64u(bytesOfId), `${bytesOfId.toString("base64").replace(/=+$/, "")}==`],
      ...[
        Buffer.from(ID.replaceAll("-", "")).toString("base64"),
        BigInt(`0x${bytesOfId.toString("hex")}`).toString(),
      ],
    ].map((jti): [string, Record<string, unknown>] => ["claim-jti-spelling", { jti }]),
    ["claim-jti-other", { jti: "6f0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a11" }],
    ["claim-jti-other", { jti: ID.slice(0, -1) }],
    ["claim-jti-other", { jti: `${b64u(bytesOfId)}=x` }],
    ["claim-exp-duration", { exp: 300 }],
    ["claim-exp-time-zone", { exp: NOW + 300 + 2 * 3600, iat: NOW + 2 * 3600 }],
    ["claim-exp-too-far", { exp: NOW + 300 + 2 * 3600 }],
    ["claim-exp-past", { exp: NOW + 300 - 2 * 3600 }],
    ["claim-exp-time-zone", { exp: NOW + 300 - 8 * 3600, iat: NOW - 8 * 3600 }],
    ["claim-exp-too-far", { exp: NOW + 3600, iat: NOW }],
    ["claim-exp-past", { exp: NOW - 4_321 }],
    ["claim-aud-placeholder", { aud: URL_.replace("lst_1", "undefined") }],
    ["claim-aud-placeholder", { aud: URL_.replace("lst_1", "{listener_id}") }],
    ["claim-aud-quoted", { aud: `"${URL_}"` }],
    ["claim-aud-double-slash", { aud: URL_.replace("/id/", "/id//") }],
    ["claim-aud-percent-encoded", { aud: encodeURIComponent(URL_) }],
    ["claim-aud-without-listener-id", { aud: URL_.replace("/lst_1", "") }],
    ["claim-aud-id-alone", { aud: "lst_1" }],
    ["claim-aud-path", { aud: `${BASE}/webhooks/lst_1` }],
    ["claim-aud-path", { aud: URL_.replace("/v1/", "/v2/") }],
    ["claim-aud-spelling", { aud: URL_.replace(/^https:\/\/([^/]+)/, "http://$1:80") }],
    ["claim-aud-spelling", { aud: `${URL_.replace("https:", "http:")}/` }],
    ["claim-aud-spelling", { aud: `${URL_.toUpperCase()}/` }],
    ["claim-aud-other", { aud: "https://other.example.com/hooks" }],
    ["claim-sub-longer", { sub: `${BASE}/api/v1` }],
  ])("%s: %j", async (id, claims) => {
    expect(await said(`Bearer ${token(claims)}`)).toEqual([id]);
  });
});

it("a token of another event is named as that, with what else is wrong in it", async () => {
  const ofOther = {
    jti: "6f0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a11",
    htb_s256: sha(`{"type":"user.created"}`).toString("base64url"),
  };
  expect(await said(`Bearer ${token(ofOther)}`)).toEqual(["token-reused"]);
  expect(await said(`Bearer ${token({ ...ofOther, exp: NOW - 60 })}`)).toEqual([
    "token-reused",
    "claim-exp-past",
  ]);
  expect(await said(`Bearer ${token({}, { text: "1" })}`)).toEqual(["token-claims-malformed"]);
});

describe("a published key", () => {
  const [ec, rsa, ed] = SET.keys as [Record<string, string>, Record<string, string>, Record<string, string>];
  const recoded = (key: Record<string, string>, change: (bytes: Buffer) => string) =>
    Object.fromEntries(
      ["n", "x", "y"].flatMap((name) => (key[name] ? [[name, change(bytesOf(key[name]))]] : [])),
    );
  const hex = (bytes: Buffer) => bytes.toString("hex");
  const decimal = (bytes: Buffer) => BigInt(`0x${hex(bytes)}`).toString();
  it.each<[id: string, what: string, alg: Alg, key: Record<string, unknown>]>([
    ["key-type", "ECDSA", "ES256", { ...ec, kty: "ECDSA" }],
    ["key-curve", "secp256r1", "ES256", { ...ec, crv: "secp256r1" }],
    ["key-curve", "none", "EdDSA", { ...ed, crv: undefined }],
    ["key-material-missing", "y", "ES256", { ...ec, y: undefined }],
    ["key-material-missing", "modulus", "RS256", { ...rsa, n: undefined, modulus: rsa.n, exponent: rsa.e }],
    ["key-material-order", "x and y swapped", "ES256", { ...ec, x: ec.y, y: ec.x }],
    ...[ec, rsa, ed].flatMap((key): [string, string, Alg, Record<string, unknown>][] => [
      [
        "key-material-order",
        `reversed, ${key.alg}`,
        key.alg as Alg,
        { ...key, ...recoded(key, (bytes) => b64u(bytes.reverse())) },
      ],
      ["key-material-spelling", `hex, ${key.alg}`, key.alg as Alg, { ...key, ...recoded(key, hex) }],
      ["key-material-spelling", `decimals, ${key.alg}`, key.alg as Alg, { ...key, ...recoded(key, decimal) }],
    ]),
    ["key-material-length", "31 bytes", "ES256", { ...ec, x: b64u(bytesOf(ec.x).subarray(1)) }],
    [
      "key-material-length",
      "the point in x",
      "ES256",
      { ...ec, x: b64u(Buffer.concat([Buffer.of(4), bytesOf(ec.x), bytesOf(ec.y)])), y: undefined },
    ],
    ["key-material-wrong", "no point", "ES256", { ...ec, y: b64u(Buffer.alloc(32, 7)) }],
    ["key-exponent", "65537", "RS256", { ...rsa, e: "65537" }],
    ["key-members-missing", "no use", "ES256", { ...ec, use: undefined }],
  ])("%s: %s", async (id, _, alg, key) => {
    expect(await said(`Bearer ${token({}, { alg })}`, { keys: [key] })).toEqual([id]);
  });

  it("key sets that are refused as a whole", async () => {
    const many = Array.from({ length: 51 }, (_, place) => ({ ...ec, kid: String(place) }));
    expect(await said(`Bearer ${token()}`, { keys: many })).toEqual(["key-set-too-many-keys"]);
    expect(await said(`Bearer ${token()}`, { keys: ["-----BEGIN PUBLIC KEY-----"] })).toEqual([
      "key-set-pem",
    ]);
  });
});
