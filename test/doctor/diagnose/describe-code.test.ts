import { describeCode, errorCodes } from "hookproof/diagnose";
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
