import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { createKeySet, generateKey } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const MINUTE = 60_000;
let home: string;
let dir: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hookproof-keys-"));
  dir = join(home, "keys");
});
afterEach(() => {
  chmodSync(home, 0o700);
  rmSync(home, { recursive: true, force: true });
});

const clock = () => fixedClock("2026-01-01T00:00:00Z");
const fileText = () => readFileSync(join(dir, "keys.json"), "utf8");

const hasOpenssl = hasTool("openssl", "version");

/** A private key in PEM, made by openssl. */
function pem(...args: string[]): string {
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
/** One that Node made. */
const ecPem = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  }) as string;

describe("on disk", () => {
  it("is a 0600 file in a 0700 folder, with nothing else left next to it", async () => {
    await openKeyStore(dir).generate({ alg: "ES256" });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "keys.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["keys.json"]);
  });

  it("makes the first key of an algorithm active and a later one next", async () => {
    const store = openKeyStore(dir);
    expect((await store.generate({ alg: "ES256" })).state).toBe("active");
    expect((await store.generate({ alg: "EdDSA" })).state).toBe("active");
    expect((await store.generate({ alg: "ES256" })).state).toBe("next");
  });

  it("shows what another process wrote at the next load, and the same array while nothing changes", async () => {
    const [writer, reader] = [openKeyStore(dir), openKeyStore(dir)];
    await writer.generate({ alg: "ES256" });
    const first = await reader.load();
    expect(await reader.load()).toBe(first);
    await writer.generate({ alg: "EdDSA" });
    expect((await reader.load()).map(({ alg }) => alg)).toEqual(["ES256", "EdDSA"]);
  });

  it("rotates by a new key where only one of another algorithm waits", async () => {
    const store = openKeyStore(dir);
    for (const alg of ["ES256", "EdDSA", "EdDSA"] as const) await store.generate({ alg });
    const { kid } = await store.rotate("ES256");
    expect((await store.list()).find((key) => key.kid === kid)).toMatchObject({
      alg: "ES256",
      state: "next",
    });
    expect(await store.list()).toHaveLength(4);
  });

  it("keeps the time at which a key was removed, and does not write what is there already", async () => {
    const time = clock();
    const store = openKeyStore(dir, { clock: time });
    await store.generate({ alg: "EdDSA", kid: "one" });
    await store.remove("one", { force: true });
    const removedAt = time.now();
    time.advance(MINUTE);
    const { ino } = statSync(join(dir, "keys.json"));
    await store.setMaxAge(300);
    expect(statSync(join(dir, "keys.json")).ino).toBe(ino);
    expect(await store.list()).toMatchObject([{ kid: "one", removesAt: removedAt }]);
  });

  it("takes concurrent writers one after the other", async () => {
    const stores = [openKeyStore(dir), openKeyStore(dir), openKeyStore(dir)];
    await Promise.all(stores.flatMap((store) => [1, 2, 3, 4].map(() => store.generate({ alg: "EdDSA" }))));
    const keys = await openKeyStore(dir).list();
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(12);
    expect(keys.filter(({ state }) => state === "active")).toHaveLength(1);
  });

  it("shows no private member when printed", async () => {
    const store = openKeyStore(dir);
    await store.generate({ alg: "ES256" });
    const { d } = JSON.parse(fileText()).keys[0].privateJwk;
    expect(inspect(await store.load(), { depth: 9 })).not.toContain(d);
    expect(JSON.stringify(await store.list())).not.toContain(d);
  });
});

describe("a store that is not as it should be", () => {
  const refused = async (code: string) => {
    const store = openKeyStore(dir);
    const calls = [
      () => store.load(),
      () => store.list(),
      () => store.generate({ alg: "EdDSA" }),
      () => store.rotate("EdDSA"),
      () => store.setMaxAge(60),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: "HookproofError", code });
  };
  const damaged = async (code: string, change: (text: string) => string) => {
    await openKeyStore(dir).generate({ alg: "EdDSA" });
    const text = change(fileText());
    writeFileSync(join(dir, "keys.json"), text, { mode: 0o600 });
    await refused(code);
    expect(fileText()).toBe(text);
    expect(readdirSync(dir)).toEqual(["keys.json"]);
  };

  it("is refused when half of it was written", () =>
    damaged("KEY_STORE_INVALID", (text) => text.slice(0, text.length / 2)));
  it("is refused when it is empty", () => damaged("KEY_STORE_INVALID", () => ""));
  it("is refused when it is other JSON", () => damaged("KEY_STORE_INVALID", () => '{"keys":[]}'));
  it("is refused when it is null", () => damaged("KEY_STORE_INVALID", () => "null"));
  it("is refused when a key lacks its material", () =>
    damaged("KEY_STORE_INVALID", (text) => text.replace(/"privateJwk"/, '"somethingElse"')));
  it("is refused when a kid stands twice", () =>
    damaged("KEY_STORE_INVALID", (text) => {
      const stored = JSON.parse(text);
      return JSON.stringify({ ...stored, keys: [...stored.keys, { ...stored.keys[0], signsAt: undefined }] });
    }));
  it("is refused when two keys sign at the same time", () =>
    damaged("KEY_STORE_INVALID", (text) => {
      const stored = JSON.parse(text);
      return JSON.stringify({ ...stored, keys: [...stored.keys, { ...stored.keys[0], kid: "another" }] });
    }));
  it("is refused when it is of a newer version", () =>
    damaged("KEY_STORE_NEWER", (text) => text.replace('"version": 1', '"version": 2')));

  it("is refused when others can read the file", async () => {
    await openKeyStore(dir).generate({ alg: "EdDSA" });
    const text = fileText();
    chmodSync(join(dir, "keys.json"), 0o640);
    await refused("KEY_STORE_EXPOSED");
    await expect(openKeyStore(dir).load()).rejects.toThrow(/chmod 600/);
    expect(fileText()).toBe(text);
  });

  it("is refused when others can enter the folder", async () => {
    mkdirSync(dir, { mode: 0o755 });
    chmodSync(dir, 0o755);
    await expect(openKeyStore(dir).generate({ alg: "EdDSA" })).rejects.toMatchObject({
      code: "KEY_STORE_EXPOSED",
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  it("is refused when a folder stands where the file should", async () => {
    mkdirSync(join(dir, "keys.json"), { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    await refused("KEY_STORE_UNREADABLE");
    expect(statSync(join(dir, "keys.json")).isDirectory()).toBe(true);
  });

  it("is refused when a file stands where the folder should", async () => {
    writeFileSync(dir, "mine");
    await expect(openKeyStore(dir).generate({ alg: "EdDSA" })).rejects.toMatchObject({
      code: "KEY_STORE_UNREADABLE",
    });
    expect(readFileSync(dir, "utf8")).toBe("mine");
  });
});

describe("key ids", () => {
  it("are never used twice, not even after removal, which leaves no key material", async () => {
    const store = openKeyStore(dir);
    await store.generate({ alg: "ES256", kid: "one" });
    await expect(store.generate({ alg: "EdDSA", kid: "one" })).rejects.toMatchObject({
      code: "KEY_ID_REUSED",
    });
    await store.remove("one", { force: true });
    await expect(store.generate({ alg: "EdDSA", kid: "one" })).rejects.toMatchObject({
      code: "KEY_ID_REUSED",
    });
    await expect(store.importKey(ecPem(), { kid: "one" })).rejects.toMatchObject({ code: "KEY_ID_REUSED" });
    expect(JSON.parse(fileText()).keys[0]).not.toHaveProperty("privateJwk");
    expect(fileText()).not.toContain('"d"');
    expect(await store.list()).toMatchObject([{ kid: "one", state: "removed" }]);
    expect(await store.load()).toEqual([]);
  });

  it("a key that was removed while it handed over stays removed when its successor goes, too", async () => {
    const store = openKeyStore(dir);
    const { kid } = await store.generate({ alg: "ES256" });
    const { kid: successor } = await store.rotate("ES256");
    await store.remove(kid, { force: true });
    await store.remove(successor);
    expect((await store.list()).map(({ state }) => state)).toEqual(["removed", "removed"]);
    await store.generate({ alg: "ES256" });
    expect(await store.load()).toMatchObject([{ state: "active" }]);
  });

  it.each([
    "-x",
    "~root",
    "=x",
    "$(touch x)",
    "`x`",
    "a b",
    "a;b",
    "a&b",
    "a|b",
    "a'b",
    'a"b',
    "a\\b",
    "a*",
    "a?",
    "[a]",
    "{a,b}",
    "a!",
    "#a",
    "a<b",
    "a\n",
    "\u001b[2J",
    "\u202ea",
    "é",
    "",
    "a".repeat(257),
  ])("that a shell would act on are refused, generated and imported: %j", async (kid) => {
    const store = openKeyStore(dir);
    const { privateJwk } = await generateKey({ alg: "EdDSA", kid: "good" });
    for (const adding of [
      () => store.generate({ alg: "EdDSA", kid }),
      () => store.importKey({ ...privateJwk, kid }),
      () => store.importKey(privateJwk, { kid }),
      () => store.importKey(JSON.stringify({ ...privateJwk, kid })),
    ])
      await expect(adding()).rejects.toMatchObject({ code: "KEY_UNFIT" });
    expect(await store.list()).toEqual([]);
    await store.importKey({ ...privateJwk, kid: "replaced" }, { kid: "named" });
    expect(await store.list()).toMatchObject([{ kid: "named" }]);
  });

  it("of services and of thumbprints are kept", async () => {
    const store = openKeyStore(dir);
    for (const kid of [
      "2026-01-01-kPrK_qmx",
      "arn:aws:kms:eu-1:1:key/a-b",
      "_a.b~c+d=",
      "a@b",
      "0".repeat(256),
    ])
      expect(await store.generate({ alg: "EdDSA", kid })).toMatchObject({ kid });
    const text = fileText().replace('"kid": "a@b"', '"kid": "$(x)"');
    writeFileSync(join(dir, "keys.json"), text, { mode: 0o600 });
    await expect(openKeyStore(dir).list()).rejects.toMatchObject({ code: "KEY_STORE_INVALID" });
  });
});

describe("import and export", () => {
  const kinds = [
    ["RS256", () => pem("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")],
    ["RS256", () => pem("genrsa", "-traditional", "2048")],
    ["ES256", () => pem("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")],
    ["ES256", () => pem("ecparam", "-name", "prime256v1", "-genkey", "-noout")],
    ["EdDSA", () => pem("genpkey", "-algorithm", "ED25519")],
  ] as const;

  itWith("openssl", hasOpenssl).each(kinds)(
    "takes a PEM made by openssl for %s and gives the same key back",
    async (alg, make) => {
      const store = openKeyStore(dir);
      const text = make();
      const { kid, alg: found } = await store.importKey(text);
      expect(found).toBe(alg);
      const file = join(home, "given.pem");
      writeFileSync(file, text);
      const wanted = pem("pkey", "-in", file, "-pubout");
      expect(await store.exportKey(kid, { half: "public", format: "pem" })).toBe(wanted);
      writeFileSync(
        file,
        await store.exportKey(kid, { half: "private", format: "pem", passphrase: "opens it" }),
      );
      expect(readFileSync(file, "utf8")).toContain("BEGIN ENCRYPTED PRIVATE KEY");
      expect(pem("pkey", "-in", file, "-passin", "pass:opens it", "-pubout")).toBe(wanted);
    },
  );

  it("keeps the kid of a JWK, and exports no private member of a public half", async () => {
    const store = openKeyStore(dir);
    const { kid } = await store.generate({ alg: "RS256" });
    const jwk = await store.exportKey(kid, { half: "private", format: "jwk" });
    expect(JSON.parse(await store.exportKey(kid, { half: "public", format: "jwk" }))).not.toHaveProperty("d");
    const other = openKeyStore(join(home, "other"));
    expect(await other.importKey(jwk)).toMatchObject({ kid, alg: "RS256", state: "active" });
  });

  const unfit: [string, string, () => string | object][] = [
    [
      "RSA of 1024 bit",
      "1024 bit",
      () => pem("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"),
    ],
    [
      "RSA with e = 3",
      "exponent",
      () =>
        pem(
          "genpkey",
          "-algorithm",
          "RSA",
          "-pkeyopt",
          "rsa_keygen_bits:2048",
          "-pkeyopt",
          "rsa_keygen_pubexp:3",
        ),
    ],
    ["P-384", "secp384r1", () => pem("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")],
    ["Ed448", "ed448", () => pem("genpkey", "-algorithm", "ED448")],
    ["RSA-PSS", "rsa-pss", () => pem("genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048")],
    [
      "a public PEM",
      "public",
      () => {
        writeFileSync(join(home, "k.pem"), ecPem());
        return pem("pkey", "-in", join(home, "k.pem"), "-pubout");
      },
    ],
    ["a symmetric JWK", "symmetric", () => ({ kty: "oct", k: "c2VjcmV0" })],
    ["a public JWK", "public", () => ({ kty: "EC", crv: "P-256", x: "x", y: "y" })],
    ["a key set", "key set", () => ({ keys: [] })],
    ["text", "neither", () => "hello"],
    ["a damaged PEM", "damaged", () => ecPem().replace(/\n[A-Za-z0-9+/=]+\n/, "\nAAAA\n")],
  ];
  itWith("openssl", hasOpenssl).each(unfit)("refuses %s by name", async (_, word, make) => {
    const failure = openKeyStore(dir).importKey(make() as string);
    await expect(failure).rejects.toMatchObject({
      code: "KEY_UNFIT",
      message: expect.stringContaining(word),
    });
    expect(existsSync(join(dir, "keys.json"))).toBe(false);
  });

  it("refuses a private half that does not belong to the public one", async () => {
    const store = openKeyStore(dir);
    const { kid, publicJwk } = await store.generate({ alg: "EdDSA" });
    const jwk = JSON.parse(await store.exportKey(kid, { half: "private", format: "jwk" }));
    const other = await openKeyStore(join(home, "other")).generate({ alg: "EdDSA" });
    const mixed = { ...jwk, kid: "mixed", x: other.publicJwk.x };
    expect(mixed.x).not.toBe(publicJwk.x);
    await expect(store.importKey(mixed)).rejects.toMatchObject({ code: "KEY_UNFIT" });
  });

  it("refuses a JWK that says it is for encryption, and one of another algorithm", async () => {
    const store = openKeyStore(dir);
    const { kid } = await store.generate({ alg: "RS256" });
    const jwk = JSON.parse(await store.exportKey(kid, { half: "private", format: "jwk" }));
    await expect(store.importKey({ ...jwk, use: "enc" })).rejects.toMatchObject({ code: "KEY_UNFIT" });
    await expect(store.importKey({ ...jwk, alg: "PS256" })).rejects.toMatchObject({ code: "KEY_UNFIT" });
  });
});

describe("a holder of the lock that died", () => {
  it("does not keep the store locked, and its unfinished file is cleared away", async () => {
    const store = openKeyStore(dir);
    await store.generate({ alg: "EdDSA" });
    const dead = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }).trim();
    const { createHash } = await import("node:crypto");
    const { hostname } = await import("node:os");
    const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
    writeFileSync(join(dir, `lock-${host}-${dead}-0123456789abcdef`), "");
    writeFileSync(join(dir, `lock-${host}-${process.pid}-0123456789abcdef`), "");
    writeFileSync(join(dir, "keys.json.0123456789abcdef.tmp"), '{"version":1,"keys":[');
    await store.generate({ alg: "EdDSA" });
    expect(readdirSync(dir)).toEqual(["keys.json"]);
  });

  it("is waited for while it lives", async () => {
    const store = openKeyStore(dir);
    await store.generate({ alg: "EdDSA" });
    const { createHash } = await import("node:crypto");
    const { hostname } = await import("node:os");
    const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
    const lock = join(dir, `lock-${host}-${process.ppid}-0123456789abcdef`);
    writeFileSync(lock, "");
    let done = false;
    const waiting = store.generate({ alg: "EdDSA" }).then(() => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(done).toBe(false);
    rmSync(lock);
    await waiting;
    expect(await store.list()).toHaveLength(2);
  });
});

describe("times", () => {
  it("carry a rotation through without anybody writing", async () => {
    const time = clock();
    const store = openKeyStore(dir, { clock: time });
    const first = await store.generate({ alg: "ES256" });
    time.advance(MINUTE);
    const plan = await store.rotate("ES256");
    const text = fileText();
    const states = async () => Object.fromEntries((await store.list()).map(({ kid, state }) => [kid, state]));
    expect(await states()).toEqual({ [first.kid]: "active", [plan.kid]: "next" });
    time.advance(15 * MINUTE - 1);
    expect((await createKeySet(store).signingKey("ES256")).kid).toBe(first.kid);
    time.advance(1);
    expect((await createKeySet(store).signingKey("ES256")).kid).toBe(plan.kid);
    expect(await states()).toEqual({ [first.kid]: "retired", [plan.kid]: "active" });
    expect((await createKeySet(store).publicJwks()).keys).toHaveLength(2);
    time.advance(15 * MINUTE);
    expect(await states()).toEqual({ [first.kid]: "removed", [plan.kid]: "active" });
    expect((await createKeySet(store).publicJwks()).keys.map(({ kid }) => kid)).toEqual([plan.kid]);
    expect(fileText()).toBe(text);
    await store.rotateDue(24 * 60 * MINUTE);
    expect(JSON.parse(fileText()).keys[0]).not.toHaveProperty("privateJwk");
  });
});
