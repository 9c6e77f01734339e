import { diagnose } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";

// The right signature and the one of a decoded secret were made with openssl.
const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const right = "hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE";
const ofDecodedSecret = "5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA";
const body = '{"type":"user.offboarded","userId":"u_123"}';
const headersWith = (signature: string) => ({
  "Webhook-Timestamp": "1767225600",
  "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  "Webhook-Signature": signature,
});
const idsOf = async (
  headers: Record<string, string>,
  given: string = secret,
  bytes: string | Uint8Array = body,
) => (await diagnose({ request: { headers, body: bytes }, secret: given })).mistakes.map(({ id }) => id);

describe("diagnose", () => {
  it("names a secret that was decoded, and says what to change", async () => {
    const { mistakes } = await diagnose({ request: { headers: headersWith(ofDecodedSecret), body }, secret });
    expect(mistakes).toContainEqual({
      id: "secret-base64url-decoded",
      title: "Secret decoded from base64url",
      message: expect.stringMatching(/decoded/),
      fix: expect.stringMatching(/as it is/),
      fixes: expect.any(Array),
    });
    expect(JSON.stringify(mistakes)).not.toContain(secret);
    expect(await idsOf(headersWith(ofDecodedSecret), secret, new TextEncoder().encode(body))).toContain(
      "secret-base64url-decoded",
    );
  });

  it("does not name it for another signature, body, secret or timestamp", async () => {
    const decoded = "secret-base64url-decoded";
    expect(await idsOf(headersWith(right))).not.toContain(decoded);
    expect(await idsOf(headersWith(ofDecodedSecret), secret, `${body}x`)).not.toContain(decoded);
    expect(
      await idsOf(headersWith(ofDecodedSecret), "another-secret-that-is-43-characters-long-xx"),
    ).not.toContain(decoded);
    expect(await idsOf({ ...headersWith(ofDecodedSecret), "Webhook-Timestamp": "1767225700" })).not.toContain(
      decoded,
    );
  });

  it.each<[what: string, headers: Record<string, string>, secret: string]>([
    ["no headers at all", {}, secret],
    ["a secret that cannot be decoded", headersWith(right), "not base64url!"],
    ["an empty secret", headersWith(right), ""],
    ["a signature of another form", headersWith("é"), secret],
  ])("has an answer for %s", async (_, headers, given) => {
    expect(await idsOf(headers, given)).not.toContain("secret-base64url-decoded");
  });
});
