// Bodies that few people sign in place of the one that they send, made with Buffer and JSON alone, and named.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { body, head, idsOf, mac, secret } from "./signed-wrongly.js";

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");
const hashOf = (text: string, hash = "sha256") => createHash(hash).update(text);
const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16();
const php = (text: string) =>
  JSON.stringify(text)
    .replaceAll("/", "\\/")
    .replace(/[^ -~]/g, escaped);
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

const BYTES = [...Buffer.from(body)];
const SIGNED_BYTES = [...new Int8Array(Buffer.from(body))];
const LATIN = '{"who":"ZOË & Co","say":"it\'s <b>"}';

async function idsOfBody(signed: string | Uint8Array, sent: string | Uint8Array = body): Promise<string[]> {
  const input = Buffer.concat([Buffer.from(head), Buffer.from(signed)]);
  return idsOf({ signature: mac(secret, input).toString("base64url"), sent });
}

type Case = [id: string, signed: string | Uint8Array, sent?: string | Uint8Array];
const all = (id: string, ...signed: readonly (string | Uint8Array)[]): Case[] =>
  signed.map((one): Case => [id, one]);

describe("bytes that were changed between signing and sending are named first:", () => {
  it.each<Case>([
    ...all("body-newline-added", ...["\n", "\r\n", "\0"].map((end) => body + end), `\n${body}`),
    ["body-newline-removed", body, `${body}\r\n`],
    ["body-newline-removed", '{"a" :1}', '  {"a" :1}\n\n'],
    ["body-line-endings", '{"a":\r\n1}', '{"a":\n1}'],
    ["body-line-endings", '{"a":\n1}', '{"a":\r\n1}'],
    ["body-bom", `\uFEFF${body}`],
    ["body-bom", body, `\uFEFF${body}`],
    ...all(
      "body-utf16",
      Buffer.from(body, "utf16le"),
      bigEndian(body),
      Buffer.from(`\uFEFF${body}`, "utf16le"),
    ),
    ["body-latin1", Buffer.from(LATIN, "latin1"), LATIN],
    ["body-latin1", Buffer.from(body, "latin1")],
    ["body-utf8-twice", Buffer.from(body).toString("latin1")],
    ["body-normalised", body.normalize("NFD")],
    ["body-normalised", body, body.normalize("NFD")],
    ...all("body-stringified-twice", JSON.stringify(body), JSON.stringify(JSON.stringify(body)), php(body)),
    ["body-python-bytes", `b'{"a":"\\xc3\\xab\\\\n"}'`, '{"a":"ë\\n"}'],
    ...all(
      "body-hashed",
      ...[hashOf(body).digest("hex"), hashOf(body).digest("base64url"), hashOf(body).digest("base64")],
      ...["md5", "sha1", "sha512"].map((hash) => hashOf(body, hash).digest("hex")),
      ...[
        hashOf(body, "md5").digest("base64"),
        hashOf(body).digest("hex").toUpperCase(),
        hashOf(body).digest(),
      ],
    ),
    ...all("body-base64", base64(body), `${base64(body)}\n`, Buffer.from(body).toString("base64url")),
    ...all("body-in-hex", Buffer.from(body).toString("hex"), Buffer.from(body).toString("hex").toUpperCase()),
    ...all(
      "body-url-encoded",
      encodeURIComponent(body),
      new URLSearchParams({ "": body }).toString().slice(1),
      encodeURI(body),
    ),
    ...all(
      "body-in-form",
      ...["payload", "data"].map((name) => new URLSearchParams({ [name]: body }).toString()),
      new URLSearchParams({ [body]: "" }).toString(),
    ),
    ...all(
      "body-in-envelope",
      ...["data", "payload", "body", "event"].map((name) => `{"${name}":${body}}`),
      ...["data", "payload", "body"].map((name) => JSON.stringify({ [name]: body })),
      `[${body}]`,
    ),
    ["body-as-buffer", JSON.stringify(Buffer.from(body))],
    ...all(
      "body-byte-list",
      ...[BYTES.join(","), `[${BYTES.join(",")}]`, `[${BYTES.join(", ")}]`, `[${SIGNED_BYTES.join(", ")}]`],
      ...[`[${BYTES.join(" ")}]`, JSON.stringify(new Uint8Array(BYTES))],
    ),
    ...["&#039;", "&#x27;", "&#39;", "'"].map(
      (apostrophe): Case => [
        "body-html-entities",
        LATIN.replaceAll("&", "&amp;")
          .replaceAll("<", "&lt;")
          .replaceAll(">", "&gt;")
          .replaceAll('"', "&quot;")
          .replaceAll("'", apostrophe),
        LATIN,
      ],
    ),
    [
      "body-html-entities",
      LATIN.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
      LATIN,
    ],
    ["body-backslashes", LATIN.replace(/["']/g, "\\$&"), LATIN],
    ["body-backslashes", LATIN.replaceAll('"', '\\"'), LATIN],
    ["body-backslashes", body.replace(/["/]/g, "\\$&")],
    ["body-backslashes", '{"a":"b"c"}', '{"a":"b\\"c"}'],
    ["body-ascii", body.replace("ë", "?").replace("🤨", "??")],
    ["body-ascii", body.replace("ë", "?").replace("🤨", "?")],
    ["body-ascii", body.replace("ë", "").replace("🤨", "")],
    ["body-ascii", Uint8Array.from(BYTES, (byte) => byte & 127)],
    ["body-ascii", Uint8Array.from(BYTES, (byte) => (byte > 127 ? 63 : byte))],
    ["body-ascii", BYTES.map((byte) => (byte > 127 ? "\uFFFD" : String.fromCharCode(byte))).join("")],
    ...all(
      "body-quotes-removed",
      body.replaceAll('"', ""),
      body.replaceAll('"', "'"),
      `'${body}'`,
      `"${body}"`,
    ),
    ["body-white-space-removed", '{"a":"bc"}', '{"a":"b c"}'],
    ["body-case", LATIN.toLowerCase(), LATIN],
    ["body-case", LATIN.toUpperCase(), LATIN],
  ])("%s: %s", async (id, signed, sent) => {
    expect((await idsOfBody(signed, sent))[0]).toBe(id);
  });
});

describe("what was done to a body after it was signed is named:", () => {
  it.each<Case>([
    ["body-sent-stringified-twice", body, JSON.stringify(body)],
    ["body-sent-stringified-twice", body, JSON.stringify(JSON.stringify(body))],
    ["body-sent-in-base64", body, base64(body)],
    ["body-sent-in-base64", body, `"${base64(body)}"`],
    ["body-sent-as-latin1", LATIN, Buffer.from(LATIN, "latin1")],
    ["body-sent-as-form", LATIN, new URLSearchParams({ a: "1", payload: LATIN }).toString()],
    ["body-sent-as-form", '{"a":"1","b":"x y"}', "a=1&b=x+y"],
    [
      "body-sent-with-entities",
      '{"a":"<b> & \'c\' / \\"d\\""}',
      '{"a":"&lt;b&gt; &amp; &#39;c&#039; &#x2F; \\&#34;d\\&quot;"}',
    ],
    ["body-sent-with-entities", '{"a":"x &lt; & y"}', '{"a":"x &lt; &amp; y"}'],
    [
      "body-sent-without-quotes",
      '{"a":"b c","n":-1.5,"t":[true,null,"x"]}',
      "{a:b c,n:-1.5,t:[true,null,x]}",
    ],
    ["body-not-utf8", '{"a":"\uFFFD"}', Buffer.from('{"a":"\xff"}', "latin1")],
  ])("%s: %s", async (id, signed, sent) => {
    expect(await idsOfBody(signed, sent)).toContain(id);
  });
});

describe("another text than JSON, or a part of the body, is named first:", () => {
  const SENT = '{"type":"a b","n":1,"ok":true,"no":null,"data":{"x":[1,"é"]},"tags":["t"]}';
  it.each<Case>([
    ...all("body-undefined", "undefined", "null", "None"),
    ...all("body-as-value", "[object Promise]", "[object ReadableStream]", "System.Byte[]"),
    ["body-as-object", "[object Object]"],
    ["body-empty", ""],
    ...all("body-array-as-text", "Array", "array", "ARRAY"),
    ...all("body-empty-object", "{}", "[]", '""'),
    [
      "body-python-repr",
      "{'type': 'a b', 'n': 1, 'ok': True, 'no': None, 'data': {'x': [1, 'é']}, 'tags': ['t']}",
      SENT,
    ],
    [
      "body-ruby-inspect",
      '{"type"=>"a b", "n"=>1, "ok"=>true, "no"=>nil, "data"=>{"x"=>[1, "é"]}, "tags"=>["t"]}',
      SENT,
    ],
    [
      "body-ruby-inspect",
      '{"type" => "a b", "n" => 1, "ok" => true, "no" => nil, "data" => {"x" => [1, "é"]}, "tags" => ["t"]}',
      SENT,
    ],
    ["body-map-as-text", "{type=a b, n=1, ok=true, no=null, data={x=[1, é]}, tags=[t]}", SENT],
    ["body-map-as-text", "map[data:map[x:[1 é]] n:1 no:<nil> ok:true tags:[t] type:a b]", SENT],
    [
      "body-map-as-text",
      '%{"type" => "a b", "n" => 1, "ok" => true, "no" => nil, "data" => %{"x" => [1, "é"]}, "tags" => ["t"]}',
      SENT,
    ],
    ["body-one-member", '{"x":[1,"é"]}', SENT],
    ["body-one-member", '{"x": [1, "\\u00e9"]}', SENT],
    ["body-one-member", '{"x":[1,"\\u00e9"]}', SENT],
    ["body-one-member", '["t"]', SENT],
    ["body-one-member", "hello", '{"message":"hello","payload":{"a":1}}'],
    ["body-one-member", '{"a": 1}', '{"message":"hello","payload":{"a":1}}'],
    ["body-one-member", '{"b":1}', '[{"a":1},{"b":1}]'],
    ["body-php-serialised", 'a:2:{s:1:"a";i:1;s:1:"b";s:2:"é";}', '{"a":1,"b":"é"}'],
    ["body-form-encoded", "type=a+b&tags%5B0%5D=t", '{"type":"a b","tags":["t"]}'],
    ["body-form-encoded", "tags%5B%5D=t&type=a+b", '{"type":"a b","tags":["t"]}'],
    [
      "body-with-variables",
      '{"type":"user.offboarded","id":"{{id}}"}',
      '{"type":"user.offboarded","id":"u_1"}',
    ],
  ])("%s: %s", async (id, signed, sent) => {
    expect((await idsOfBody(signed, sent))[0]).toBe(id);
  });
});

describe("members that were changed, moved or written otherwise are named:", () => {
  const SENT =
    '{"eventType":"a","n":3,"amount":1.5,"empty":{},"none":null,"name":" b c ","at":"2026-01-01T00:00:00Z"}';
  const value = JSON.parse(SENT) as Record<string, unknown>;
  const { none: _, ...withoutNull } = value;
  const renamed = (rename: (name: string) => string) =>
    JSON.stringify(Object.fromEntries(Object.entries(value).map(([name, one]) => [rename(name), one])));
  it.each<Case>([
    ["body-nulls-left-out", JSON.stringify(withoutNull)],
    ["body-member-added", JSON.stringify({ ...value, n: undefined })],
    ["body-member-moved", JSON.stringify({ ...withoutNull, none: null })],
    ["body-member-moved", JSON.stringify(Object.fromEntries(Object.entries(value).reverse()))],
    ["body-other-values", SENT.replace("null", "NaN")],
    ["body-other-values", SENT.replace("null", "Infinity")],
    ["body-other-values", SENT.replace("null", '""')],
    ["body-keys-renamed", renamed((name) => (name === "eventType" ? "event_type" : name))],
    ["body-keys-renamed", renamed((name) => name.charAt(0).toUpperCase() + name.slice(1))],
    ["body-keys-renamed", renamed((name) => name.toUpperCase())],
    ["body-keys-renamed", renamed((name) => name.toLowerCase())],
    ["body-strings-trimmed", SENT.replace(" b c ", "b c")],
    ["body-numbers-as-text", SENT.replace(":3,", ':"3",').replace(":1.5,", ':"1.5",')],
    ["body-dates", SENT.replace("00Z", "00.000Z")],
    ["body-dates", SENT.replace("00Z", "00+00:00")],
    ["body-php-arrays", SENT.replace("{}", "[]")],
    ["body-keys-sorted", JSON.stringify(value, Object.keys(value).sort())],
    ["body-numbers", SENT.replace(":3,", ":3.0,")],
    ["body-numbers", SENT.replace("1.5", "1.50")],
    [
      "body-from-jsonb",
      '{"n": 3, "at": "2026-01-01T00:00:00Z", "name": " b c ", "none": null, "empty": {}, "amount": 1.5, "eventType": "a"}',
    ],
  ])("%s: %s", async (id, signed) => {
    expect((await idsOfBody(signed, SENT))[0]).toBe(id);
  });
});
