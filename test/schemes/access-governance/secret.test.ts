import { readdirSync, readFileSync } from "node:fs";
import {
  generateSecret,
  hmacSigner,
  secretFingerprint,
  secretWarnings,
  signHmac,
  verifyHmac,
} from "hookproof";
import { createReceiver } from "hookproof/receiver";
import { describe, expect, it } from "vitest";

const documented = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const values = { timestamp: 1, eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", body: "{}" };

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

/** Every secret that a stranger can copy: those of the vectors, and those that pages give to a signer or a listener. */
function documentedSecrets(): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(new URL("vectors/", ROOT))) {
    if (!name.endsWith(".json")) continue;
    JSON.parse(read(`vectors/${name}`), (key, value: unknown) => {
      // What stands around a secret there is one of its spellings.
      if (key === "secret" && typeof value === "string") found.add(value.replace(/^whsec_|["\s]/g, ""));
      return value;
    });
  }
  const pagesOf = (folder: string) => readdirSync(new URL(folder, ROOT)).map((name) => `${folder}${name}`);
  const pages = ["docs/guides/", "docs/api/"].flatMap(pagesOf).filter((name) => name.endsWith(".md"));
  // Digests and signatures look alike.
  for (const page of ["README.md", "docs/cli.md", ...pages])
    for (const line of read(page).split("\n"))
      if (!/signature|sha256|digest|^}\); \/\/ /i.test(line))
        for (const [, text] of line.matchAll(/"(?:whsec_)?([A-Za-z0-9_-]{43}|[A-Za-z0-9]{32})"/g))
          if (text) found.add(text);
  return found;
}

describe("generateSecret", () => {
  it("gives 256 bits as 43 characters of base64url, never the same twice", () => {
    const secrets = Array.from({ length: 100 }, generateSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const one of secrets) {
      expect(one).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(one, "base64url")).toHaveLength(32);
      expect(secretWarnings(one)).toEqual([]);
    }
  });
});

describe("a secret", () => {
  it.each<[what: string, given: string]>([
    ["empty", ""],
    ["a text that UTF-8 cannot carry", "\ud800"],
  ])("is refused: %s", (_, given) => {
    const refused = expect.objectContaining({ code: "SECRET_INVALID" });
    expect(() => hmacSigner({ secret: given })).toThrow(refused);
    expect(() => hmacSigner({ secret: [secret, given] })).toThrow(refused);
    expect(() => signHmac({ ...values, secret: given })).toThrow(refused);
    expect(() => verifyHmac({ ...values, secret: given, signature: "" })).toThrow(refused);
  });

  it.each([null, 7, new Uint8Array(32), {}])("of another type is a wrong call: %s", (given) => {
    const wrong = given as unknown as string;
    expect(() => hmacSigner({ secret: wrong })).toThrow(TypeError);
    expect(() => hmacSigner({ secret: [wrong] })).toThrow(/^secret must be a string/);
    expect(() => signHmac({ ...values, secret: wrong })).toThrow(/^secret must be a string/);
  });

  it("that is undefined is refused with the likely cause, an environment variable", () => {
    const missing = process.env.HOOKPROOF_NO_SUCH_VARIABLE as string;
    const refused = expect.objectContaining({
      code: "SECRET_INVALID",
      message: expect.stringMatching(/is undefined: is its environment variable set/),
    });
    expect(() => hmacSigner({ secret: missing })).toThrow(refused);
    expect(() => hmacSigner({ secret: [secret, missing] })).toThrow(refused);
    expect(() => signHmac({ ...values, secret: missing })).toThrow(refused);
  });

  it("is needed", () => {
    expect(() => hmacSigner({ secret: [] })).toThrow(TypeError);
  });

  it.each<[given: string, warnings: RegExp[]]>([
    [`HOOKPROOF_SECRET=${"a".repeat(43)}`, [/begins with a name and =, as in \.env/]],
    [`export KEY=${"a".repeat(43)}`, [/begins with a name and =, as in \.env/]],
    [secret, []],
    [`${secret}\n`, [/white space/]],
    [` ${secret}`, [/white space/]],
    // As pages and chats give it to the clipboard.
    [`${secret}\u200B`, [/white space/]],
    [`\u200D${secret}`, [/white space/]],
    [`\u201C${secret}\u201D`, [/quote/]],
    [`\uFEFF${secret}`, [/byte order mark/]],
    // A file in UTF-16, and one in Latin-1, read as UTF-8.
    [
      Buffer.from(`\uFEFF${secret}`, "utf16le").toString("utf8"),
      [/no text in it: perhaps its file is in UTF-16/],
    ],
    [`${secret}\uFFFD`, [/no text in it/]],
    [`"${secret}"`, [/quote/]],
    [`${secret}=`, [/padding/]],
    [secret.replace("Q", "+"), [/\+ or \//]],
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", [/whsec_/, /documentation/]],
    ["hunter2", [/7 characters/]],
    ["x".repeat(31), [/31 characters/]],
    ["x".repeat(32), []],
    // Inside a secret these are its own characters.
    ['correct horse battery staple "it\'s" `whsec_` a=b', []],
    ['"a/b="', [/quote/, /\+ or \//, /6 characters/]],
  ])("is warned about, not refused: %j", (given, warnings) => {
    const found = secretWarnings(given);
    expect(found).toHaveLength(warnings.length);
    for (const [index, warning] of warnings.entries()) expect(found[index]).toMatch(warning);
    for (const one of found) expect(one).not.toContain(given);
    expect(signHmac({ ...values, secret: given })).toHaveLength(43);
  });

  it("has a fingerprint: the first bytes of its SHA-256 (openssl dgst -sha256)", () => {
    expect(secretFingerprint(documented)).toBe("sha256:ea866a75");
  });
});

describe("a secret of the documentation, with which everybody can sign", () => {
  /** Every way that a text may get from a page into a program. */
  const FORMS: Record<string, (text: string) => string> = {
    "as it stands there": (text) => text,
    "quoted and padded": (text) => `"${text}="`,
    "with a prefix": (text) => `whsec_${text}`,
    "with its name": (text) => `LISTENER_SECRET=${text}\n`,
    "in standard base64": (text) => Buffer.from(text, "base64url").toString("base64"),
    "in base64url once more": (text) => Buffer.from(text, "base64url").toString("base64url"),
    "in hex": (text) => Buffer.from(text, "base64url").toString("hex"),
    "in hex, in capitals": (text) => Buffer.from(text, "base64url").toString("hex").toUpperCase(),
    "in hex with colons": (text) =>
      Buffer.from(text, "base64url")
        .toString("hex")
        .replace(/..(?!$)/g, "$&:"),
    "in base64, as a secret store shows it": (text) => Buffer.from(text).toString("base64"),
    "with a line end in base64": (text) => Buffer.from(`${text}\n`).toString("base64"),
    "its text in hex": (text) => Buffer.from(text).toString("hex"),
  };
  const spellings = [...documentedSecrets()].flatMap((text) =>
    Object.entries(FORMS).map(([form, spell]) => [form, text, spell(text)] as const),
  );
  const listener = (own: string | readonly string[]) => ({
    id: "lst_1",
    baseUrl: "https://tenant.example.com",
    auth: { method: "hmac" as const, secret: own },
  });

  it("stands in the vectors and the guides", () => {
    expect(documentedSecrets().size).toBeGreaterThan(24);
  });

  it.each(spellings)("is refused by a receiver, alone and as the second one: %s, %s", (_form, _text, own) => {
    const refused = expect.objectContaining({
      code: "SECRET_INVALID",
      message: expect.stringContaining("the one of the documentation") as string,
    });
    expect(() => createReceiver({ listener: listener(own) })).toThrow(refused);
    expect(() => createReceiver({ listener: listener([generateSecret(), own]) })).toThrow(refused);
    expect(() => createReceiver({ listener: listener(own), allowDocumentedSecret: true })).not.toThrow();
  });

  it.each(spellings)("is named by secretWarnings, and so by a sender: %s, %s", (_form, _text, own) => {
    expect(secretWarnings(own)).toContainEqual(expect.stringContaining("the one of the documentation"));
  });

  it("is none that was made by chance", () => {
    for (let n = 0; n < 2_000; n++) {
      const secret = generateSecret();
      for (const own of [
        secret,
        Buffer.from(secret).toString("base64"),
        Buffer.from(secret, "base64url").toString("hex"),
      ])
        expect(() => createReceiver({ listener: listener(own) })).not.toThrow();
    }
  });
});
