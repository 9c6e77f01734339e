// What `checkKeySet` passes, strict verifiers of other languages take.
import { execFileSync, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkKeySet, generateKey, type KeyRecord, localKeys } from "hookproof/jwks";
import { CompactSign, importJWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;
const folder = join(import.meta.dirname, "strict");
const JACKSON = ["annotations", "core", "databind"].map((part) => `/usr/share/java/jackson-${part}.jar`);

const VERIFIERS: readonly { tool: string; has: boolean; start: () => readonly [string, ...string[]] }[] = [
  {
    tool: "go",
    has: hasTool("go", "version"),
    start() {
      const program = join(temporaryFolder("strict"), "program");
      execFileSync("go", ["build", "-o", program, join(folder, "strict.go")]);
      return [program];
    },
  },
  {
    tool: "java and libjackson2-databind-java",
    has: hasTool("javac", "--version") && JACKSON.every((jar) => existsSync(jar)),
    start() {
      const built = temporaryFolder("strict");
      execFileSync("javac", ["-cp", JACKSON.join(":"), "-d", built, join(folder, "Strict.java")]);
      return ["java", "-cp", [built, ...JACKSON].join(":"), "Strict"];
    },
  },
  {
    tool: "python3-jwt",
    has: hasTool("/usr/bin/python3", "-c", "import jwt, cryptography"),
    start: () => ["/usr/bin/python3", join(folder, "strict.py")],
  },
];

interface Case {
  readonly name: string;
  readonly set: string;
  readonly alg: (typeof ALGORITHMS)[number];
}
type Key = Record<string, unknown>;

let own: Record<(typeof ALGORITHMS)[number], KeyRecord>;
const tokens: Record<string, string> = {};
/** Sets that are right, with keys beside ours that are for something else. */
let good: Case[];
/** Sets with one thing wrong at the key that the token is signed with. */
let bad: Case[];

/** Keys that others publish in the same set, made by Node. */
function keysOfOthers(): Key[] {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  const curve = (namedCurve: string) =>
    generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });
  const x25519 = generateKeyPairSync("x25519").publicKey.export({ format: "jwk" });
  const ed448 = generateKeyPairSync("ed448").publicKey.export({ format: "jwk" });
  return [
    { ...rsa, kid: "enc1", use: "enc", alg: "RSA-OAEP" },
    { ...rsa, kid: "rs512", use: "sig", alg: "RS512" },
    { ...rsa, kid: "enc2", use: "enc" },
    { ...curve("P-384"), kid: "es384", use: "sig", alg: "ES384" },
    { ...curve("P-521"), kid: "es512", use: "sig", alg: "ES512" },
    { ...curve("secp256k1"), kid: "es256k", use: "sig", alg: "ES256K" },
    { ...curve("P-384"), kid: "nameless", use: "sig" },
    { ...x25519, kid: "x25519", use: "enc", alg: "ECDH-ES" },
    { ...x25519, kid: "derive", key_ops: ["deriveBits"] },
    { ...ed448, kid: "ed448", use: "sig", alg: "EdDSA" },
    { kty: "AKP", kid: "mldsa", use: "sig", alg: "ML-DSA-44", pub: "AAAA" },
    { kty: "XYZ", kid: "unheard-of" },
  ];
}

beforeAll(async () => {
  const made = await Promise.all(ALGORITHMS.map((alg) => generateKey({ alg, kid: `kid-${alg}` })));
  own = Object.fromEntries(made.map((key) => [key.alg, key])) as typeof own;
  for (const { alg, kid, privateJwk } of made)
    tokens[alg] = await new CompactSign(Buffer.from('{"sub":"s"}'))
      .setProtectedHeader({ alg, kid })
      .sign(await importJWK(privateJwk, alg));
  const ours: Key[] = made.map(({ publicJwk }) => ({ ...publicJwk }));
  const text = (keys: unknown[]) => JSON.stringify({ keys });
  const each = (name: string, setOf: (key: Key) => string, algs: readonly Case["alg"][] = ALGORITHMS) =>
    algs.map((alg) => ({ name: `${name}, ${alg}`, set: setOf({ ...own[alg].publicJwk }), alg }));
  const others = keysOfOthers();
  good = [
    ...each("the key alone", (key) => text([key])),
    ...each("all of ours", () => text(ours)),
    ...others.flatMap((other) => each(`next to ${other.kid}`, () => text([other, ...ours]))),
    ...each("next to all others", () => text([...others, ...ours])),
    ...each("with key_ops", (key) => text([{ ...key, key_ops: ["verify"] }])),
    ...each("next to a key whose kid is a number", (key) => text([{ kty: "XYZ", kid: 5 }, key])),
    ...each("next to a key whose e is a number", (key) => text([{ ...others[0], e: 65537 }, key])),
    ...each("next to a key by the newer name of EdDSA", (key) =>
      text([{ ...made[2]?.publicJwk, kid: "newer", alg: "Ed25519" }, key]),
    ),
    ...each("with a kid beyond ASCII, a time and ext", (key) =>
      text([{ ...key, nbf: 1, exp: 2, ext: true }]),
    ),
    ...each("with the members in another order", (key) =>
      text([Object.fromEntries(Object.entries(key).reverse())]),
    ),
    ...each("next to 49 others", (key) =>
      text([...Array.from({ length: 49 }, (_, at) => ({ ...others[0], kid: `k${at}` })), key]),
    ),
    ...each("with members that nobody knows", (key) => text([{ ...key, "x-made-by": { a: [1] } }])),
  ];
  const octets = (value: unknown) => Buffer.from(String(value), "base64url");
  bad = [
    ...each("x or n padded", (key) => text([padded(key)])),
    ...each("a zero octet in front", (key) => text([longer(key)])),
    ...each("key_ops with one that sig excludes", (key) =>
      text([{ ...key, key_ops: ["verify", "encrypt"] }]),
    ),
    ...each("the kid twice", (key) => text([key, key])),
    ...each("use enc", (key) => text([{ ...key, use: "enc" }])),
    ...each("no use", ({ use: _, ...key }) => text([key])),
    ...each("another alg", (key) => text([{ ...key, alg: "RS512" }])),
    ...each("another kid", (key) => text([{ ...key, kid: "other" }])),
    ...each("n in hex", (key) => text([{ ...key, n: octets(key.n).toString("hex") }]), ["RS256"]),
    ...each("an even n", (key) => text([{ ...key, n: even(key.n) }]), ["RS256"]),
    ...each("e as a number", (key) => text([{ ...key, e: 65537 }]), ["RS256"]),
    ...each("a kid that is a number", (key) => text([{ ...key, kid: 5 }])),
    ...each("alg none", (key) => text([{ ...key, alg: "none" }])),
    ...each("alg of a symmetric key", (key) => text([{ ...key, alg: "HS256" }])),
    ...each("another name of its kind", (key) => text([{ ...key, kty: "key" }])),
    ...each("a list as use", (key) => text([{ ...key, use: ["sig"] }])),
    ...each(
      "an octet too few",
      (key) => text([{ ...key, x: octets(key.x).subarray(1).toString("base64url") }]),
      ["ES256", "EdDSA"],
    ),
    // Go reads it.
    ...each(
      "a member nested deeper than Java reads",
      (key) => text([{ ...key, "x-made-by": JSON.parse("[".repeat(1_001) + "]".repeat(1_001)) }]),
      ["ES256"],
    ),
    ...each("a point next to the curve", (key) => text([{ ...key, y: key.x }]), ["ES256"]),
    ...each("set bits behind the last octet", (key) => text([loose(key)]), ["ES256", "EdDSA"]),
  ];
  function padded(key: Key): Key {
    const name = key.n === undefined ? "x" : "n";
    return { ...key, [name]: `${key[name]}=` };
  }
  function longer(key: Key): Key {
    const name = key.n === undefined ? "x" : "n";
    return { ...key, [name]: Buffer.concat([Buffer.of(0), octets(key[name])]).toString("base64url") };
  }
  function even(n: unknown): string {
    const bytes = octets(n);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) & 0xfe;
    return bytes.toString("base64url");
  }
  function loose(key: Key): Key {
    const x = String(key.x);
    const next = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return { ...key, x: x.slice(0, -1) + next[next.indexOf(x.slice(-1)) + 1] };
  }
});

/** As a listener fetches it, with the token. */
async function checked({ set, alg }: Case) {
  const body = new TextEncoder().encode(set);
  const transport = async () => ({ status: 200, headers: [], body, truncated: false });
  return checkKeySet("https://keys.example.com/jwks.json", { transport, token: tokens[alg] });
}

/** Passed without a warning of its keys; the answer's headers are not looked at here. */
async function isPassed(one: Case): Promise<boolean> {
  const { ok, checks } = await checked(one);
  return ok && checks.every(({ outcome, keys }) => outcome !== "warn" || keys === undefined);
}

function asked(command: readonly [string, ...string[]], cases: readonly Case[]): string[] {
  const [program, ...words] = command;
  const input = JSON.stringify(cases.map(({ set, alg }) => [set, tokens[alg]]));
  const done = spawnSync(program, words, { input, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout.trim().split("\n");
}

describe("a key set that is passed", () => {
  it("may have keys for another purpose, which are noted, and what a listener does not take is not passed", async () => {
    for (const one of good) {
      const { ok, checks } = await checked(one);
      const failed = checks.filter(({ outcome }) => outcome === "fail");
      expect({ ok, failed }, one.name).toEqual({ ok: true, failed: [] });
      expect((await localKeys(JSON.parse(one.set)).resolve(`kid-${one.alg}`, one.alg)).ok, one.name).toBe(
        true,
      );
    }
    for (const one of bad) expect((await checked(one)).ok, one.name).toBe(false);
  });

  for (const { tool, has, start } of VERIFIERS)
    itWith(tool, has)("is taken by a strict verifier", async () => {
      const cases = [...good, ...bad];
      const answers = asked(start(), cases);
      expect(answers).toHaveLength(cases.length);
      const wrong: string[] = [];
      for (const [index, one] of cases.entries())
        if ((await isPassed(one)) && answers[index] !== "taken") wrong.push(`${one.name}: ${answers[index]}`);
      expect(wrong).toEqual([]);
      // It is a strict one: nearly all that is refused here it refuses as well.
      const refused = answers.slice(good.length).filter((answer) => answer.startsWith("refused"));
      expect(refused.length / bad.length).toBeGreaterThan(tool === "python3-jwt" ? 0.4 : 0.95);
    });
});

describe("what is said of keys for another purpose", () => {
  const said = async (keys: unknown[]) => {
    const { ok, checks } = await checkKeySet({ keys });
    return { ok, text: checks.map(({ outcome, rule, detail }) => `${outcome} ${rule} ${detail}`).join("\n") };
  };

  it("is true of each kind alone, and that no key can verify a token", async () => {
    for (const key of keysOfOthers()) {
      const { ok, text } = await said([key]);
      expect(ok, String(key.kid)).toBe(false);
      expect(text).toContain("note purpose 1 key for another purpose");
      expect(text).toContain("fail usable no key can verify a token");
      expect(text, String(key.kid)).not.toMatch(/The key for (?:RS256|ES256|EdDSA)|cannot be imported/);
    }
  });

  it("is true of what is no other purpose, and of numbers that are no texts", async () => {
    const key = own.RS256.publicJwk;
    for (const alg of ["none", "HS256", "RSA", "SHA256withRSA"]) {
      const { ok, text } = await said([{ ...key, alg }]);
      expect(ok, alg).toBe(false);
      expect(text).not.toContain("another purpose");
    }
    expect((await said([{ ...key, kty: "RSA-2048" }])).text).not.toContain("another purpose");
    const newer = await said([own.ES256.publicJwk, { ...own.EdDSA.publicJwk, alg: "Ed25519" }]);
    expect(newer.ok).toBe(true);
    expect(newer.text).toContain('warn alg alg "Ed25519" is the newer name of EdDSA');
    expect(newer.text).not.toContain("another purpose");
    const number = await said([{ ...key, e: 65537 }]);
    expect(number.text).toContain("e is no text");
    expect(number.text).not.toContain("other than 65537");
    const hex = Buffer.from(String(key.n), "base64url").toString("hex");
    expect((await said([{ ...key, n: hex }])).text).toContain("fail encoding n is written in hex");
    expect((await said([{ ...key, n: `${String(key.n).slice(0, -1)}A` }])).text).toContain("an even n");
    expect((await said([key, { kty: "XYZ", kid: 5 }])).text).toContain(
      "warn purpose a key for another purpose has",
    );
  });

  it("leaves a misspelt purpose or name a failure, and a private member of any key", async () => {
    const key = own.ES256.publicJwk;
    for (const change of [
      { use: "SIG" },
      { use: "signature" },
      { alg: "es256" },
      { alg: "ES-256" },
      { kty: "ec" },
    ]) {
      const { ok, text } = await said([own.EdDSA.publicJwk, { ...key, ...change }]);
      expect(ok, JSON.stringify(change)).toBe(false);
      expect(text).not.toContain("note purpose");
    }
    const [encryption] = keysOfOthers();
    expect(await said([key, { ...encryption, d: "AQAB" }])).toMatchObject({
      ok: false,
      text: expect.stringContaining("fail private"),
    });
    expect((await said([key, { kty: "oct", kid: "o" }])).text).toContain("the key set has a symmetric key");
  });

  it("warns of a key that names no alg, for which PyJWT refuses the set", async () => {
    const unheardOf = { kty: "XYZ", kid: "unheard-of" };
    const { ok, text } = await said([own.ES256.publicJwk, unheardOf]);
    expect(ok).toBe(true);
    expect(text).toContain("warn alg a key for another purpose names no alg");
    expect((await said([own.ES256.publicJwk, { ...unheardOf, alg: "X" }])).text).not.toContain("warn");
  });

  it("warns of a kid that a key for another purpose has as well", async () => {
    const key = own.ES256.publicJwk;
    const { ok, text } = await said([key, { ...keysOfOthers()[0], kid: key.kid }]);
    expect(ok).toBe(true);
    expect(text).toContain("warn unique a key for another purpose has the same kid");
  });

  it("refuses a member that stands twice, which readers understand in two ways", async () => {
    const doubled = JSON.stringify({ keys: [own.ES256.publicJwk] }).replace('"kid":', '"kid":"first","kid":');
    expect((await checked({ name: "", set: doubled, alg: "ES256" })).checks.at(-1)).toMatchObject({
      rule: "json",
      outcome: "fail",
      detail: expect.stringContaining('"kid" stands twice'),
    });
  });
});
