// `hookproof explain` searches the words of codes, mistakes, statuses and probes.
import { describe, expect, it } from "vitest";
import { codeOfOtherName, findExplanations, searchExplanations } from "../src/explain/find-explanation.js";

const names = async (given: string, scheme?: string) =>
  (await searchExplanations(given, scheme)).map(({ name }) => name);

describe("a search for words", () => {
  it.each([
    ["decoded", "secret-base64url-decoded"],
    ["refused port", "PORT_REFUSED"],
    ["milliseconds", "timestamp-milliseconds"],
    ["hex", "signature-hex"],
    ["kubernetes secret", "secret-encoding-removed"],
    ["Retry-After", "EVENT_IN_FLIGHT"],
    ["certificat", "TLS_FAILED"],
  ])("%s finds %s", async (given, name) => {
    expect(await names(given)).toContain(name);
  });

  it("finds whole words in names first, and each thing once", async () => {
    const found = await names("decoded");
    expect(found[0]).toContain("decoded");
    const hits = await searchExplanations("signature");
    const ids = hits.map(({ kind, scheme, name }) => `${kind} ${scheme} ${name}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is bounded: a dozen, of a text of any length, and nothing for no words", async () => {
    expect((await names("the")).length).toBe(12);
    expect(await names("")).toEqual([]);
    expect(await names("-- ;")).toEqual([]);
    expect(await names("a".repeat(1_000_000))).toEqual([]);
    expect(await names(`${"decoded ".repeat(100_000)}`)).toContain("secret-base64url-decoded");
  });

  it("looks in one scheme alone", async () => {
    expect(await names("version", "standard-webhooks")).toContain("version-missing");
    expect(await names("ECONNREFUSED", "standard-webhooks")).toEqual([]);
  });

  it("knows what systems call an error", async () => {
    for (const name of ["ECONNREFUSED", "econnreset", " ETIMEDOUT", "CERT_HAS_EXPIRED", "EADDRINUSE"]) {
      const code = codeOfOtherName(name) ?? "";
      expect((await findExplanations(code))[0]?.kind, name).toBe("code");
    }
    for (const [said, code] of [
      ["Error: connect ECONNREFUSED 127.0.0.1:4400", "CONNECTION_FAILED"],
      ["getaddrinfo ENOTFOUND tenant.example.com", "CONNECTION_FAILED"],
      ["socket hang up", "CONNECTION_LOST"],
      ["TypeError: fetch failed", "CONNECTION_FAILED"],
      ["self-signed certificate in certificate chain", "TLS_FAILED"],
      ["invalid signature", "SIGNATURE_MISMATCH"],
      ["JsonWebTokenError: jwt expired", "CLAIM_EXP_INVALID"],
      ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED", "TOKEN_SIGNATURE_MISMATCH"],
      ["SyntaxError: Unexpected token < in JSON at position 0", "BODY_NOT_JSON"],
      ["clock skew", "TIMESTAMP_OUT_OF_WINDOW"],
      ["SQLITE_BUSY: database is locked", "OUTBOX_UNAVAILABLE"],
      ["unauthorized", "401"],
      ["HTTP 401", "401"],
      ["exit code 7", "7"],
      ["CSRF verification failed. Request aborted.", "CSRF"],
      ["ActionController::InvalidAuthenticityToken", "CSRF"],
      ["has been blocked by CORS policy", "CORS"],
      ["ERR_NGROK_3200", "NGROK"],
      ["dial tcp: lookup tenant.example.com: no such host", "CONNECTION_FAILED"],
      ["http.client.RemoteDisconnected: Remote end closed connection without response", "CONNECTION_LOST"],
      ["context deadline exceeded", "TIMED_OUT"],
      ["SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "TLS_FAILED"],
    ] as const) {
      expect(codeOfOtherName(said), said).toBe(code);
      expect(await findExplanations(code), said).not.toEqual([]);
    }
    for (const [name, word] of [
      ["csrf", "419"],
      ["cors", "OPTIONS"],
      ["ngrok", "ngrok-skip-browser-warning"],
      ["418", "never answers 418"],
      ["419", "CSRF"],
      ["302", "redirect"],
      ["522", "CDN"],
    ] as const) {
      const [found] = await findExplanations(name);
      expect(found?.explanation.join(" "), name).toContain(word);
    }
    expect(await findExplanations("699")).toEqual([]);
    for (const name of ["decoded", "refused port", "certificat", "Retry-After", "time zone"])
      expect(codeOfOtherName(name), name).toBeUndefined();
    for (const name of ["constructor", "__proto__", "", "EFOO"])
      expect(codeOfOtherName(name)).toBeUndefined();
  });
});
