import { createHash, createHmac } from "node:crypto";
import { httpSignatureMistakes, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { expect, it } from "vitest";

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
    const mistakes = await httpSignatureMistakes({ ...rules, headers, body: BODY, nowSeconds: NOW });
    return { ok: verdict.ok, ids: mistakes.map(({ id }) => id) };
  };
  const found: Record<string, unknown> = {};
  for (const [id, change] of Object.entries(CASES)) found[id] = await judge(request(change));
  expect(found).toEqual(Object.fromEntries(Object.keys(CASES).map((id) => [id, { ok: false, ids: [id] }])));
  expect(await judge(request({}))).toEqual({ ok: true, ids: [] });
});

it("a key set without the key's algorithm, and header lines of any text", async () => {
  const { publicJwk } = await generateKey({ alg: "ES256", kid: "k" });
  const rules = { url: URL_, keys: localKeys({ keys: [publicJwk] }) };
  const ids = async (headers: Record<string, string>) =>
    (await httpSignatureMistakes({ ...rules, headers, body: BODY, nowSeconds: NOW })).map(({ id }) => id);
  expect(await ids(request({}))).toEqual(["key-of-other-kind"]);
  const texts = ["", ":", "sig1=", "=:::", "a".repeat(9_000), '("'.repeat(3_000), ":-".repeat(4_000)];
  for (const text of texts)
    expect(
      Array.isArray(await ids({ Signature: text, "Signature-Input": text, "Content-Digest": text })),
    ).toBe(true);
});
