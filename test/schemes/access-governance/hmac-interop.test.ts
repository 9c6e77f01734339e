import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { generateSecret, newEventId, signHmac, verifyHmac } from "hookproof";
import { expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";

const OPENSSL = "openssl";
const PYTHON = "/usr/bin/python3";
const hasOpenssl = hasTool(OPENSSL, "version");
const hasPython = hasTool(PYTHON, "-c", "import hmac, hashlib");

const timestamp = "1767225600";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";

describeWith("openssl", hasOpenssl)("openssl dgst -sha256 -hmac", () => {
  it.each([
    [
      "an object",
      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
      '{"type":"user.offboarded","userId":"u_123"}',
    ],
    ["an empty body", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", ""],
    ["text beyond ASCII", "a secret, with spaces and ümlauts", '{"text":"café 🔐"}'],
    ["65,536 bytes", "s".repeat(100), `"${"x".repeat(65_534)}"`],
  ])("makes the same signature: %s", (_, secret, body) => {
    const input = `${timestamp}.${eventId}.${body}`;
    const mac = execFileSync(OPENSSL, ["dgst", "-sha256", "-hmac", secret, "-binary"], { input });
    const signature = mac.toString("base64url");
    expect(signHmac({ secret, timestamp, eventId, body })).toBe(signature);
    expect(verifyHmac({ secret, timestamp, eventId, body, signature })).toBe(true);
  });
});

describeWith("python3", hasPython)("Python's hmac", () => {
  it("makes the same signatures for random secrets, ids and bytes", () => {
    const cases = Array.from({ length: 100 }, (_, index) => ({
      secret: generateSecret(),
      timestamp: String(1_767_225_600 + index),
      eventId: newEventId(),
      body: new Uint8Array(randomBytes(index * index)),
    }));
    const input = cases
      .map(({ body, ...rest }) =>
        JSON.stringify({ ...rest, bodyBase64: Buffer.from(body).toString("base64") }),
      )
      .join("\n");
    const script = fileURLToPath(new URL("sign_hmac.py", import.meta.url));
    const signatures = execFileSync(PYTHON, [script], { input, encoding: "utf8" }).trim().split("\n");
    expect(signatures).toEqual(cases.map((one) => signHmac(one)));
  });
});
