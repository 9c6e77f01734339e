// Keys that few people make of a secret, each made by node:crypto and Buffer alone, and named.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { body, eventId, head, idsOf, mac, secret, timestamp, url } from "./signed-wrongly.js";

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");
const hex = (text: string | Uint8Array) => Buffer.from(text).toString("hex");
const hashOf = (text: string | Uint8Array, hash = "sha256") => createHash(hash).update(text).digest();
const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16();

/** What is known of a service whose secret has a prefix, or is hex, and the bytes that are meant by it. */
const PREFIXED = `whsec_${base64("a key of 32 bytes, for this test")}`;
const INSIDE = PREFIXED.slice(6);
const HEX = hashOf("a secret in hex").toString("hex");
const STANDARD = "ab+/cd+/ef+/gh+/ij+/kl+/mn+/op+/qr+/st+/uvw";
const decoded = Buffer.from(secret, "base64url");

type Case = [id: string, key: string | Uint8Array, known?: string];

describe("a key with something next to the secret is named:", () => {
  it.each<Case>([
    ...["\n", "\r\n", "\r", "\n\n", "\\n"].map((end): Case => ["secret-newline", secret + end]),
    ["secret-newline", `\n${secret}`],
    ["secret-newline", `\n${secret}\n`],
    ["secret-newline", `${INSIDE}\n`, PREFIXED],
    ["secret-newline", `${INSIDE}\r\n`, PREFIXED],
    ["secret-newline", Buffer.concat([decoded, Buffer.from("\n")])],
    ...['"', "'", "`"].map((quote): Case => ["secret-quoted", quote + secret + quote]),
    ...["\n", "\r\n", " "].flatMap((end) =>
      ['"', "'"].map((quote): Case => ["secret-quoted", quote + secret + quote + end]),
    ),
    ...[`\\"${secret}\\"`, `\uFEFF"${secret}"`, `b'${secret}'`, `Some("${secret}")`].map(
      (key): Case => ["secret-quoted", key],
    ),
    ["secret-quoted", `"${INSIDE}"`, PREFIXED],
    ["secret-quoted", `'${INSIDE}'`, PREFIXED],
    ...[`${secret} `, ` ${secret}`, ` ${secret} `, ` ${secret}\n`, `${secret} \n`, `${secret}\t`].map(
      (key): Case => ["secret-space", key],
    ),
    ["secret-space", `${INSIDE} `, PREFIXED],
    ...[`${secret}\u200b`, `\u200b${secret}`, `${secret}\u00a0`, `\u00a0${secret}`].map(
      (key): Case => ["secret-invisible-character", key],
    ),
    ...["", "\n", "\r\n"].map((end): Case => ["secret-bom", `\uFEFF${secret}${end}`]),
    ...[";", ",", ".", ":", `\n${secret}`].map((end): Case => ["secret-twice", secret + end]),
    ["secret-prefix-added", `whsec_${secret}`],
    ["secret-prefix-added", `v1,whsec_${secret}`],
    ["secret-prefix-added", `whsec_${base64(secret)}`],
    ["secret-prefix-added", `Bearer ${secret}`],
    ["secret-prefix-added", `v1,${PREFIXED}`, PREFIXED],
  ])("%s: %j", async (id, key, known) => {
    const [first] = await idsOf({
      signature: mac(key, head + body).toString("base64url"),
      known: known ?? secret,
    });
    expect(first).toBe(id);
  });
});

describe("a secret that was given with something around it is named:", () => {
  it.each<readonly [id: string, given: string, key: string | Uint8Array]>([
    ["secret-trimmed", ` ${secret}\n`, secret],
    ["secret-unquoted", `"${secret}"`, secret],
    ["secret-unquoted", ` '${secret}' `, secret],
    ["secret-invisible-character", `\u200b${secret}`, secret],
    ["secret-prefix-removed", PREFIXED, INSIDE],
    ["secret-prefix-removed", `v1,${PREFIXED}`, PREFIXED],
    ["secret-prefix-removed-and-decoded", PREFIXED, Buffer.from(INSIDE, "base64")],
    ["secret-encoding-removed", hex(`${secret}\n`), secret],
    ["secret-percent-encoded", "a%2Bb%2Fc%3D".repeat(4), "a+b/c=".repeat(4)],
    ["secret-assignment", `SIGNING_SECRET='${secret}'`, secret],
    ["secret-in-json", `{"id":"1","key":"${secret}","n":1}`, secret],
    ["secret-in-json", ` ["a","${secret}"]`, secret],
  ])("%s: %j", async (id, given, key) => {
    const [first] = await idsOf({ signature: mac(key, head + body).toString("base64url"), known: given });
    expect(first).toBe(id);
  });
});

describe("a secret in another encoding is named:", () => {
  it.each<Case>([
    ["secret-base64url-decoded", decoded],
    ["secret-base64-decoded", Buffer.from(STANDARD, "base64"), STANDARD],
    // Python's b64decode drops what the standard alphabet does not have.
    ["secret-base64-decoded", Buffer.from(secret.replace(/[-_]/g, ""), "base64")],
    ["secret-hex-decoded", Buffer.from(HEX, "hex"), HEX],
    ["secret-hex-decoded", Buffer.from(HEX, "hex"), `whsec_${HEX}`],
    ["secret-decoded-to-text", Buffer.from(decoded.toString("latin1"))],
    ["secret-decoded-to-text", Buffer.from(decoded.toString("utf8"))],
    ["secret-other-alphabet", secret.replaceAll("-", "+").replaceAll("_", "/")],
    ["secret-other-alphabet", STANDARD.replaceAll("+", "-").replaceAll("/", "_"), STANDARD],
    ["secret-other-alphabet", base64(decoded)],
    ["secret-padding", `${secret}=`],
    ["secret-padding", `${secret}==`],
    ["secret-padding", secret, `${secret}==`],
    ["secret-padding", `${INSIDE.replace(/=+$/, "")}`, PREFIXED],
    ...[base64(secret), hex(secret), hex(decoded), base64(`${secret}\n`), `${base64(secret)}\n`].map(
      (key): Case => ["secret-encoded", key],
    ),
    ...[
      `${base64(`${secret}\n`)}\n`,
      Buffer.from(secret).toString("base64url"),
      hex(`${secret}\n`),
      hex(secret).toUpperCase(),
      hex(decoded).toUpperCase(),
      `${hex(decoded)}\n`,
    ].map((key): Case => ["secret-encoded", key]),
    ["secret-encoded", base64(INSIDE), PREFIXED],
    ["secret-encoded", hex(INSIDE), PREFIXED],
    ["secret-encoded", base64(Buffer.from(HEX, "hex")), HEX],
    ["secret-encoded", Buffer.from(HEX, "hex").toString("base64url"), HEX],
    ["secret-utf16", Buffer.from(secret, "utf16le")],
    ["secret-utf16", bigEndian(secret)],
    ["secret-utf16", Buffer.from(`\uFEFF${secret}`, "utf16le")],
    ["secret-utf16", bigEndian(`\uFEFF${secret}`)],
    ["secret-utf16", Buffer.from(`\uFEFF${secret}\r\n`, "utf16le")],
    ["secret-utf16", Buffer.from(Buffer.from(`\uFEFF${secret}\r\n`, "utf16le").toString("utf8"))],
    ["secret-case", secret.toLowerCase()],
    ["secret-case", secret.toUpperCase()],
    ["secret-hashed", hashOf(secret)],
    ["secret-hashed", hashOf(secret).toString("base64url")],
    ["secret-hashed", hashOf(secret).toString("base64")],
    ["secret-hashed", hashOf(decoded)],
    ...["md5", "sha1", "sha512"].flatMap((hash): Case[] => [
      ["secret-hashed", hashOf(secret, hash)],
      ["secret-hashed", hashOf(secret, hash).toString("hex")],
    ]),
    ["secret-fingerprint", hashOf(secret).toString("hex")],
    ["secret-fingerprint", `sha256:${hashOf(secret).toString("hex").slice(0, 8)}`],
    ["secret-fingerprint", hashOf(secret).toString("hex").slice(0, 16)],
  ])("%s: %j", async (id, key, known) => {
    const ids = await idsOf({
      signature: mac(key, head + body).toString("base64url"),
      known: known ?? secret,
    });
    expect(ids[0]).toBe(id);
  });
});

describe("something else than the secret is named:", () => {
  const VARIABLES = ["WEBHOOK_SECRET", "HMAC_SECRET"];
  it.each<Case>([
    ...["", "undefined", "null", "None", "nil", "NaN", "true", "false", "{}", "[]", "0"].map(
      (key): Case => ["secret-missing", key],
    ),
    ["secret-missing", new Uint8Array(32)],
    ...["Object", "Promise", "ArrayBuffer", "CryptoKey", "KeyObject"].map(
      (kind): Case => ["secret-as-object", `[object ${kind}]`],
    ),
    ...["lst_1", eventId, timestamp, url, "tenant.example.com", body].map(
      (key): Case => ["secret-is-other-value", key],
    ),
    ...["secret", "your_secret", "xxx", "********", "TODO", "<secret>"].map(
      (key): Case => ["secret-placeholder", key],
    ),
    ...["secret", "WEBHOOK_SECRET", "SecretString"].flatMap((name): Case[] => [
      ["secret-in-json", `{"${name}":"${secret}"}`],
      ["secret-in-json", `{"${name}": "${secret}"}`],
    ]),
    ...[`{\n  "secret": "${secret}"\n}`, `["${secret}"]`, `{"method":"hmac","secret":"${secret}"}`].map(
      (key): Case => ["secret-in-json", key],
    ),
    ["secret-in-json", `{"secret":"${secret}","id":"lst_1"}`],
    ...VARIABLES.flatMap((name) =>
      [`${name}=${secret}`, `${name}="${secret}"`, `export ${name}=${secret}\n`, `${name}: ${secret}`].map(
        (key): Case => ["secret-assignment", key],
      ),
    ),
    ...VARIABLES.flatMap((name) =>
      [`\${${name}}`, `$${name}`, name, `%${name}%`, `{{${name}}}`, `\${{ secrets.${name} }}`].map(
        (key): Case => ["secret-not-expanded", key],
      ),
    ),
    ...["process.env.HMAC_SECRET", "os.environ['HMAC_SECRET']", "ENV['HMAC_SECRET']"].map(
      (key): Case => ["secret-not-expanded", key],
    ),
    ...[16, 20, 24, 32, 40].map((size): Case => ["secret-cut", secret.slice(0, size)]),
    ["secret-cut", secret.slice(1)],
    ["secret-cut", secret.slice(0, -1)],
  ])("%s: %j", async (id, key, known) => {
    const [first] = await idsOf({
      signature: mac(key, head + body).toString("base64url"),
      known: known ?? secret,
    });
    expect(first).toBe(id);
  });
});
