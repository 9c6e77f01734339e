// How platforms spell digests, secrets, signing inputs and bodies: each is made by node:crypto alone, and named.
import { createHash } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";
import { body, eventId, head, idsOf, mac, secret, timestamp, url } from "./signed-wrongly.js";

const right = mac(secret, head + body);
const pairs = (digest: Buffer) => digest.toString("hex").match(/../g) ?? [];
const hashOf = (text: string, hash = "sha256") => createHash(hash).update(text);

const base64 = (text: string) => Buffer.from(text).toString("base64");
// coreutils: printf %s "<the digest's hex>" | xxd -r -p | base32
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const base32 = (digest: Buffer) =>
  (
    [...digest]
      .map((byte) => byte.toString(2).padStart(8, "0"))
      .join("")
      .match(/.{1,5}/g) ?? []
  )
    .map((bits) => BASE32[Number.parseInt(bits.padEnd(5, "0"), 2)])
    .join("");

describe("a right digest in another spelling has that mistake alone:", () => {
  it.each<[string, string, string]>([
    ["signature-hex", "BitConverter of C#", pairs(right).join("-").toUpperCase()],
    ["signature-hex", "colons", pairs(right).join(":")],
    ["signature-hex", "blanks", pairs(right).join(" ")],
    ["signature-hex", "0x in front", `0x${right.toString("hex")}`],
    [
      "signature-hex",
      "0x before each",
      pairs(right)
        .map((pair) => `0x${pair}`)
        .join(", "),
    ],
    ["signature-hex", "a bytea of PostgreSQL", `\\x${right.toString("hex")}`],
    ["signature-hex", "a Buffer as Node prints it", `<Buffer ${pairs(right).join(" ")}>`],
    ["signature-base32", "base32", base32(right)],
    ["signature-base32", "base32 with padding", `${base32(right)}====`],
    ["signature-base64-of-hex", "base64 of BitConverter's", base64(pairs(right).join("-").toUpperCase())],
    ["signature-base64-of-hex", "base64 of capitals", base64(right.toString("hex").toUpperCase())],
    ["signature-encoded-twice", "hex of base64", Buffer.from(right.toString("base64")).toString("hex")],
    ["signature-encoded-twice", "base64 of base64", base64(right.toString("base64"))],
    ["signature-cut", "its first 16 bytes", right.subarray(0, 16).toString("base64url")],
    ["signature-cut", "its last 16 bytes in hex", right.subarray(16).toString("hex")],
    ["signature-zeros-lost", "%x of C and Go", Array.from(right, (byte) => byte.toString(16)).join("")],
    ["signature-in-json", "an object", JSON.stringify({ signature: right.toString("base64url") })],
    ["signature-byte-list", "a Buffer as JSON", JSON.stringify(right)],
    ["signature-openssl-output", "openssl dgst -r", `${right.toString("hex")} *stdin`],
  ])("%s, %s", async (id, _, signature) => {
    const ids = await idsOf({ signature });
    expect(ids[0]).toBe(id);
    expect(ids).not.toContain("signature-unexplained");
  });

  it.each([",", " ", ", ", ";"])(
    "signature-several, joined by %j, where the second is right",
    async (joint) => {
      const old = mac("the secret before", head + body);
      for (const spelling of ["base64url", "hex"] as const)
        expect(
          (await idsOf({ signature: [old, right].map((one) => one.toString(spelling)).join(joint) }))[0],
        ).toBe("signature-several");
    },
  );

  it("a digest that was encoded up to three times more is read, and not a fourth time", async () => {
    const encoded = (times: number) =>
      Array.from({ length: times }).reduce<string>((text) => base64(text), right.toString("base64url"));
    for (const times of [1, 2, 3])
      expect(await idsOf({ signature: encoded(times) })).toEqual(["signature-encoded-twice"]);
    expect(await idsOf({ signature: encoded(4) })).not.toContain("signature-encoded-twice");
  });

  it.each(["md5", "sha1", "sha384", "sha512"])("signature-%s", async (hash) => {
    const signature = mac(secret, head + body, hash).toString("hex");
    expect(await idsOf({ signature })).toEqual([`signature-${hash}`, "signature-hex"]);
  });
});

const keyed = (key: string | Buffer) => mac(key, head + body).toString("base64url");

describe("a key that is nearly the secret, or something else, is named:", () => {
  it.each<[string, string | Buffer, string?]>([
    ["secret-newline", `${secret}\n\n`],
    ["secret-quoted", `"${secret}"\n`],
    ["secret-assignment", `export WEBHOOK_SECRET="${secret}"`.replace("export ", "")],
    ["secret-assignment", `export WEBHOOK_SECRET=${secret}\n`],
    ["secret-bom", `\uFEFF${secret}\r\n`],
    ["secret-percent-encoded", encodeURIComponent("a+b/c=".repeat(8)), "a+b/c=".repeat(8)],
    ["secret-encoded", Buffer.from(`${secret}\n`).toString("hex")],
    ["secret-cut", secret.slice(0, 32)],
    ["secret-utf16", Buffer.from(`\uFEFF${secret}`, "utf16le").swap16()],
    ["secret-hashed", hashOf(secret, "md5").digest("hex")],
    ["secret-fingerprint", hashOf(secret).digest("hex").slice(0, 8)],
    ["secret-twice", secret + secret],
    ["secret-as-object", "[object Object]"],
    ["secret-is-other-value", "lst_1"],
    ["secret-is-other-value", eventId],
    ["secret-placeholder", "changeme"],
    ["secret-in-json", `{"id":"lst_1","secret":"${secret}"}`],
    ["secret-in-json", secret, JSON.stringify({ secret })],
    ["secret-assignment", secret, `export WEBHOOK_SECRET=${secret}`],
    ["secret-base64url-decoded", Buffer.from(secret, "base64url"), ` "${secret}"\n`],
    ["secret-encoding-removed", secret, base64(`${secret}\n`)],
    ["secret-prefix-removed-and-decoded", Buffer.from("c2VjcmV0", "base64"), "v1,whsec_c2VjcmV0"],
  ])("%s: %j", async (id, key, known) => {
    expect((await idsOf({ signature: keyed(key), known: known ?? secret }))[0]).toBe(id);
  });
});

const path = "/api/v1/webhooks/incoming/lst_1";
const bodyHash = hashOf(body).digest("hex");

describe("another input than the right one is named:", () => {
  it.each<[string, string | Buffer]>([
    ["input-with-url", `POST\n${path}\n${timestamp}\n${bodyHash}`],
    ["input-with-url", `${url}.${timestamp}.${eventId}.${body}`],
    ["input-with-url", `POST ${path} HTTP/1.1`],
    ["input-of-body-hash", `${timestamp}.${bodyHash}`],
    ["input-other-order", `${body}|${eventId}|${timestamp}`],
    ["input-without-id", `${timestamp} ${body}`],
    ["input-prefix", `v1,${head}${body}`],
    ["input-encoded", base64(head + body)],
    ["hmac-of-hash", hashOf(head + body).digest()],
    ["hmac-hashed-again", right],
    ["body-hashed", head + hashOf(body, "md5").digest("hex")],
    ["body-in-hex", head + Buffer.from(body).toString("hex")],
    ["timestamp-signed-as-date", `Thu, 01 Jan 2026 00:00:00 GMT.${eventId}.${body}`],
    ["timestamp-signed-in-milliseconds", `${timestamp}000000.${eventId}.${body}`],
    ["timestamp-signed-in-other-form", `1.7672256e+09.${eventId}.${body}`],
    ["event-id-signed-wrapped", `${timestamp}.evt_${eventId}.${body}`],
    ["body-quotes-removed", head + body.replaceAll('"', "")],
  ])("%s: %s", async (id, input) => {
    expect((await idsOf({ signature: mac(secret, input).toString("base64url") }))[0]).toBe(id);
  });

  it.each([
    ...["body", "payload", "data"].map((name) => ["eventId", name] as const),
    ...["body", "payload"].flatMap((name) => [["event_id", name] as const, ["id", name] as const]),
  ])("input-as-json: timestamp, %s and %s", async (id, name) => {
    for (const given of [body, JSON.parse(body) as object]) {
      const signed = JSON.stringify({ timestamp, [id]: eventId, [name]: given });
      expect((await idsOf({ signature: mac(secret, signed).toString("base64url") }))[0]).toBe(
        "input-as-json",
      );
    }
  });

  it("hash-instead-of-hmac: the body and the secret", async () => {
    for (const text of [body + secret, secret + body, `${body}.${secret}`, secret + head + body + secret])
      expect(await idsOf({ signature: hashOf(text).digest("base64url") })).toEqual(["hash-instead-of-hmac"]);
  });
});

const FILE = JSON.stringify(JSON.parse(body), null, 2);

describe("a body that is written otherwise is named:", () => {
  it.each<[string, string, string, string?]>([
    ["body-numbers", "one float among integers", body.replace(":0}", ":0.0}")],
    ["body-numbers", "an amount", body.replace("1.5", "1.50")],
    ["body-numbers", "PHP with serialize_precision 17", '{"p":19.989999999999998}', '{"p":19.99}'],
    ["body-ascii-escaped", "emoji alone", body.replace("🤨", "\\ud83e\\udd28")],
    ["body-ascii-escaped", "in capitals", body.replace("🤨", "\\uD83E\\uDD28")],
    ["body-line-breaks-removed", "curl -d @file", FILE, FILE.replaceAll("\n", "")],
    [
      "body-line-breaks-removed",
      "curl -d @file, CRLF",
      `${FILE}\n`.replaceAll("\n", "\r\n"),
      FILE.replaceAll("\n", ""),
    ],
    ...(
      [
        ["three blanks", '{\n   "a": [ 1, 2 ],\n   "b": { "c": 3 }\n}'],
        ["tabs", '{\n\t"a": [ 1, 2 ],\n\t"b": {\n\t\t"c": 3 }\n}'],
        ["a list", '[\n   { "a": 1 },\n   { "b": [ ] }\n]'],
      ] as const
    ).map(([how, text]): [string, string, string, string] => [
      "body-line-breaks-removed",
      `curl -d @file, by hand with ${how}`,
      text,
      text.replaceAll("\n", ""),
    ]),
    ["body-indented", "an editor on Windows", `${FILE}\n`.replaceAll("\n", "\r\n")],
    ["body-member-added", "the last one", body.replace(',"at":1.5', "")],
    ["body-member-moved", "the first one", `${body.slice(0, -1).replace('"number":7,', "")},"number":7}`],
    ["body-other-values", "NaN", body.replace("null", "NaN")],
    ["body-other-values", "NaN of Python", '{"score": NaN, "n": 1}', '{"score":null,"n":1}'],
    [
      "body-numbers-as-text",
      "numbers, sent as texts",
      '{"price":19.99,"n":-7}',
      '{"price":"19.99","n":"-7"}',
    ],
    ["body-empty-object", "of a body of one member", "{}", '{"a":1}'],
    ["body-one-member", "the text in an envelope", "a text", '{"id":1,"record":"a text"}'],
    ["body-sent-as-form", "in a field", body, `payload=${encodeURIComponent(body)}`],
    ["body-sent-as-form", "its fields", '{"type":"a","user":"u 1"}', "type=a&user=u+1"],
    [
      "body-stringified-twice",
      "by .NET, which escapes by numbers",
      '"{\\u0022a\\u0022:\\u0022x \\u0026 \\u00EB\\u0022}"',
      '{"a":"x & ë"}',
    ],
    ["body-html-escaped", "an Encoder of Go", '{"a":"\\u003cb\\u003e"}\n', '{"a":"<b>"}'],
    ["body-ascii-escaped", ".NET", '{"a":"it\\u0027s \\u002B \\u0022q\\u0022"}', '{"a":"it\'s + \\"q\\""}'],
  ])("%s: %s", async (id, _, signed, sent = body) => {
    expect(await idsOf({ signature: mac(secret, head + signed).toString("base64url"), sent })).toContain(id);
  });

  it("line breaks that cannot be put back are told as what is seen", async () => {
    const sent = '{    "event": "test",  "n": [1, 2]}';
    const headers = {
      "Webhook-Timestamp": "1767225600",
      "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
      "Webhook-Signature": mac(secret, "another").toString("base64url"),
    };
    const { mistakes } = await diagnose({ request: { headers, body: sent }, secret });
    expect(mistakes.find(({ id }) => id === "signature-unexplained")?.message).toContain("curl -d @file");
  });
});
