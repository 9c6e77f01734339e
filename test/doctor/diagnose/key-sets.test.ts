import { diagnose } from "hookproof/diagnose";
import { checkKeySet, generateKey, type Jwks, type KeyRecord, localKeys } from "hookproof/jwks";
import { CompactSign, importJWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";

const BODY = '{"a":1}';
const NOW = 1_767_225_600;
let key: KeyRecord;
let jwk: Record<string, unknown>;
beforeAll(async () => {
  key = await generateKey({ alg: "ES256", kid: "Key-1" });
  jwk = { ...key.publicJwk };
});

/** What a diagnosis says first of a token whose header has this kid, where listeners are served this document. */
async function mistakesIn(document: unknown, kid: unknown) {
  const token = await new CompactSign(Buffer.from(JSON.stringify({ exp: NOW + 60 })))
    .setProtectedHeader({ alg: "ES256", kid: kid as string })
    .sign(await importJWK(key.privateJwk, "ES256"));
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  return (await diagnose({ request: { headers, body: BODY }, jwks: document as Jwks })).mistakes;
}

async function said(document: unknown, kid: unknown = "Key-1"): Promise<string[]> {
  return (await mistakesIn(document, kid))
    .map(({ id }) => id)
    .filter((id) => /^(?:ki|key|token-(?:ki|sig))/.test(id));
}

/** What people serve in place of a key set, and how `checkKeySet` says it. */
const SHAPES: readonly [id: string, made: () => unknown, words: RegExp][] = [
  ["key-set-bare-list", () => [jwk], /: it is a bare list; write/],
  ["key-set-bare-key", () => jwk, /: it is a single key; write/],
  ["key-set-html", () => "\n<!DOCTYPE html><title>Log in</title>", /: it is an HTML page/],
  ["key-set-pem", () => "-----BEGIN PUBLIC KEY-----\nMFkw", /: it is PEM/],
  ["key-set-text", () => JSON.stringify({ keys: [jwk] }), /: it is a JSON text inside of a text/],
  ["key-set-openid-configuration", () => ({ issuer: "i", jwks_uri: "https://k/jwks" }), /at its jwks_uri$/],
  ["key-set-wrapped", () => ({ data: { keys: [jwk] } }), /inside of another member$/],
  ["key-set-map", () => ({ "Key-1": jwk }), /: keys is not a list/],
  ["key-set-map", () => ({ keys: { "Key-1": jwk } }), /: keys is not a list/],
  ["key-set-map", () => ({ "Key-1": "-----BEGIN CERTIFICATE-----" }), /: keys is not a list/],
  ["key-set-malformed", () => ({ jwks: 5 }), /^there is no list of keys$/],
];

describe("a document that is no key set", () => {
  it.each(SHAPES)("%s", async (id, made, words) => {
    const document = made();
    expect(await said(document)).toEqual([id]);
    expect(() => localKeys(document as Jwks)).toThrow("The key set has no list of keys");
    const transport = async () => ({
      status: 200,
      headers: [],
      body: new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document)),
      truncated: false,
    });
    const { ok, checks } = await checkKeySet("https://keys.example.com/jwks.json", { transport });
    const failed = checks.filter(({ outcome }) => outcome === "fail").map(({ detail }) => detail);
    expect(ok).toBe(id === "key-set-text");
    if (!ok) expect(failed).toEqual([expect.stringMatching(words)]);
    else expect((await checkKeySet({ keys: document as never })).ok).toBe(false);
  });
});

// RFC 7518, section 6, and `priv` of draft-ietf-cose-dilithium for AKP keys.
it.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])(
  "a key set with the private member %s is named, as a listener refuses it",
  async (member) => {
    const document = { keys: [jwk, { kty: "AKP", [member]: "AA" }] };
    expect(() => localKeys(document as unknown as Jwks)).toThrow(`(member ${member})`);
    const mistakes = await mistakesIn(document, "Key-1");
    expect(mistakes.map(({ id }) => id)).toContain("key-set-private");
  },
);

describe("a kid", () => {
  it.each<[what: string, ofSet: unknown, ofToken: unknown, expected: string[]]>([
    ["that is right", "Key-1", "Key-1", []],
    ["in another case", "key-1", "Key-1", ["kid-other-case"]],
    ["with a space", "Key-1 ", "Key-1", ["kid-other-case"]],
    ["in quotes", '"Key-1"', "Key-1", ["kid-other-case"]],
    ["that is a number in the set", 7, "7", ["kid-other-type"]],
    ["that is a number in the token", "7", 7, ["kid-other-type"]],
    ["that is missing in the set", undefined, "Key-1", ["kid-missing-in-key-set"]],
    ["that is another one", "Key-2", "Key-1", ["kid-of-other-key"]],
  ])("%s", async (_what, ofSet, ofToken, expected) => {
    expect(await said({ keys: [{ ...jwk, kid: ofSet }] }, ofToken)).toEqual(expected);
  });

  it("that names no key is not said to name another one", async () => {
    const mistakes = await mistakesIn({ keys: [{ ...jwk, kid: "Key-2" }] }, "Key-1");
    const told = mistakes.find(({ id }) => id === "kid-of-other-key");
    expect(told?.message).toMatch(/^No key of the key set has the token's kid, .* The key "Key-2" made it/);
  });
});
