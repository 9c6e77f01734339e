import { createReceiver, type ReceivedRequest, type Verdict } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { BASE_URL, clock, hmacParts, NOW, pathOf, replaced, SECRET, without } from "../kit/hostile-target.js";
import { LISTENER_ID, received, signed } from "./received.js";

// What a check saw and wanted is for the operator: it must be what the request had, and not another step's.
const auth = { method: "hmac", secret: SECRET } as const;
const allowedCidrs = ["192.0.2.0/24", "203.0.113.0/24"];

async function verdictOf(request: ReceivedRequest, cidrs: string[] = []): Promise<Verdict> {
  const listener = { id: LISTENER_ID, baseUrl: BASE_URL, auth, allowedCidrs: cidrs };
  return createReceiver({ listener, clock }).verify(request);
}

/** The check of one step, as the verdict holds it. */
async function checkOf(step: string, request: ReceivedRequest, cidrs?: string[]) {
  return (await verdictOf(request, cidrs)).checks.find((check) => check.step === step);
}

describe("the detail of a check", () => {
  it("of the listener is the id that was asked for, or the path that names none", async () => {
    const request = signed();
    expect(await checkOf("listener", { ...request, url: pathOf("lst_2") })).toMatchObject({
      seen: '"lst_2"',
    });
    expect(await checkOf("listener", { ...request, url: "/other" })).toMatchObject({ seen: '"/other"' });
  });

  it("of the source is its address; one range of several is enough", async () => {
    const from = (sourceAddress?: string) =>
      checkOf("source", { ...signed(), ...(sourceAddress && { sourceAddress }) }, allowedCidrs);
    expect(await from("203.0.113.7")).toMatchObject({ ok: true, seen: "203.0.113.7" });
    expect(await from("198.51.100.1")).toMatchObject({ ok: false, seen: "198.51.100.1" });
    expect(await from()).toMatchObject({ ok: false, seen: "no address, or a malformed one" });
  });

  it.each(["Webhook-Timestamp", "Webhook-Event-Id", "Content-Type", "Webhook-Signature"])(
    "tells %s missing from one sent twice",
    async (name) => {
      const parts = hmacParts(LISTENER_ID);
      const missing = await verdictOf(received({ ...parts, headers: without(parts.headers, name) }));
      expect(missing).toMatchObject({ code: expect.stringMatching(/_MISSING$/) });
      const line = parts.headers.find(([given]) => given === name) as [string, string];
      const twice = await verdictOf(received({ ...parts, headers: [...parts.headers, line] }));
      expect(twice).toMatchObject({ code: expect.stringMatching(/_MALFORMED$/) });
      expect(twice.checks.at(-1)?.seen).toBe("the header more than once");
    },
  );

  it.each<[seconds: number, ok: boolean, seen: string]>([
    [0, true, `${NOW}`],
    [-300, true, `${NOW - 300}, 300 s in the past`],
    [300, true, `${NOW + 300}, 300 s in the future`],
    [-301, false, `${NOW - 301}, 301 s in the past`],
    [301, false, `${NOW + 301}, 301 s in the future`],
  ])("of a timestamp %i s from now", async (seconds, ok, seen) => {
    const check = await checkOf("window", signed({ timestamp: String(NOW + seconds) }));
    expect(check).toMatchObject({ ok, seen });
    if (!ok) expect(check).toMatchObject({ wanted: "1767225300 to 1767225900" });
  });

  it.each<[type: string, code: string | undefined]>([
    ['application/json; note="a, b"', undefined],
    ['application/json; note="a \\", b"', undefined],
    ['application/json; a="b", application/json; a="c"', "CONTENT_TYPE_MALFORMED"],
    ["application/json, application/json", "CONTENT_TYPE_MALFORMED"],
    ['application/json; a="', "CONTENT_TYPE_MALFORMED"],
    ['application/json; a="b\\"', "CONTENT_TYPE_MALFORMED"],
    ['application/json; a="b\\', "CONTENT_TYPE_MALFORMED"],
    ['application/json; a="\\""', undefined],
    ["application/json; a=\\,", "CONTENT_TYPE_MALFORMED"],
    [`application/json; a=${"b".repeat(256 - 20)}`, undefined],
    [`application/json; a=${"b".repeat(256 - 19)}`, "CONTENT_TYPE_MALFORMED"],
    [" \tapplication/json \t; charset=utf-8", undefined],
    ["Application/JSON ", undefined],
    ["x-application/json", "CONTENT_TYPE_UNSUPPORTED"],
    ["text/plain; application/json", "CONTENT_TYPE_UNSUPPORTED"],
    ["application/jsonp", "CONTENT_TYPE_UNSUPPORTED"],
    ["application/json-seq;", "CONTENT_TYPE_UNSUPPORTED"],
  ])("takes one media type, application/json with any parameters: %j", async (type, code) => {
    const parts = hmacParts(LISTENER_ID);
    const headers = replaced(parts.headers, "Content-Type", type);
    const verdict = await verdictOf(received({ ...parts, headers }));
    expect("code" in verdict ? verdict.code : undefined).toBe(code);
  });

  it("of a media type says why it is malformed", async () => {
    const parts = hmacParts(LISTENER_ID);
    const withType = (type: string) =>
      checkOf("content-type", received({ ...parts, headers: replaced(parts.headers, "Content-Type", type) }));
    expect(await withType('application/json; a="')).toMatchObject({ seen: "a quote that is not closed" });
    expect(await withType("a,b")).toMatchObject({ seen: "the header more than once" });
    expect(await withType("a".repeat(257))).toMatchObject({ seen: "257 characters", wanted: "at most 256" });
  });

  it("of a signature is its beginning, never the whole", async () => {
    const parts = hmacParts(LISTENER_ID);
    const [, right] = parts.headers.find(([name]) => name === "Webhook-Signature") as [string, string];
    const begins = `"${right.slice(0, 6)}…"`;
    const withSignature = (value: string) =>
      checkOf(
        "signature",
        received({ ...parts, headers: replaced(parts.headers, "Webhook-Signature", value) }),
      );
    expect(await withSignature(right)).toMatchObject({ ok: true, seen: begins });
    expect(await withSignature("A".repeat(43))).toMatchObject({ seen: '"AAAAAA…"', wanted: begins });
    expect(await withSignature("short")).toMatchObject({ seen: '5 characters: "short"' });
  });

  it.each<[body: string | Uint8Array, seen: string]>([
    ["", "an empty body"],
    ["{", "text that is not one JSON value"],
    [Uint8Array.of(0x22, 0xff, 0x22), "bytes that are not UTF-8"],
  ])("of a body that is not JSON says what it is: %j", async (body, seen) => {
    expect(await checkOf("body", signed({ body }))).toMatchObject({ code: "BODY_NOT_JSON", seen });
  });
});
