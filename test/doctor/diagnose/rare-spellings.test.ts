// Signatures, strings and numbers in spellings that few programs write, each made by hand and named.
import { describe, expect, it } from "vitest";
import { head, idsOf, mac, secret } from "./signed-wrongly.js";

const right = mac(secret, `${head}{}`);
const [b64u, b64, hex] = [right.toString("base64url"), right.toString("base64"), right.toString("hex")];
const other = mac("another secret", `${head}{}`).toString("base64url");
const named = (signature: string) => idsOf({ signature, sent: "{}" });

describe("a right signature with something around it is that alone:", () => {
  it.each<readonly [id: string, signature: string]>([
    ...["sha256=", "SHA256:", "v1=", "t=1,v1=", "hmac-sha256-", "sha256-"].map(
      (name) => ["signature-prefixed", name + b64u] as const,
    ),
    ["signature-prefixed", `keyId=a, signature=${b64u}`],
    ["signature-prefixed", `v1 ${b64u}`],
    ...[`"${b64u}"`, `'${b64u}'`, `\`${b64u}\``, `<${b64u}>`, `(${b64u})`, `\\"${b64u}\\"`].map(
      (signature) => ["signature-quoted", signature] as const,
    ),
    // A text that was broken into two or three lines, and put together with spaces.
    ["signature-quoted", `${b64u.slice(0, 20)} ${b64u.slice(20)}`],
    ["signature-quoted", `${b64u.slice(0, 15)} ${b64u.slice(15, 30)} ${b64u.slice(30)}`],
    ["signature-several", `${other} ${b64u}`],
    ["signature-several", `${b64u},${other}`],
  ])("%s: %s", async (id, signature) => {
    expect(await named(signature)).toEqual([id]);
  });

  it("several signatures with names are both", async () => {
    expect(await named(`v1=${other},v0=${b64u}`)).toEqual(["signature-several", "signature-prefixed"]);
    expect(await named(`v1=:"${b64u}":`)).toEqual(["signature-prefixed"]);
  });

  it("what has something around it, and another spelling, is both", async () => {
    expect(await named(`"${b64}"`)).toEqual(["signature-quoted", "signature-padded"]);
    expect(await named(`sha256=${hex}`)).toEqual(["signature-prefixed", "signature-hex"]);
    expect(await named(`signature="${b64u}"`)).toEqual(["signature-quoted", "signature-prefixed"]);
  });

  it("a text of four pieces is none", async () => {
    const pieces = b64u.match(/.{1,11}/g) ?? [];
    expect(pieces).toHaveLength(4);
    expect((await named(pieces.join(" "))).some((id) => id === "signature-quoted")).toBe(false);
  });
});

describe("strings that a printer escapes in its own way are named:", () => {
  const signedOver = async (signed: string, sent: string) =>
    (await idsOf({ signature: mac(secret, head + signed).toString("base64url"), sent }))[0];
  const SENT = `{"a":"<b> & 'c' = \\"d\\" + é/ </s>","e":"😀\\b\\f\\n"}`;
  const capital = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const small = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const ascii = (text: string) => text.replace(/[\u007f-\uffff]/g, small);
  const php = (text: string) => ascii(text).replaceAll("/", "\\/");
  it.each<readonly [id: string, who: string, signed: string]>([
    ["body-ascii-escaped", "Python", ascii(SENT)],
    ["body-ascii-escaped", "capitals", SENT.replace(/[\u007f-\uffff]/g, capital)],
    [
      "body-ascii-escaped",
      ".NET",
      SENT.replaceAll('\\"', "\\u0022").replace(/[<>&'+`\u007f-\uffff]/g, capital),
    ],
    ["body-ascii-escaped", "beyond 16 bits", SENT.replace(/[\ud800-\udfff]/g, small)],
    ["body-ascii-escaped", "beyond 16 bits in capitals", SENT.replace(/[\ud800-\udfff]/g, capital)],
    ["body-ascii-escaped", "controls by number", SENT.replace("\\b\\f\\n", "\\u0008\\u000c\\u000a")],
    ["body-slashes-escaped", "PHP", php(SENT)],
    ["body-slashes-escaped", "PHP, with its characters", SENT.replaceAll("/", "\\/")],
    ["body-html-escaped", "Go", SENT.replace(/[<>&]/g, small)],
    [
      "body-html-escaped",
      "Go, with \\b and \\f by number",
      SENT.replace("\\b\\f", "\\u0008\\u000c").replace(/[<>&]/g, small),
    ],
    [
      "body-html-escaped",
      ".NET, where ' and + are allowed",
      SENT.replace("<b>", "\\u003Cb\\u003E").replace("&", "\\u0026").replace("</s>", "\\u003C/s\\u003E"),
    ],
    ["body-html-escaped", "org.json", SENT.replace("</", "<\\/")],
    ["body-quotes-escaped", "Gson", SENT.replace(/[<>&=']/g, small)],
    ["body-quotes-escaped", "PowerShell 5", SENT.replace(/[<>&']/g, small)],
    ["body-quotes-escaped", "JavaScriptSerializer", SENT.replace(/[<>']/g, small)],
    ["body-quotes-escaped", "JSON_HEX_TAG", ascii(SENT).replace(/[<>]/g, capital)],
    ["body-quotes-escaped", "JSON_HEX_TAG and slashes", php(SENT).replace(/[<>]/g, capital)],
    ["body-quotes-escaped", "JSON_HEX_APOS", php(SENT).replace(/'/g, capital)],
    [
      "body-quotes-escaped",
      "all of JSON_HEX_*",
      php(SENT)
        .replaceAll('\\"', "\\u0022")
        .replace(/[<>&']/g, capital),
    ],
    ["body-quotes-escaped", "JSON_HEX_QUOT alone", SENT.replaceAll('\\"', "\\u0022")],
    ["body-quotes-escaped", "+ and '", SENT.replace(/[+']/g, capital)],
    ["body-quotes-escaped", "' alone", SENT.replace(/'/g, small)],
  ])("%s: %s", async (id, _, signed) => {
    expect(await signedOver(signed, SENT)).toBe(id);
  });

  it.each<readonly [who: string, sent: string, signed: string]>([
    // php > echo json_encode(json_decode('[1e-5, 1e17, 123456.0, 0.0, 0.0001, 1.5e-7]'));
    ["PHP", "[1e-5,1e17,123456.0,0.0,0.0001,1.5e-7]", "[1.0e-5,1.0e+17,123456,0,0.0001,1.5e-7]"],
    ["JavaScript", "[1e5,3.0,12345678901234567890]", "[100000,3,12345678901234567000]"],
    ["a double", "[3,1.5]", "[3.0,1.5]"],
    ["an amount", "[1.5,2.25]", "[1.50,2.25]"],
  ])("body-numbers: as %s writes them", async (_, sent, signed) => {
    expect(await signedOver(signed, sent)).toBe("body-numbers");
  });
});
