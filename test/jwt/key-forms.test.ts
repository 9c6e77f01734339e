// Private keys in every form that people have them in, at each door of the library.
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
} from "node:crypto";
import { jwtSigner, newEventId } from "hookproof";
import { checkKeySet, createKeySet, importKey, type KeyRecord } from "hookproof/jwks";
import { openKeyStore, readSigningKey } from "hookproof/node";
import { exportJWK, importSPKI, type JWK, jwtVerify } from "jose";
import { expect, it } from "vitest";
import { ALGORITHMS, type Algorithm } from "../../src/jwt/algorithms.js";
import { importPrivateKey } from "../../src/jwt/key.js";
import { itWith } from "../kit/needs.js";
import { decryptedByOpenssl, type OutsideKey, opensslKey, PEM_FORMS, sshKey } from "../kit/outside-keys.js";
import { hasTool, hasTools } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const OPENSSL = ["openssl 3", hasTool("openssl", "pkey", "-help")] as const;
const SSH = ["ssh-keygen and openssl", hasTools("ssh-keygen and openssl")] as const;

const made = new Map<Algorithm, OutsideKey>();
function keyOf(alg: Algorithm): OutsideKey {
  const key = made.get(alg) ?? opensslKey(alg);
  made.set(alg, key);
  return key;
}

async function tokenBy(key: string | JWK | Uint8Array, alg: Algorithm): Promise<string> {
  const { headers } = await jwtSigner({ key, kid: "one", alg }).sign({
    url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
    timestamp: String(Math.floor(Date.now() / 1000)),
    eventId: newEventId(),
    body: new Uint8Array([123, 125]),
  });
  return String(headers[0]?.[1]).replace("Bearer ", "");
}

/** Each door reads the text as the key of which openssl has written the public half, and publishes it as jose does. */
async function expectRead(
  text: string | JWK | Uint8Array,
  { alg, publicPem }: Pick<OutsideKey, "alg" | "publicPem">,
) {
  await jwtVerify(await tokenBy(text, alg), await importSPKI(publicPem, alg));
  const read = readSigningKey(text, { kid: "one" });
  expect(read).toMatchObject({ kid: "one", alg });
  const record = await importKey(read.key, { alg, kid: "one" });
  const theirs = await exportJWK(await importSPKI(publicPem, alg, { extractable: true }));
  expect(record.publicJwk).toEqual({ ...theirs, use: "sig", kid: "one", alg });
}

/** What the doors say of a text that they do not read: the same reason. */
async function refusals(
  text: string | JWK | Uint8Array,
  alg: Algorithm,
  passphrase?: string,
): Promise<string[]> {
  const said = async (door: () => unknown) => {
    try {
      await door();
      return "read";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    }
  };
  return [
    await said(() => tokenBy(text, alg)),
    await said(() => readSigningKey(text, { kid: "one", ...(passphrase ? { passphrase } : {}) })),
  ];
}

for (const alg of ALGORITHMS) {
  itWith(...OPENSSL).each(Object.keys(PEM_FORMS))(`a PEM of ${alg}, %s, is read`, async (form) => {
    const key = keyOf(alg);
    const write = PEM_FORMS[form] as (pem: string) => string;
    await expectRead(write(key.pkcs8), key);
    if (key.traditional !== undefined) await expectRead(write(key.traditional), key);
  });

  itWith(...OPENSSL)(`an encrypted PEM of ${alg} names the command that decrypts it`, async () => {
    const key = keyOf(alg);
    for (const pem of key.encrypted)
      for (const text of [pem, JSON.stringify({ private_key: pem }), Buffer.from(pem).toString("base64")]) {
        const [library = "", node = ""] = await refusals(text, alg);
        expect(library).toMatch(/^KEY_UNFIT The key for .* is encrypted; decrypt it first: openssl/);
        expect(node).toMatch(/^KEY_STORE_PASSPHRASE The PEM is encrypted/);
        const [, command = ""] = /first: (.*) \(it asks/.exec(library) ?? [];
        await expectRead(decryptedByOpenssl(command, pem), key);
        expect(readSigningKey(text, { kid: "one", passphrase: "opens it" }).alg).toBe(alg);
        expect((await refusals(text, alg, "another"))[1]).toMatch(/^KEY_STORE_PASSPHRASE The PEM cannot be/);
      }
  });

  itWith(...OPENSSL)(`a public key of ${alg} is called one, and text that is cut off too`, async () => {
    const { publicPem, pkcs8 } = keyOf(alg);
    for (const refused of await refusals(publicPem, alg))
      expect(refused).toMatch(/^KEY_UNFIT The key is a public key; signing needs the private one/);
    for (const refused of await refusals(pkcs8.split("\n")[0] ?? "", alg))
      expect(refused).toMatch(/^KEY_UNFIT The key is cut off: it has BEGIN PRIVATE KEY and no END/);
    for (const refused of await refusals(pkcs8 + pkcs8, alg)) expect(refused).toMatch(/several private keys/);
    for (const refused of await refusals([...pkcs8].join("\0"), alg)) expect(refused).toMatch(/UTF-16/);
  });
}

for (const kind of ["rsa", "ecdsa"] as const)
  itWith(...SSH)(`an OpenSSH key (${kind}) names the command that converts it`, async () => {
    const key = sshKey(kind);
    const alg = kind === "rsa" ? "RS256" : "ES256";
    const [library = "", node] = await refusals(key.text, alg);
    expect(library).toMatch(/^KEY_UNFIT The key is in OpenSSH's own form; convert a copy of it/);
    expect(node).toBe(library);
    const [, command = ""] = /(ssh-keygen .*)\.$/.exec(library) ?? [];
    expect(readSigningKey(key.convertedBy(command), { kid: "one" }).alg).toBe(alg);
    for (const refused of await refusals(key.publicLine, alg))
      expect(refused).toMatch(/public key of OpenSSH/);
  });

itWith(...SSH)("an OpenSSH key of Ed25519 says that no program converts it", async () => {
  const key = sshKey("ed25519");
  expect(key.convertedBy("ssh-keygen -p -m PKCS8 -f key")).toContain("BEGIN OPENSSH PRIVATE KEY");
  for (const refused of await refusals(key.text, "EdDSA"))
    expect(refused).toMatch(
      /^KEY_UNFIT .*neither ssh-keygen nor openssl converts; make another: openssl genpkey/,
    );
});

const padded = (text = "") => Buffer.from(text, "base64url").toString("base64");
const withZero = (text = "") =>
  Buffer.concat([Buffer.from([0]), Buffer.from(text, "base64url")]).toString("base64url");

/** The spellings of a JWK that other programs write, and the algorithms that they are for. */
const JWK_FORMS: readonly (readonly [string, readonly Algorithm[], (jwk: JWK) => JWK | string])[] = [
  ["as it is", ALGORITHMS, (jwk) => jwk],
  ["as text", ALGORITHMS, (jwk) => JSON.stringify(jwk)],
  ["in .env", ALGORITHMS, (jwk) => `KEY='${JSON.stringify(jwk)}'`],
  ["with its quotes escaped", ALGORITHMS, (jwk) => `KEY=${JSON.stringify(JSON.stringify(jwk))}`],
  ["as base64", ALGORITHMS, (jwk) => Buffer.from(JSON.stringify(jwk)).toString("base64")],
  [
    "among other lines of .env",
    ALGORITHMS,
    (jwk) => `# key\nA="1"\nKEY='${JSON.stringify(jwk, null, 1)}'\nB={}\n`,
  ],
  ["with what its pair does", ALGORITHMS, (jwk) => ({ ...jwk, key_ops: ["sign", "verify"] })],
  ["with its alg", ["EdDSA"], (jwk) => ({ ...jwk, alg: "EdDSA" })],
  ["with alg Ed25519", ["EdDSA"], (jwk) => ({ ...jwk, alg: "Ed25519", key_ops: ["sign"], ext: true })],
  [
    "in padded standard base64",
    ["RS256"],
    (jwk) => mapped(jwk, ["n", "e", "d", "p", "q", "dp", "dq", "qi"], padded),
  ],
  ["in padded standard base64", ["ES256", "EdDSA"], (jwk) => mapped(jwk, ["x", "y", "d"], padded)],
  [
    "with a leading zero in each number",
    ["RS256"],
    (jwk) => mapped(jwk, ["n", "e", "d", "p", "q", "dp", "dq", "qi"], withZero),
  ],
  ["with coordinates of 33 octets", ["ES256"], (jwk) => mapped(jwk, ["x", "y", "d"], withZero)],
];

function mapped(jwk: JWK, names: readonly (keyof JWK)[], write: (text?: string) => string): JWK {
  const members = Object.entries(jwk).map(([name, value]) => [
    name,
    (names as readonly string[]).includes(name) ? write(String(value)) : value,
  ]);
  return Object.fromEntries(members) as JWK;
}

for (const [form, algorithms, write] of JWK_FORMS)
  for (const alg of algorithms)
    itWith(...OPENSSL)(`a JWK of ${alg}, ${form}, is read and published as RFC 7518 has it`, async () => {
      const key = keyOf(alg);
      const jwk = createPrivateKey(key.pkcs8).export({ format: "jwk" }) as JWK;
      const given = write(jwk);
      await expectRead(given, key);
      const store = await openKeyStore(temporaryFolder("key-forms"));
      await store.importKey(given, { kid: "one" });
      const published = await createKeySet(store).publicJwks();
      expect(await checkKeySet(published)).toMatchObject({ ok: true });
      // Also of a record that was stored before keys were made canonical.
      const [record] = await store.load();
      const asGiven =
        typeof given === "string" ? {} : { publicJwk: { ...given, d: undefined } as unknown as JWK };
      const later = createKeySet([{ ...(record as KeyRecord), ...asGiven }]);
      expect(await later.publicJwks()).toEqual(published);
    });

itWith(...OPENSSL)("an EC key whose coordinate begins with zeros is as long as any other", async () => {
  // One of 256 keys has such a coordinate; the octets of one are cut off here as some programs do.
  const { pkcs8 } = keyOf("ES256");
  const jwk = createPrivateKey(pkcs8).export({ format: "jwk" }) as JWK;
  const short = { ...jwk, d: Buffer.from([1]).toString("base64url") };
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(Buffer.from([1]));
  const point = ecdh.getPublicKey();
  const given = {
    ...short,
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  expect(readSigningKey(given, { kid: "one" }).key.d).toBe(`${"A".repeat(42)}E`);
  expect(await tokenBy(given, "ES256")).toMatch(/^ey/);
});

it.each<[what: string, jwk: JWK, words: RegExp]>([
  [
    "octets too many",
    { kty: "OKP", crv: "Ed25519", x: "A".repeat(44), d: "A".repeat(43) },
    /member x of 33 octets, where 32 belong/,
  ],
  [
    "octets too few",
    { kty: "OKP", crv: "Ed25519", x: "A".repeat(43), d: "AAAA" },
    /member d of 3 octets, where 32 belong/,
  ],
  ["a number that is none", { kty: "RSA", n: "!", e: "AQAB", d: "AQAB" }, /member n that is not base64url/],
  ["a number that is empty", { kty: "RSA", n: "", e: "AQAB", d: "AQAB" }, /member n that is not base64url/],
])("a JWK with %s is refused with the member's name", async (_, jwk, words) => {
  for (const refused of await refusals(jwk, jwk.kty === "RSA" ? "RS256" : "EdDSA")) {
    expect(refused).toMatch(/^KEY_UNFIT The key/);
    expect(refused).toMatch(words);
  }
});

for (const alg of ALGORITHMS)
  itWith(...OPENSSL)(
    `a key of ${alg} is read as bytes, as a KeyObject and as programs escape it`,
    async () => {
      const key = keyOf(alg);
      const object = createPrivateKey(key.pkcs8);
      const bytes = Buffer.from(key.pkcs8);
      const inLine = key.pkcs8.replaceAll("\n", "\\n");
      for (const form of [
        bytes,
        new Uint8Array([0xef, 0xbb, 0xbf, ...bytes]),
        object.export({ type: "pkcs8", format: "der" }),
        Buffer.from(JSON.stringify(object.export({ format: "jwk" }))),
        object as unknown as JWK,
        // What Gson and Go's encoder write in JSON, taken out of it by hand.
        inLine.replaceAll("=", "\\u003d").replaceAll("+", "\\u002b"),
        // A Secret of Kubernetes whose data were base64 already.
        Buffer.from(bytes.toString("base64")).toString("base64"),
        { private_key: key.pkcs8 } as unknown as JWK,
      ])
        await expectRead(form, key);
      for (const refused of await refusals(createPublicKey(object) as unknown as JWK, alg))
        expect(refused).toMatch(/^KEY_UNFIT The key is a public key; signing needs the private one\.$/);
      for (const refused of await refusals(Buffer.from(key.pkcs8, "utf16le"), alg))
        expect(refused).toMatch(/^KEY_UNFIT The key is UTF-16, and not UTF-8/);
    },
  );

it.each([
  ["a Promise", Promise.resolve("x"), /is a Promise: await it/],
  ["a key set", { keys: [{ kty: "RSA" }] }, /is a key set; bring one key of it/],
  ["an object of something else", {}, /it has neither kty nor private_key/],
  ["a secret as a KeyObject", createSecretKey(Buffer.alloc(32)), /is symmetric/],
  ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 1), /bytes that are no text/],
])("%s in the place of a key is refused as what it is, at each door", async (_, given, words) => {
  for (const refused of await refusals(given as unknown as JWK, "RS256")) {
    expect(refused).toMatch(/^KEY_UNFIT /);
    expect(refused).toMatch(words);
  }
});

it("a private JWK of RSA without its primes is refused with the reason, as an object and as a text", async () => {
  const { kty, n, e, d } = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({
    format: "jwk",
  });
  const jwk = { kty, n, e, d } as JWK;
  for (const key of [jwk, JSON.stringify(jwk)])
    await expect(tokenBy(key, "RS256")).rejects.toThrow(/lacks some of p, q, dp, dq and qi/);
});

it.each([
  ["a file's name", "./keys/private.pem", /is the name of a file/],
  ["no text", " \n", /is an empty text/],
  ["JSON without a key", '{"client_email":"a@example.com"}', /is JSON, but no JWK/],
  ["a list", "[]", /is not a JWK/],
  [
    "an endless nest of JSON",
    JSON.stringify({
      private_key: JSON.stringify({
        private_key: JSON.stringify({
          private_key: JSON.stringify({ private_key: JSON.stringify({ private_key: "x" }) }),
        }),
      }),
    }),
    /neither a PEM nor the JSON of a JWK/,
  ],
  ["a long text", "A".repeat(300_000), /is longer than/],
  ["a path", "~/.ssh/id_ed25519", /is the name of a file/],
  ["a key of PuTTY", "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n", /is in PuTTY's own form/],
  ["a key of .NET", "<RSAKeyValue><Modulus>AA==</Modulus></RSAKeyValue>", /is in \.NET's XML/],
  [
    "a public key of PKCS#1 in base64",
    generateKeyPairSync("rsa", { modulusLength: 2_048 })
      .publicKey.export({ type: "pkcs1", format: "der" })
      .toString("base64"),
    /is a public key; signing needs the private one/,
  ],
  // Its outline: what is signed, the algorithm, the signature (RFC 5280, 4.1).
  [
    "a certificate in base64",
    Buffer.from("300730003000030100", "hex").toString("base64"),
    /is a public key.*it is a certificate/,
  ],
  [
    "a SEC1 key that names no curve",
    Buffer.from("300602010104012a", "hex").toString("base64"),
    /does not name its curve/,
  ],
  ["DER that is cut off", Buffer.from("3082ffff020100", "hex").toString("base64"), /damaged/],
])("%s is refused with the reason", async (_, text, words) => {
  for (const refused of await refusals(text, "RS256")) {
    expect(refused).toMatch(/^KEY_UNFIT /);
    expect(refused).toMatch(words);
  }
});

it("asks for the kid that a PEM does not have, and refuses a JWK of another algorithm", () => {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  expect(() => readSigningKey(pem)).toThrow(/has no id: give the kid/);
  const jwk = createPrivateKey(pem).export({ format: "jwk" }) as JWK;
  expect(readSigningKey({ ...jwk, kid: "own" }).kid).toBe("own");
  expect(() => readSigningKey({ ...jwk, kid: "own", alg: "ES256" })).toThrow(/says alg "ES256"/);
});

it("WebCrypto's own export of a key is a key", async () => {
  const { privateKey } = (await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  const jwk = (await crypto.subtle.exportKey("jwk", privateKey)) as JWK;
  expect(readSigningKey({ ...jwk, kid: "one" }).alg).toBe("EdDSA");
  expect(await tokenBy(jwk, "EdDSA")).toMatch(/^ey/);
});

it.each([
  [{ use: "enc" }, "use"],
  [{ key_ops: ["verify"] }, "key_ops"],
  [{ key_ops: "sign" }, "key_ops"],
])("a JWK with %j signs nothing, as it says itself", async (more, member) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...privateKey.export({ format: "jwk" }), ...more };
  for (const key of [jwk, JSON.stringify(jwk)])
    await expect(importPrivateKey(key as never, "ES256")).rejects.toMatchObject({
      code: "KEY_UNFIT",
      message: expect.stringContaining(`is not for signing (${member})`),
    });
});
