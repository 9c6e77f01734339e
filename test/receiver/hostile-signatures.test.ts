import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  expectAccepted,
  expectRefusal,
  hmac,
  hmacListener,
  hmacParts,
  NOW,
  OTHER_SECRET,
  type Parts,
  replaced,
  SECRET,
  startTarget,
  type Target,
} from "../kit/hostile-target.js";
import { authorized, jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";

const key = testKey("EdDSA");
let target: Target;

beforeAll(async () => {
  target = await startTarget([
    hmacListener("lst_hmac"),
    hmacListener("lst_other", { secret: OTHER_SECRET }),
    jwtListener("lst_jwt", [key]),
  ]);
});
afterAll(() => target.stop());

/** A correctly signed request with its signature rewritten. */
function resigned(rewrite: (signature: string, parts: Parts) => string): Parts {
  const parts = hmacParts("lst_hmac");
  const [, signature = ""] = parts.headers.find(([name]) => name === "Webhook-Signature") ?? [];
  return { ...parts, headers: replaced(parts.headers, "Webhook-Signature", rewrite(signature, parts)) };
}

/** The last character of a 43-character signature with one of its two unused bits set. */
function trailingBit(signature: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return signature.slice(0, -1) + alphabet.charAt(alphabet.indexOf(signature.slice(-1)) | 1);
}

describe("other spellings of a right signature", () => {
  it.each<[string, (signature: string, parts: Parts) => string, string]>([
    ["padded", (signature) => `${signature}=`, "SIGNATURE_MALFORMED"],
    [
      "spaced inside",
      (signature) => `${signature.slice(0, 20)} ${signature.slice(20)}`,
      "SIGNATURE_MALFORMED",
    ],
    ["a no-break space after it", (signature) => `${signature}\u00a0`, "SIGNATURE_MALFORMED"],
    ["another trailing bit", trailingBit, "SIGNATURE_MISMATCH"],
    ["+ and /", () => `${"+/".repeat(21)}A`, "SIGNATURE_MALFORMED"],
    ["hex", (signature) => Buffer.from(signature, "base64url").toString("hex"), "SIGNATURE_MALFORMED"],
    ["42 characters", (signature) => signature.slice(1), "SIGNATURE_MALFORMED"],
    ["44 characters", (signature) => `${signature}A`, "SIGNATURE_MALFORMED"],
    ["empty", () => "", "SIGNATURE_MALFORMED"],
    ["a scheme before it", (signature) => `v1,${signature}`, "SIGNATURE_MALFORMED"],
    ["the other letter case", (signature) => swapCase(signature), "SIGNATURE_MISMATCH"],
    ["8 kB", () => "A".repeat(8_192), "SIGNATURE_MALFORMED"],
  ])("%s is 401", async (_name, rewrite, code) => {
    await expectRefusal(target, resigned(rewrite), 401, code);
  });

  it("while white space around the header's value belongs to HTTP", async () => {
    await expectAccepted(
      target,
      resigned((signature) => `\t ${signature} `),
    );
  });
});

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

describe("another body than the one that was signed", () => {
  it("one byte changed is 401", async () => {
    const parts = hmacParts("lst_hmac", { body: '{"amount":100}' });
    await expectRefusal(target, { ...parts, body: Buffer.from('{"amount":900}') }, 401, "SIGNATURE_MISMATCH");
  });

  it.each([
    ["re-serialised with spaces", '{ "a": 1, "b": [2] }'],
    ["members in another order", '{"b":[2],"a":1}'],
    ["a newline at the end", '{"a":1,"b":[2]}\n'],
    ["a number written otherwise", '{"a":1.0,"b":[2]}'],
    ["an escape for a letter", '{"\\u0061":1,"b":[2]}'],
  ])("%s is 401", async (_name, sent) => {
    const parts = hmacParts("lst_hmac", { body: '{"a":1,"b":[2]}' });
    const headers = replaced(parts.headers, "Content-Length", String(sent.length));
    await expectRefusal(target, { ...parts, headers, body: Buffer.from(sent) }, 401, "SIGNATURE_MISMATCH");
  });

  it("cut short by Content-Length is 401", async () => {
    const parts = hmacParts("lst_hmac", { body: "[1][2]" });
    const headers = replaced(parts.headers, "Content-Length", "3");
    await expectRefusal(target, { ...parts, headers, body: Buffer.from("[1]") }, 401, "SIGNATURE_MISMATCH");
  });
});

describe("other signing inputs and keys", () => {
  it.each<[string, (parts: Parts) => string]>([
    ["the secret base64url-decoded", (p) => hmac(Buffer.from(SECRET, "base64url"), head(p), p.body)],
    ["id before timestamp", (p) => hmac(SECRET, `${p.eventId}.${NOW}.`, p.body)],
    ["no id", (p) => hmac(SECRET, `${NOW}.`, p.body)],
    ["no timestamp", (p) => hmac(SECRET, `${p.eventId}.`, p.body)],
    ["the body alone", (p) => hmac(SECRET, "", p.body)],
    ["an empty body", (p) => hmac(SECRET, head(p), Buffer.alloc(0))],
    ["a newline after the secret", (p) => hmac(`${SECRET}\n`, head(p), p.body)],
    ["no separators", (p) => hmac(SECRET, `${NOW}${p.eventId}`, p.body)],
    [
      "SHA-512 cut to 32 bytes",
      (p) =>
        createHmac("sha512", SECRET)
          .update(head(p))
          .update(p.body)
          .digest()
          .subarray(0, 32)
          .toString("base64url"),
    ],
  ])("%s is 401", async (_name, sign) => {
    await expectRefusal(
      target,
      resigned((_signature, parts) => sign(parts)),
      401,
      "SIGNATURE_MISMATCH",
    );
  });

  it("standard base64 with padding is 401", async () => {
    const sign = (signature: string) => Buffer.from(signature, "base64url").toString("base64");
    await expectRefusal(target, resigned(sign), 401, "SIGNATURE_MALFORMED");
  });

  it("a dot moved between timestamp, id and body is 401", async () => {
    // The input is joined text: the same text split elsewhere must not be another valid request.
    const parts = hmacParts("lst_hmac", { body: "1" });
    const headers = replaced(parts.headers, "Webhook-Timestamp", String(NOW - 1));
    await expectRefusal(target, { ...parts, headers }, 401, "SIGNATURE_MISMATCH");
  });

  function head(parts: Parts): string {
    return `${NOW}.${parts.eventId}.`;
  }
});

describe("the credential of somebody else", () => {
  it("another listener's secret is 401, there and back", async () => {
    await expectRefusal(target, hmacParts("lst_hmac", { secret: OTHER_SECRET }), 401, "SIGNATURE_MISMATCH");
    await expectRefusal(target, hmacParts("lst_other"), 401, "SIGNATURE_MISMATCH");
  });

  it("a token at an HMAC listener is 401", async () => {
    await expectRefusal(target, jwtParts("lst_hmac", key), 401, "SIGNATURE_MISSING");
  });

  it("a token in Webhook-Signature is 401", async () => {
    const parts = jwtParts("lst_hmac", key);
    const [, token = ""] = parts.headers.find(([name]) => name === "Authorization") ?? [];
    await expectRefusal(
      target,
      { ...parts, headers: [...parts.headers, ["Webhook-Signature", token]] },
      401,
      "SIGNATURE_MALFORMED",
    );
  });

  it("a signature at a JWT listener is 401", async () => {
    await expectRefusal(target, hmacParts("lst_jwt"), 401, "TOKEN_MISSING");
    const parts = hmacParts("lst_jwt");
    const [, signature = ""] = parts.headers.find(([name]) => name === "Webhook-Signature") ?? [];
    await expectRefusal(target, authorized(parts, `Bearer ${signature}`), 401, "TOKEN_MALFORMED");
  });
});

describe("a processed id with a bad signature", () => {
  it("is 401 and not 409, so that strangers learn no ids", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, parts);
    await expectRefusal(
      target,
      hmacParts("lst_hmac", { eventId: parts.eventId, secret: OTHER_SECRET }),
      401,
      "SIGNATURE_MISMATCH",
    );
    await expectRefusal(target, parts, 409, "EVENT_DUPLICATE");
  });
});
