// The private halves of a key store under a passphrase, at the real cost of scrypt: a third of a second for each store.
import { createDecipheriv, scryptSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKeySet } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";

let home: string;
let dir: string;
beforeEach(() => {
  home = temporaryFolder("keys");
  dir = join(home, "keys");
});

const fileText = () => readFileSync(join(dir, "keys.json"), "utf8");

/** Each gets the other's private key. */
function swap(
  a: { sealedPrivateKey: object } | undefined,
  b: { sealedPrivateKey: object } | undefined,
): void {
  if (!a || !b) throw new Error("two keys");
  [a.sealedPrivateKey, b.sealedPrivateKey] = [b.sealedPrivateKey, a.sealedPrivateKey];
}

describe("a passphrase", () => {
  const passphrase = "correct horse battery staple";

  it("encrypts the private halves, and leaves the public set open", async () => {
    const { kid } = await openKeyStore(dir, { passphrase }).generate({ alg: "EdDSA" });
    expect(fileText()).not.toContain('"d"');
    expect((await createKeySet(openKeyStore(dir)).publicJwks()).keys).toMatchObject([
      { kid, use: "sig", alg: "EdDSA" },
    ]);
    const { key } = await createKeySet(openKeyStore(dir, { passphrase })).signingKey("EdDSA");
    expect(key).toMatchObject({ kty: "OKP", kid, use: "sig", alg: "EdDSA" });
  });

  it("is stretched by scrypt as OWASP asks for, once for all keys of a store", async () => {
    const store = openKeyStore(dir, { passphrase });
    await store.generate({ alg: "EdDSA", kid: "one" });
    await store.rotate("EdDSA");
    const sealed = JSON.parse(fileText()).keys.map(
      (key: { sealedPrivateKey: object }) => key.sealedPrivateKey,
    );
    expect(sealed).toHaveLength(2);
    for (const key of sealed)
      expect(key).toMatchObject({ kdf: "scrypt", N: 131_072, r: 8, p: 1, cipher: "aes-256-gcm" });
    expect(Buffer.from(sealed[0].salt, "base64url")).toHaveLength(16);
    expect(sealed[1].salt).toBe(sealed[0].salt);
    expect(sealed[1].iv).not.toBe(sealed[0].iv);
    const other = openKeyStore(join(home, "other"), { passphrase });
    await other.generate({ alg: "EdDSA" });
    const otherText = readFileSync(join(home, "other", "keys.json"), "utf8");
    expect(JSON.parse(otherText).keys[0].sealedPrivateKey.salt).not.toBe(sealed[0].salt);
    // Opened by node:crypto alone, by what the file says.
    const { salt, iv, data, tag, N, r, p } = sealed[0];
    const bytes = (text: string) => Buffer.from(text, "base64url");
    const secret = scryptSync(passphrase, bytes(salt), 32, { N, r, p, maxmem: 2 ** 28 });
    const decipher = createDecipheriv("aes-256-gcm", secret, bytes(iv)).setAAD(Buffer.from("one"));
    decipher.setAuthTag(bytes(tag));
    const jwk = JSON.parse(Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString());
    expect(jwk).toMatchObject({ kty: "OKP", kid: "one", d: expect.any(String) });
  });

  it.each<[string, (keys: { kid: string; sealedPrivateKey: Record<string, unknown> }[]) => void, string]>([
    ["another key's in its place", ([a, b]) => swap(a, b), "KEY_STORE_PASSPHRASE"],
    [
      "changed bytes",
      ([a]) => Object.assign(a?.sealedPrivateKey ?? {}, { data: "AAAA" }),
      "KEY_STORE_PASSPHRASE",
    ],
    [
      "a short tag",
      ([a]) => Object.assign(a?.sealedPrivateKey ?? {}, { tag: "AAAA" }),
      "KEY_STORE_PASSPHRASE",
    ],
    ["a cheaper cost", ([a]) => Object.assign(a?.sealedPrivateKey ?? {}, { N: 1024 }), "KEY_STORE_INVALID"],
    [
      "a cost nobody can pay",
      ([a]) => Object.assign(a?.sealedPrivateKey ?? {}, { N: 2 ** 30 }),
      "KEY_STORE_INVALID",
    ],
    [
      "another kind of key",
      ([a]) => Object.assign(a?.sealedPrivateKey ?? {}, { kdf: "none" }),
      "KEY_STORE_INVALID",
    ],
  ])("opens no key with %s", async (_name, change, code) => {
    const store = openKeyStore(dir, { passphrase });
    await store.generate({ alg: "EdDSA", kid: "one" });
    await store.generate({ alg: "ES256", kid: "two" });
    const stored = JSON.parse(fileText());
    change(stored.keys);
    writeFileSync(join(dir, "keys.json"), JSON.stringify(stored), { mode: 0o600 });
    const signing = createKeySet(openKeyStore(dir, { passphrase })).signingKey("EdDSA");
    await expect(signing).rejects.toMatchObject({ code });
  });

  it("is asked for by name when it is missing or wrong, for signing and for writing", async () => {
    await openKeyStore(dir, { passphrase }).generate({ alg: "ES256" });
    for (const wrong of [openKeyStore(dir), openKeyStore(dir, { passphrase: "another" })]) {
      const code = "KEY_STORE_PASSPHRASE";
      await expect(createKeySet(wrong).signingKey("ES256")).rejects.toMatchObject({ code });
      await expect(wrong.generate({ alg: "ES256" })).rejects.toMatchObject({ code });
      await expect(wrong.rotate("ES256")).rejects.toMatchObject({ code });
    }
    expect(await openKeyStore(dir).list()).toHaveLength(1);
  });

  it("cannot be added to keys that are open", async () => {
    await openKeyStore(dir).generate({ alg: "ES256" });
    await expect(openKeyStore(dir, { passphrase }).generate({ alg: "ES256" })).rejects.toMatchObject({
      code: "KEY_STORE_PASSPHRASE",
    });
    expect(() => openKeyStore(dir, { passphrase: "" })).toThrow(TypeError);
  });
});
