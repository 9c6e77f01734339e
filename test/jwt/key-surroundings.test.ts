// Keys next to other lines, bare octets, key stores, and names that other tools write: read, or refused with what helps.
import { spawnSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importKey } from "hookproof/jwks";
import { readSigningKey } from "hookproof/node";
import type { JWK } from "jose";
import { expect, it } from "vitest";
import { importPrivateKey, type PrivateKeyInput } from "../../src/jwt/key.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const ed = generateKeyPairSync("ed25519").privateKey;
const pemOf = (key: KeyObject) => key.export({ format: "pem", type: "pkcs8" }) as string;
const derOf = (key: KeyObject) => key.export({ format: "der", type: "pkcs8" }) as Buffer;
const jwkOf = (key: KeyObject) => key.export({ format: "jwk" }) as JWK;
const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");

it.each([
  ["PEM", (key: KeyObject) => base64(pemOf(key))],
  ["PEM without padding", (key: KeyObject) => base64(pemOf(key)).replace(/=+$/, "")],
  ["PEM and another line break", (key: KeyObject) => base64(`${pemOf(key)}\n`).replace(/=+$/, "")],
  ["PEM without its last line break", (key: KeyObject) => base64(pemOf(key).trim()).replace(/=+$/, "")],
  ["DER", (key: KeyObject) => base64(derOf(key))],
  ["JWK", (key: KeyObject) => base64(JSON.stringify(jwkOf(key)))],
  ["DER in hex", (key: KeyObject) => derOf(key).toString("hex")],
])("base64 of a %s is read next to other lines", (_, write) => {
  for (const [key, alg] of [
    [ec, "ES256"],
    [rsa, "RS256"],
    [ed, "EdDSA"],
  ] as const)
    for (const text of [
      `A=1\n# the key\nKEY=${write(key)}\nB=2\n`,
      `export KEY="${write(key)}"\r\nexport LONG_NAME_OF_ANOTHER='${"z".repeat(60)}'\r\n`,
      `apiVersion: v1\nkind: Secret\ndata:\n  tls.crt: ${base64("no key at all, and longer than forty characters")}\n  key: ${write(key)}\n  other: eA==\n`,
    ]) {
      const read = readSigningKey(text, { kid: "one" });
      expect([read.alg, read.key.d]).toEqual([alg, jwkOf(key).d]);
    }
});

it("a certificate on another line does not keep the key from being read", () => {
  // Its outline: what is signed, the algorithm, the signature (RFC 5280, 4.1), made longer.
  const body = Buffer.from(`3064${"3060"}${"00".repeat(0x60)}`, "hex");
  const certificate = Buffer.concat([
    Buffer.of(0x30, body.length + 5),
    body,
    Buffer.from("3000030100", "hex"),
  ]);
  const text = `CERT=${base64(certificate)}\nKEY=${base64(derOf(ec))}\n`;
  expect(readSigningKey(text, { kid: "one" }).alg).toBe("ES256");
  expect(() => readSigningKey(`A=1\nCERT=${base64(certificate)}\n`, { kid: "one" })).toThrow(
    /is a public key/,
  );
});

it("the key of a TLS secret of Kubernetes is read behind its certificate, and of two keys none", () => {
  const certificate = "-----BEGIN CERTIFICATE-----\nMDAwADADAwEA\n-----END CERTIFICATE-----\n";
  const secret = (key: string) => `data:\n  tls.crt: ${base64(certificate)}\n  tls.key: ${base64(key)}\n`;
  expect(readSigningKey(secret(pemOf(ec)), { kid: "one" }).key.d).toBe(jwkOf(ec).d);
  expect(() => readSigningKey(secret(certificate), { kid: "one" })).toThrow(/is a public key/);
  const two = `${secret(pemOf(ec))}  other.key: ${base64(pemOf(ed))}\n`;
  expect(() => readSigningKey(two, { kid: "one" })).toThrow(/is one of several private keys/);
});

const refusal = async (key: PrivateKeyInput) => {
  const library = await importPrivateKey(key, "EdDSA").catch(({ message }) => message as string);
  expect(() => readSigningKey(key as JWK, { kid: "one" })).toThrow(library as string);
  return String(library);
};

it.each([
  ["bytes", (octets: Buffer) => new Uint8Array(octets)],
  ["hex", (octets: Buffer) => octets.toString("hex")],
  ["hex with colons", (octets: Buffer) => octets.toString("hex").replace(/..(?=.)/g, "$&:")],
  ["base64", base64],
  ["base64url", (octets: Buffer) => octets.toString("base64url")],
])("the bare octets of an Ed25519 key in %s: what is said to do works", async (_, write) => {
  const { d = "", x = "" } = jwkOf(ed);
  const seed = Buffer.from(d, "base64url");
  for (const octets of [seed, Buffer.concat([seed, Buffer.from(x, "base64url")])]) {
    const said = await refusal(write(octets));
    expect(said).toMatch(`is ${octets.length} octets and nothing else, as a secret is`);
    expect(said).not.toContain(octets.toString("hex").slice(0, 12));
    const [, prefix = ""] = /put ([0-9a-f]+) before the hex/.exec(said) ?? [];
    const { key } = readSigningKey(prefix + octets.toString("hex").slice(0, 64), { kid: "one" });
    expect(key.x).toBe(x);
  }
});

itWith("keytool and openssl", hasTool("keytool", "-help") && hasTool("openssl", "pkey", "-help"))(
  "a key store of Java names the two commands that take the key out, and they do",
  async () => {
    const folder = temporaryFolder("key-surroundings");
    const run = (command: string, input = "") => {
      const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, input, encoding: "utf8" });
      expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
    };
    const made = "-alias k -keyalg EC -groupname secp256r1 -storepass secret1 -keypass secret1 -dname CN=x";
    run(`keytool -genkeypair ${made} -keystore key.jks -storetype JKS`);
    const said = await refusal(new Uint8Array(readFileSync(join(folder, "key.jks"))));
    const [, toPkcs12 = "", toPem = ""] = /: (keytool .*), and .*: (openssl .*) \(/.exec(said) ?? [];
    run(`${toPkcs12} -srcstorepass secret1 -deststorepass secret1`);
    run(`${toPem} -passin pass:secret1`);
    expect(readSigningKey(readFileSync(join(folder, "key.pem"), "utf8"), { kid: "one" }).alg).toBe("ES256");
  },
);

it.each([
  ["EC", "prime256v1"],
  ["ec", "P-256"],
  ["Ec", "secp256r1"],
  ["EC", "P256"],
])("a JWK of kty %s and crv %s is one of P-256", async (kty, crv) => {
  const { key, alg } = readSigningKey({ ...jwkOf(ec), kty, crv } as JWK, { kid: "one" });
  expect([alg, key.kty, key.crv]).toEqual(["ES256", "EC", "P-256"]);
  const { publicJwk } = await importKey({ ...jwkOf(ec), kty, crv } as JWK, { alg: "ES256", kid: "one" });
  expect(publicJwk).toMatchObject({ kty: "EC", crv: "P-256" });
  await importPrivateKey({ ...jwkOf(ec), kty, crv } as JWK, "ES256");
});

it.each<[what: string, jwk: () => object, words: string]>([
  ["another curve", () => ({ ...jwkOf(ec), crv: "secp256k1" }), "it is of the kind EC secp256k1."],
  ["another kind", () => jwkOf(rsa), "it is of the kind RSA."],
  ["no y", () => ({ ...jwkOf(ec), y: undefined }), "it has no member y."],
  ["the x of another key", () => ({ ...jwkOf(ec), x: jwkOf(ed).x }), "its members make no such key"],
])("a JWK with %s is refused with the reason", async (_, jwk, words) => {
  await expect(importPrivateKey(jwk() as JWK, "ES256")).rejects.toThrow(
    `The key for ES256 cannot be imported: ${words}`,
  );
});

it("importKey takes a pair as WebCrypto's two exports stand in one object, and refuses a PEM in one as no JWK", async () => {
  const { d, ...publicKey } = jwkOf(ec);
  const pair = { publicKey, privateKey: { ...publicKey, d } } as unknown as JWK;
  expect((await importKey(pair, { alg: "ES256", kid: "one" })).publicJwk.x).toBe(publicKey.x);
  await expect(
    importKey({ private_key: pemOf(ec) } as unknown as JWK, { alg: "ES256", kid: "one" }),
  ).rejects.toThrow(/takes a private JWK; readSigningKey/);
});
