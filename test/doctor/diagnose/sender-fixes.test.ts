import { createHmac } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const BODY = '{"type":"user.offboarded"}';
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const NOW = 1_767_225_600;

/** The likeliest mistake in a request that a sender of this User-Agent has signed with a key. */
async function mistakeOf(userAgent: string | undefined, key: string | Buffer, headers = {}) {
  const signature = createHmac("sha256", key).update(`${NOW}.${ID}.${BODY}`).digest("base64url");
  const { mistakes } = await diagnose({
    request: {
      headers: {
        "Content-Type": "application/json",
        ...(userAgent === undefined ? {} : { "User-Agent": userAgent }),
        "Webhook-Timestamp": String(NOW),
        "Webhook-Event-Id": ID,
        "Webhook-Signature": signature,
        ...headers,
      },
      body: BODY,
    },
    secret: SECRET,
    clock: fixedClock(NOW * 1000),
  });
  return mistakes[0];
}

const DECODED = Buffer.from(SECRET, "base64url");

describe("a fix in the sender's language", () => {
  // As these programs send it, but for their versions.
  it.each([
    ["python-requests/2.32.3", "Python", "hmac.new(secret.encode()"],
    ["Python-urllib/3.11", "Python", "hmac.new(secret.encode()"],
    ["python-httpx/0.27.0", "Python", "hmac.new(secret.encode()"],
    ["Python/3.12 aiohttp/3.9.5", "Python", "hmac.new(secret.encode()"],
    ["Go-http-client/1.1", "Go", "[]byte(secret)"],
    ["GuzzleHttp/7", "PHP", "hash_hmac("],
    ["Symfony HttpClient (Curl)", "PHP", "hash_hmac("],
    ["Ruby", "Ruby", "OpenSSL::HMAC"],
    ["Faraday v2.9.0", "Ruby", "OpenSSL::HMAC"],
    ["Java-http-client/17.0.11", "Java", "new SecretKeySpec("],
    ["okhttp/4.12.0", "Java", "new SecretKeySpec("],
    ["Apache-HttpClient/4.5.14 (Java/17.0.11)", "Java", "new SecretKeySpec("],
    ["node", "JavaScript", "without Buffer.from("],
    ["axios/1.7.2", "JavaScript", "without Buffer.from("],
  ])("%s: %s", async (userAgent, language, code) => {
    const mistake = await mistakeOf(userAgent, DECODED);
    expect(mistake?.id).toBe("secret-base64url-decoded");
    expect(mistake?.fix).toContain(code);
    expect(mistake?.fixes?.[0]).toEqual({ language, fix: mistake?.fix });
    const languages = mistake?.fixes?.map((one) => one.language) ?? [];
    expect([...languages].sort()).toEqual(["Go", "Java", "JavaScript", "PHP", "Python", "Ruby"]);
  });

  it.each([undefined, "curl/8.5.0", "PostmanRuntime/7.39.0", "Mozilla/5.0 (X11; Linux x86_64)"])(
    "is the row's own where nothing shows the language: %s",
    async (userAgent) => {
      const mistake = await mistakeOf(userAgent, DECODED);
      expect(mistake?.fix).toContain("without Buffer.from(secret, 'base64url')");
      expect(mistake?.fixes).toHaveLength(6);
    },
  );

  it("is none where no code is the fix", async () => {
    const stale = await mistakeOf("python-requests/2.32.3", SECRET, { "Content-Type": "text/plain" });
    expect(stale?.id).toBeDefined();
    expect(stale).not.toHaveProperty("fixes");
  });
});
