import { describeCode, describeStatus, errorCodes } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";

describe("codes in words", () => {
  it("has message, cause and fix for every code, and a status where a listener answers with it", () => {
    expect(errorCodes().length).toBeGreaterThan(70);
    for (const code of errorCodes()) {
      const { message, cause, fix } = describeCode(code) ?? {};
      for (const text of [message, cause, fix]) expect(text, code).toMatch(/^\S.+\.$/);
    }
    expect(describeCode("SIGNATURE_MISMATCH")).toEqual({
      code: "SIGNATURE_MISMATCH",
      status: 401,
      message: "The signature does not match.",
      cause: expect.stringContaining("another secret"),
      fix: "Capture the request and call diagnose of hookproof/diagnose: it names the mistake.",
    });
    expect(describeCode("TIMED_OUT")).not.toHaveProperty("status");
  });

  it("knows nothing of other texts", () => {
    for (const text of ["", "toString", "signature_mismatch", "200"])
      expect(describeCode(text)).toBeUndefined();
  });
});

describe("statuses in words", () => {
  it("name the codes that a listener answers with them, and no other", () => {
    const known = Array.from({ length: 500 }, (_, index) => describeStatus(index + 100) ?? []).flat();
    for (const { status, codes, message, fix } of known) {
      expect(codes).toEqual(errorCodes().filter((code) => describeCode(code)?.status === status));
      for (const text of [message, fix]) expect(text, String(status)).toMatch(/^\S.+\.$/);
    }
    const named = new Set(known.flatMap(({ codes }) => codes));
    expect(
      errorCodes().filter((code) => describeCode(code)?.status !== undefined && !named.has(code)),
    ).toEqual([]);
    expect([...named].filter((code) => describeCode(code)?.status === undefined)).toEqual([]);
  });

  it("have causes where the sender can be at fault", () => {
    for (const status of [400, 401, 403, 404, 405, 413, 415])
      expect(describeStatus(status)?.causes.length, String(status)).toBeGreaterThan(0);
    for (const status of [200, 409, 429, 431, 500, 502, 503, 504])
      expect(describeStatus(status)?.causes, String(status)).toEqual([]);
  });

  it("are those of the service alone", () => {
    for (const status of [100, 201, 302, 418, 499, 505]) expect(describeStatus(status)).toBeUndefined();
  });
});
