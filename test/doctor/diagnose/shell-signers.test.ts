import { execFileSync } from "node:child_process";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { describeWith, itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";

const hasOpenssl = hasTool("openssl", "version");
const hasJq = hasTool("jq", "--version");
const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const timestamp = "1767225600";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const clock = fixedClock(1_767_225_600_000);

/** The HMAC that openssl makes, as Webhook-Signature. */
function signature(input: string | Buffer, hash = "sha256", key = secret): string {
  return execFileSync("openssl", ["dgst", `-${hash}`, "-hmac", key, "-binary"], { input }).toString(
    "base64url",
  );
}

async function idsFor(made: string, body: string | Uint8Array): Promise<string[]> {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    "Webhook-Signature": made,
  };
  const { mistakes } = await diagnose({ request: { headers, body }, secret, clock });
  return mistakes.map(({ id }) => id);
}

const head = `${timestamp}.${eventId}.`;

describeWith("openssl and jq", hasOpenssl && hasJq)("jq writes the body that openssl signs:", () => {
  const sent = '{"zeta":"Zo\\u00eb","alpha":{"b":[1,2],"a":"a/b"}}';

  it.each<[how: string, flags: string[], expected: string[]]>([
    ["compact, with a line break after it", ["-c", "."], ["body-compact", "body-newline-added"]],
    ["compact", ["-cj", "."], ["body-compact"]],
    ["over several lines", ["-j", "."], ["body-indented"]],
    ["over several lines, with a line break after it", ["."], ["body-indented", "body-newline-added"]],
    ["with tabs", ["-j", "--tab", "."], ["body-indented"]],
    ["with sorted keys", ["-cjS", "."], ["body-keys-sorted"]],
  ])("%s", async (_, flags, expected) => {
    const written = execFileSync("jq", flags, { input: sent });
    expect(await idsFor(signature(Buffer.concat([Buffer.from(head), written])), sent)).toEqual(expected);
  });
});

describeWith("openssl", hasOpenssl)("openssl signs", () => {
  const body = '{"type":"user.offboarded","userId":"u_123"}';

  it.each<[what: string, made: () => string, expected: string[]]>([
    ["what it should", () => signature(head + body), []],
    ["with SHA-1", () => signature(head + body, "sha1"), ["signature-sha1"]],
    ["with SHA-512", () => signature(head + body, "sha512"), ["signature-sha512"]],
    [
      "and hex is sent",
      () => Buffer.from(signature(head + body), "base64url").toString("hex"),
      ["signature-hex"],
    ],
    ["what echo prints", () => signature(`${head}${body}\n`), ["body-newline-added"]],
    ["with a key that echo wrote", () => signature(head + body, "sha256", `${secret}\n`), ["secret-newline"]],
    [
      "with two mistakes at once, in hex",
      () =>
        Buffer.from(
          signature(`${eventId}.${timestamp}.${body}`, "sha256", `${secret}\n`),
          "base64url",
        ).toString("hex"),
      ["secret-newline", "input-id-first", "signature-hex"],
    ],
  ])("%s", async (_, made, expected) => {
    expect(await idsFor(made(), body)).toEqual(expected);
  });

  it.each<[what: string, made: (body: string) => string, expected: string]>([
    ["the right input under SHA-1", (body) => signature(head + body, "sha1"), "signature-sha1"],
    [
      "with the secret in capitals",
      (body) => signature(head + body, "sha256", secret.toUpperCase()),
      "secret-case",
    ],
    ["a rare separator", (body) => signature(`${timestamp}/${eventId}/${body}`), "input-other-separator"],
    [
      "a rare indentation",
      (body) => signature(head + JSON.stringify(JSON.parse(body), null, "\t")),
      "body-indented",
    ],
    ["a percent-encoded body", (body) => signature(head + encodeURIComponent(body)), "body-url-encoded"],
    ["a decomposed body", (body) => signature(head + body.normalize("NFD")), "body-normalised"],
    ["a base64 body", (body) => signature(head + Buffer.from(body).toString("base64")), "body-base64"],
  ])("64 KB, and %s: every single mistake is within reach", async (_, made, expected) => {
    const items = Array.from({ length: 560 }, (_, n) => ({
      name: `Zo\u00eb ${n}`,
      url: "https://a.example/?b=<c>&d",
      rest: [1, 2.5, true, null],
      n,
    }));
    const large = JSON.stringify({ items });
    expect(Buffer.byteLength(large)).toBeGreaterThan(45_000);
    expect((await idsFor(made(large), large))[0]).toBe(expected);
  });
});

describe("another secret than the listener's", () => {
  const request = {
    headers: {
      "Content-Type": "application/json",
      "Webhook-Timestamp": timestamp,
      "Webhook-Event-Id": eventId,
    },
    body: "{}",
  };
  const signedWith = (key: string, text = `${head}{}`) => ({
    ...request,
    headers: { ...request.headers, "Webhook-Signature": signature(text, "sha256", key) },
  });
  const listener = { auth: { method: "hmac", secret: ["current", "next"] } } as const;

  itWith("openssl", hasOpenssl)(
    "is named where it is among those that are known, alone and with a mistake",
    async () => {
      const ids = async (key: string, text?: string) =>
        (
          await diagnose({ request: signedWith(key, text), listener, secret: ["old", "next"], clock })
        ).mistakes.map(({ id }) => id);
      expect(await ids("current")).toEqual([]);
      expect(await ids("next")).toEqual([]);
      expect(await ids("old")).toEqual(["secret-not-accepted"]);
      expect(await ids("old", "{}")).toEqual(["secret-not-accepted", "input-body-only"]);
      expect(await ids("unknown")).toEqual(["signature-unexplained"]);
    },
  );

  itWith("openssl", hasOpenssl)(
    "says that a recorded request is old last of all, and by how much",
    async () => {
      const later = fixedClock(1_767_225_600_000 + 361_000);
      const { mistakes } = await diagnose({ request: signedWith("current", "{}"), listener, clock: later });
      expect(mistakes.map(({ id }) => id)).toEqual(["input-body-only", "timestamp-stale"]);
      expect(mistakes[1]?.message).toContain("361 s");
    },
  );
});
