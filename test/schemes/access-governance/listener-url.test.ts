import { createSender, hmacSigner } from "hookproof";
import { describe, expect, it } from "vitest";
import {
  listenerIdOf,
  listenerUrl,
  parseBaseUrl,
  parseListenerUrl,
} from "../../../src/schemes/access-governance/listener-url.js";

const refusal = (code: string) => expect.objectContaining({ name: "HookproofError", code });
const PATH = "/api/v1/webhooks/incoming";

describe("parseListenerUrl", () => {
  it.each<[text: string, baseUrl: string, listenerId: string]>([
    [`https://tenant.example.com${PATH}/lst_1`, "https://tenant.example.com", "lst_1"],
    [`https://tenant.example.com:8443${PATH}/A-b_9`, "https://tenant.example.com:8443", "A-b_9"],
    [`https://example.com/tenant/a${PATH}/x`, "https://example.com/tenant/a", "x"],
    [`https://TENANT.example.com:443${PATH}/x`, "https://tenant.example.com", "x"],
    [`http://127.0.0.1:4400${PATH}/x`, "http://127.0.0.1:4400", "x"],
    [`http://localhost${PATH}/x`, "http://localhost", "x"],
    [`http://[::1]:80${PATH}/x`, "http://[::1]", "x"],
    [`https://example.com${PATH}/x${PATH}/y`, `https://example.com${PATH}/x`, "y"],
  ])("takes %s apart, and it goes together again", (text, baseUrl, listenerId) => {
    const parsed = parseListenerUrl(text);
    expect(parsed).toMatchObject({ baseUrl, listenerId });
    expect(listenerUrl(baseUrl, listenerId)).toBe(parsed.href);
    expect(parseBaseUrl(baseUrl)).toBe(baseUrl);
  });

  it.each([
    "",
    "tenant.example.com",
    `${PATH}/lst_1`,
    "https://",
    "https://tenant.example.com",
    "https://tenant.example.com/",
    `https://tenant.example.com${PATH}`,
    `https://tenant.example.com${PATH}/`,
    `https://tenant.example.com${PATH}/lst_1/`,
    `https://tenant.example.com${PATH}/lst_1/more`,
    `https://tenant.example.com${PATH}/a%20b`,
    `https://tenant.example.com${PATH}/a.b`,
    `https://tenant.example.com${PATH}/${"x".repeat(129)}`,
    `https://tenant.example.com/API/v1/webhooks/incoming/x`,
    `https://tenant.example.com${PATH}/x?a=1`,
    `https://tenant.example.com${PATH}/x?`,
    `https://tenant.example.com${PATH}/x#a`,
    `https://tenant.example.com${PATH}/x#`,
    `https://user@tenant.example.com${PATH}/x`,
    `https://user:word@tenant.example.com${PATH}/x`,
    `https://:word@tenant.example.com${PATH}/x`,
    ` https://tenant.example.com${PATH}/x`,
    `https://tenant.example.com${PATH}/x `,
    `https://tenant.example.com${PATH}/x\n`,
    `https://tenant.example.com${PATH}/\tx`,
    `ftp://tenant.example.com${PATH}/x`,
    `ws://127.0.0.1${PATH}/x`,
    `javascript:alert(1)//${PATH}/x`,
  ])("refuses %s", (text) => {
    expect(() => parseListenerUrl(text)).toThrow(refusal("LISTENER_URL_INVALID"));
  });

  it.each(["tenant.example.com", "localhost.example.com", "128.0.0.1", "10.0.0.1", "[::2]", "foo.localhost"])(
    "demands TLS of %s",
    (host) => {
      expect(() => parseListenerUrl(`http://${host}${PATH}/x`)).toThrow(refusal("TLS_REQUIRED"));
      const signer = hmacSigner({ secret: "s" });
      expect(() => createSender({ url: `http://${host}${PATH}/x`, signer })).toThrow(refusal("TLS_REQUIRED"));
    },
  );

  it("calls another type than a text a wrong call", () => {
    expect(() => parseListenerUrl(5 as unknown as string)).toThrow(TypeError);
  });

  it("says of none that an environment variable may not be set", () => {
    expect(() => parseListenerUrl(undefined as unknown as string)).toThrow(
      expect.objectContaining({
        code: "LISTENER_URL_INVALID",
        message: expect.stringContaining("environment variable"),
      }),
    );
  });

  it("does not repeat the credentials it refuses", () => {
    const secretive = `https://user:hunter2@tenant.example.com${PATH}/x`;
    expect(() => parseListenerUrl(secretive)).toThrow(/^(?!.*hunter2)/);
  });
});

describe("parseBaseUrl", () => {
  it("has one form: no slash at the end, the host in lower case, no default port", () => {
    expect(parseBaseUrl("https://Tenant.example.com:443/")).toBe("https://tenant.example.com");
    expect(parseBaseUrl("https://example.com/a/")).toBe("https://example.com/a");
  });

  it.each([
    "",
    "tenant.example.com",
    "https://a.example?",
    "https://a.example#",
    "https://a.example?x=1",
    "https://u@a.example",
    "https://:word@a.example",
  ])("refuses %j", (text) => {
    expect(() => parseBaseUrl(text)).toThrow(refusal("LISTENER_URL_INVALID"));
  });
});

describe("listenerIdOf", () => {
  it.each<[url: string, id: string | undefined]>([
    [`${PATH}/lst_1`, "lst_1"],
    [`https://a.example${PATH}/lst_1?x=1`, "lst_1"],
    [`${PATH}/lst_1/`, undefined],
    [`${PATH}/a/b`, undefined],
    [`/x?to=${PATH}/lst_1`, undefined],
    ["/", undefined],
    [`/${"a".repeat(60)}`, undefined],
    ["", undefined],
  ])("of %j is %j", (url, id) => {
    expect(listenerIdOf(url)).toBe(id);
  });
});
