import { HookproofError } from "hookproof";
import { describe, expect, it } from "vitest";
import { isConnectionLost, timedOut, transportError } from "../../src/http/node/transport-errors.js";

const withCode = (code: string, message = "") => Object.assign(new Error(message), { code });
const URL = "https://tenant.example.com:8443/path";

const OURS: Record<string, readonly string[]> = {
  CONNECTION_LOST: ["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE", "UND_ERR_SOCKET"],
  TIMED_OUT: ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
  RESPONSE_INVALID: [
    "HPE_INVALID_CONSTANT",
    "HPE_HEADER_OVERFLOW",
    "HTTPParserError",
    "UND_ERR_HEADERS_OVERFLOW",
    "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  ],
  TLS_FAILED: [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "CERT_HAS_EXPIRED",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "HOSTNAME_MISMATCH",
    "INVALID_CA",
    "EPROTO",
  ],
  CONNECTION_FAILED: [
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "MY_ETIMEDOUT",
    "ETIMEDOUT_NOT",
    "UND_ERR_ABORTED",
    "NOT_ERR_TLS",
    "X_HPE_",
  ],
  PROXY_FAILED: ["ERR_PROXY_TUNNEL", "ERR_PROXY_INVALID_CONFIG"],
};

describe.each(Object.entries(OURS))("%s", (ours, codes) => {
  it.each(codes)("is what %s means", (code) => {
    expect(transportError(withCode(code), URL)).toMatchObject({ code: ours });
    expect(isConnectionLost(withCode(code))).toBe(ours === "CONNECTION_LOST");
  });
});

it("names the host and the code, and neither path nor the words of the error", () => {
  const error = withCode("ECONNRESET", "read of secret-token");
  const ours = transportError(error, URL);
  expect(ours.message).toBe("The connection broke: tenant.example.com:8443 (ECONNRESET).");
  expect(ours.cause).toBe(error);
  expect(transportError(withCode("ENOENT"), URL).message).toBe(
    "Could not connect: tenant.example.com:8443 (ENOENT).",
  );
});

it("keeps no cause of an answer that could not be read, as it holds what came back", () => {
  expect(transportError(withCode("HPE_INVALID_CONSTANT"), URL)).not.toHaveProperty("cause");
});

it("goes by the name of an error that has no code, or none that is text", () => {
  const named = Object.assign(new Error(""), { name: "HTTPParserError" });
  expect(transportError(named, URL)).toMatchObject({ code: "RESPONSE_INVALID" });
  const numbered = Object.assign(new Error(""), { code: 7 });
  expect(transportError(numbered, URL).message).toContain("(Error)");
});

it("hands our own errors on", () => {
  const own = new HookproofError("ADDRESS_REFUSED", "no");
  expect(transportError(own, URL)).toBe(own);
});

it.each(["bad upgrade", "bad response"])("undici's %j is an answer that is not valid", (message) => {
  expect(transportError(withCode("UND_ERR_SOCKET", message), URL)).toMatchObject({
    code: "RESPONSE_INVALID",
  });
  const longer = withCode("UND_ERR_SOCKET", `a ${message} b`);
  expect(transportError(longer, URL)).toMatchObject({ code: "CONNECTION_LOST" });
});

describe("of a proxy", () => {
  it.each([
    ["Proxy response (502) !== 200 when HTTP Tunneling", "answered 502 to CONNECT"],
    ["Proxy Authentication Required (407)", "answered 407 to CONNECT"],
    ["Proxy connection ended before receiving CONNECT response", "closed the connection"],
  ])("%j", (message, said) => {
    expect(transportError(withCode("UND_ERR_ABORTED", message), URL)).toMatchObject({
      code: "PROXY_FAILED",
      message: `The proxy ${said}; no answer came from tenant.example.com:8443 itself.`,
    });
    expect(transportError(new Error(`not at the start: ${message}`), URL)).toMatchObject({
      code: "CONNECTION_FAILED",
    });
  });

  it("a tunnel that does not speak TLS is its failure, and without a proxy the host's", () => {
    const error = withCode("ERR_SSL_WRONG_VERSION_NUMBER", "SSL routines::wrong version number");
    expect(transportError(error, URL, true)).toMatchObject({ code: "PROXY_FAILED" });
    expect(transportError(error, URL)).toMatchObject({ code: "TLS_FAILED" });
    expect(transportError(withCode("CERT_HAS_EXPIRED"), URL, true)).toMatchObject({ code: "TLS_FAILED" });
  });
});

it("says how long an exchange had, in whole milliseconds", () => {
  expect(timedOut("complete answer", 40.2).message).toBe("No complete answer within 41 ms.");
});
