// The mistakes behind a signature by a key (v1a) of Standard Webhooks.
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const timestamp = "1614265330";
const body = '{"test": 2432232314}';
const right = `${id}.${timestamp}.${body}`;

const HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const keyOf = (seed: Buffer) =>
  createPrivateKey({ key: Buffer.concat([HEAD, seed]), format: "der", type: "pkcs8" });
const publicOf = (seed: Buffer) =>
  Buffer.from(createPublicKey(keyOf(seed)).export({ format: "jwk" }).x ?? "", "base64url");

const seed = Buffer.alloc(32, 7);
const whpk = `whpk_${publicOf(seed).toString("base64")}`;
const whsk = `whsk_${seed.toString("base64")}`;
const whsec = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

const made = (text: string | Buffer, by = seed) => sign(null, Buffer.from(text), keyOf(by));
const hash = (name: string) => createHash(name).update(right).digest();
const v1a = (signature: Buffer) => `v1a,${signature.toString("base64")}`;
const v1 = (key: Buffer | string) => `v1,${createHmac("sha256", key).update(right).digest("base64")}`;
const signature = made(right);

async function found(list: string, secrets: string | string[] = whpk, sent = body) {
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": list };
  return mistakesOf("standard-webhooks", { secrets, headers, body: sent });
}

const FORM = "key-signature-in-other-form";
const CASES: [what: string, ids: string[], list: string, detail?: string][] = [
  ["nothing", [], v1a(signature)],
  ["the right one among others", [], `${v1(Buffer.alloc(32, 1))} v1a,AAAA ${v1a(signature)}`],
  ["another key", ["signature-unexplained"], v1a(made(right, Buffer.alloc(32, 8)))],
  ["no id", ["id-not-signed"], v1a(made(`${timestamp}.${body}`))],
  ["the body alone", ["body-alone-signed"], v1a(made(body))],
  ["the other order", ["parts-in-other-order"], v1a(made(`${timestamp}.${id}.${body}`))],
  ["milliseconds", ["timestamp-signed-in-milliseconds"], v1a(made(`${id}.${timestamp}000.${body}`))],
  ["a date", ["timestamp-signed-otherwise"], v1a(made(`${id}.2021-02-25T15:02:10Z.${body}`))],
  ["colons", ["parts-joined-otherwise"], v1a(made(`${id}:${timestamp}:${body}`))],
  ["the id in small letters", ["id-signed-otherwise"], v1a(made(right.replace(id, id.toLowerCase())))],
  ["a line break", ["body-line-break"], v1a(made(`${right}\n`))],
  ["a body written again", ["body-reserialised"], v1a(made(right.replace(": ", ":")))],
  ["a body in quotes", ["body-stringified-twice"], v1a(made(`${id}.${timestamp}.${JSON.stringify(body)}`))],
  ["a SHA-512 of the text", ["key-text-hashed"], v1a(made(hash("sha512")))],
  ["a SHA-256 in hex", ["key-text-hashed"], v1a(made(hash("sha256").toString("hex")))],
  ["no version", [FORM], signature.toString("base64"), "No version stands before it."],
  ["the version of secrets", [FORM], `v1,${signature.toString("base64")}`, "v1 stands before it."],
  ["an equals sign", [FORM], `v1a=${signature.toString("base64")}`, "not followed by a comma"],
  ["hex", [FORM], `v1a,${signature.toString("hex")}`, "It is in hex."],
  ["base64url", [FORM], `v1a,${signature.toString("base64url")}`, "base64url"],
  ["base64 of hex", [FORM], v1a(Buffer.from(signature.toString("hex"))), "encoded twice"],
  ["base64 of base64", [FORM], v1a(Buffer.from(signature.toString("base64"))), "encoded twice"],
  ["the text behind it", [FORM], v1a(Buffer.concat([signature, Buffer.from(right)])), "crypto_sign"],
  ["quotes", [FORM], `"${v1a(signature)}"`, "Something else than a space"],
  ["a comma between two", [FORM], `v1a,AAAA,${v1a(signature)}`, "Something else than a space"],
  ["its bytes reversed", [FORM], v1a(Buffer.from(signature).reverse()), "opposite order"],
  ["its halves swapped", [FORM], v1a(Buffer.concat([signature.subarray(32), signature.subarray(0, 32)]))],
  ["no id, and hex", ["id-not-signed", FORM], `v1a,${made(`${timestamp}.${body}`).toString("hex")}`],
  ["bytes read as text", ["key-signature-damaged"], v1a(Buffer.from(signature.toString("utf8")))],
  ["half of it", ["key-signature-length"], v1a(signature.subarray(0, 40)), "This one has 40 bytes."],
  ["an HMAC by the public key", ["public-key-as-secret"], v1(publicOf(seed))],
  ["an HMAC by its text", ["public-key-as-secret"], v1(whpk).replace("v1", "v1a")],
];

it.each(CASES)("%s: %j", async (_, ids, list, detail = "") => {
  const mistakes = await found(list);
  expect(mistakes.map((one) => one.id)).toEqual(ids);
  expect(mistakes.map(({ message }) => message).join(" ")).toContain(detail);
  expect(JSON.stringify(mistakes)).not.toContain(signature.toString("base64").slice(0, 40));
});

describe("keys", () => {
  it("the sender's own key says the same", async () => {
    expect(await found(v1a(signature), whsk)).toEqual([]);
    expect(await found(v1a(made(body)), whsk)).toMatchObject([{ id: "body-alone-signed" }]);
    expect(await found(v1a(made(right, Buffer.alloc(32, 8))), whsk)).toMatchObject([
      { id: "signature-unexplained" },
    ]);
  });

  it("the private half given to the receiver as the public one, or signed with the public one", async () => {
    const [one] = await found(v1a(signature), whsk.replace("whsk_", "whpk_"));
    expect(one).toMatchObject({ id: "key-halves-mixed-up" });
    expect(await found(v1a(made(right, publicOf(seed))))).toMatchObject([{ id: "key-halves-mixed-up" }]);
  });

  it("one of several keys and signatures is enough, of either kind", async () => {
    const other = `whpk_${publicOf(Buffer.alloc(32, 9)).toString("base64")}`;
    expect(await found(`${v1a(made(right, Buffer.alloc(32, 8)))} ${v1a(signature)}`, [other, whpk])).toEqual(
      [],
    );
    expect(await found(`${v1("wrong")} ${v1a(signature)}`, [whsec, whpk])).toEqual([]);
    expect(await found(`${v1("wrong")} ${v1a(made(body))}`, [whsec, whpk])).toMatchObject([
      { id: "body-alone-signed" },
    ]);
  });
});

describe("what was not checked is said", () => {
  it.each<[string, string, string, string]>([
    ["v1a alone, and a secret", v1a(signature), whsec, "that takes the sender's public key (whpk_)"],
    ["v1 alone, and a key", v1("wrong"), whpk, "that takes the shared secret (whsec_)"],
  ])("%s", async (_, list, secrets, says) => {
    expect(await found(list, secrets)).toMatchObject([
      { id: "signature-of-other-kind", message: expect.stringContaining(says) },
    ]);
  });

  it.each<[string, string, string]>([
    [
      "both, and a secret that explains nothing",
      whsec,
      "Whether the signature of v1a is right was not checked",
    ],
    ["both, and a key that explains nothing", whpk, "Whether the signature of v1 is right was not checked"],
  ])("%s", async (_, secrets, says) => {
    const list = `${v1("wrong")} ${v1a(made(right, Buffer.alloc(32, 8)))}`;
    expect(await found(list, secrets)).toMatchObject([
      { id: "signature-unexplained", message: expect.stringContaining(says) },
    ]);
  });

  it("a digest of the secret behind v1a is no signature by a key", async () => {
    const list = v1(Buffer.alloc(32, 5)).replace("v1", "v1a");
    expect(await found(list, whsec)).toMatchObject([{ id: "version-differs" }]);
  });
});

it("a long header, and one of many signatures, cost no more than others", async () => {
  const many = Array.from({ length: 200 }, (_, n) => v1a(made(right, Buffer.alloc(32, n)))).join(" ");
  expect((await found(many)).length).toBeLessThan(2);
  expect(await found(`v1a,${"A".repeat(100_000)}`)).toMatchObject([{ id: "signature-unexplained" }]);
});
