import { expect, it } from "vitest";
import * as protocol from "../../src/core/protocol.js";
import { timestampText } from "../../src/core/protocol.js";

it("the limits are the specification's numbers (5.2 and 8)", () => {
  const numbers = Object.entries(protocol).filter(([, value]) => typeof value === "number");
  expect(Object.fromEntries(numbers)).toEqual({
    MAX_BODY_BYTES: 65_536,
    TIMESTAMP_TOLERANCE_SECONDS: 300,
    MAX_TOKEN_LIFETIME_SECONDS: 600,
    DEFAULT_TOKEN_LIFETIME_SECONDS: 300,
    MAX_TOKEN_LENGTH: 8_192,
    MAX_KEY_ID_LENGTH: 256,
    EVENT_ID_RETENTION_MS: 604_800_000,
  });
});

it("a timestamp is sent as text, whatever it was given as", () => {
  expect(timestampText(1_767_225_600)).toBe("1767225600");
  expect(timestampText("1767225600")).toBe("1767225600");
});
