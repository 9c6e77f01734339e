import { afterEach, describe, expect, it } from "vitest";
import {
  BASE_URL,
  hmacParts,
  type Parts,
  pathOf,
  SECRET,
  send,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import { converse, type Line, requestBytes } from "../kit/raw-http.js";

let target: Target;
afterEach(() => target.stop());

async function startWith(allowedCidrs: string[], trustedProxies?: string[], host?: string): Promise<void> {
  const auth = { method: "hmac", secret: SECRET } as const;
  const listener = { id: "lst_fenced", baseUrl: BASE_URL, auth, allowedCidrs };
  target = await startTarget([{ listener, trustedProxies }], host === undefined ? {} : { host });
}

/** A good request that claims to have been forwarded. */
function forwarded(...values: string[]): Parts {
  const parts = hmacParts("lst_fenced");
  const lines = values.map((value): Line => ["X-Forwarded-For", value]);
  return { ...parts, headers: [...parts.headers, ...lines] };
}

async function statusOf(parts: Parts, localAddress?: string): Promise<number> {
  const before = target.runs();
  const { status, code } = await send(target, parts, localAddress);
  expect(target.runs()).toBe(before + (status === 200 ? 1 : 0));
  if (status !== 200) expect([status, code]).toEqual([403, "SOURCE_NOT_ALLOWED"]);
  return status;
}

describe("the source address", () => {
  it("inside the ranges is 200, outside 403", async () => {
    await startWith(["127.0.0.2/32", "127.0.1.0/24"]);
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.0.1")).toBe(403);
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.0.2")).toBe(200);
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.1.77")).toBe(200);
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.2.0")).toBe(403);
  });

  it("is looked at before anything else: a stranger with nothing at all gets 403", async () => {
    await startWith(["127.0.0.2/32"]);
    const bare: Parts = {
      ...hmacParts("lst_fenced"),
      headers: [
        ["Host", "x"],
        ["Connection", "close"],
      ],
      body: Buffer.alloc(0),
    };
    expect(await statusOf(bare)).toBe(403);
  });

  it("is answered before the body has arrived", async () => {
    await startWith(["127.0.0.2/32"]);
    const parts = hmacParts("lst_fenced");
    const { answers } = await converse(target.port, (socket) =>
      socket.write(requestBytes({ ...parts, headers: without(parts.headers, "Connection"), body: "" })),
    );
    expect(answers.map(({ status }) => status)).toEqual([403]);
  });

  it("an IPv4 address mapped into IPv6 is the IPv4 address", async () => {
    await startWith(["127.0.0.1/32"], undefined, "::");
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.0.1")).toBe(200);
    expect(await statusOf(hmacParts("lst_fenced"), "127.0.0.2")).toBe(403);
  });

  it.each([
    ["X-Forwarded-For"],
    ["Forwarded"],
    ["X-Real-IP"],
    ["True-Client-IP"],
    ["CF-Connecting-IP"],
    ["X-Client-IP"],
    ["Client-IP"],
    ["Via"],
  ])("a forged %s is 403 without a trusted proxy", async (name) => {
    await startWith(["127.0.0.2/32"]);
    const parts = hmacParts("lst_fenced");
    for (const value of ["127.0.0.2", "for=127.0.0.2"])
      expect(await statusOf({ ...parts, headers: [...parts.headers, [name, value]] })).toBe(403);
  });

  it("a forged X-Forwarded-For is 403 from a peer that is not the trusted proxy", async () => {
    await startWith(["203.0.113.0/24"], ["127.0.0.9/32"]);
    expect(await statusOf(forwarded("203.0.113.5"), "127.0.0.1")).toBe(403);
    expect(await statusOf(forwarded("203.0.113.5"), "127.0.0.9")).toBe(200);
  });

  it.each<[string, string[], number]>([
    ["the address the proxy saw", ["203.0.113.5"], 200],
    ["a forged one left of it", ["203.0.113.5, 198.51.100.1"], 403],
    ["a forged one in a line of its own", ["203.0.113.5", "198.51.100.1"], 403],
    ["another trusted proxy to the right", ["203.0.113.5, 127.0.0.1"], 200],
    ["a forged one, then a stranger, then a proxy", ["203.0.113.5, 198.51.100.1, 127.0.0.1"], 403],
    ["mapped into IPv6", ["::ffff:203.0.113.5"], 200],
    ["mapped into IPv6, in hexadecimal", ["::FFFF:cb00:7105"], 200],
    ["nothing", [], 403],
    ["an empty value", [""], 403],
    ["a comma at the end", ["203.0.113.5,"], 403],
    ["a word", ["unknown"], 403],
    ["a word left of it", ["unknown, 203.0.113.5"], 200],
    ["a port", ["203.0.113.5:443"], 403],
    ["octal", ["0313.0.0161.5"], 403],
    ["a short form", ["203.29189"], 403],
    ["brackets", ["[::ffff:203.0.113.5]"], 403],
    ["a range", ["203.0.113.0/24"], 403],
    ["a no-break space", ["203.0.113.5\u00a0"], 403],
    ["a zone", ["203.0.113.5%eth0"], 403],
    ["10 kB of commas", [",".repeat(10_000)], 403],
    ["1,000 proxies", [`203.0.113.5${",127.0.0.1".repeat(1_000)}`], 200],
  ])("behind a trusted proxy: %s", async (_name, values, status) => {
    await startWith(["203.0.113.0/24"], ["127.0.0.0/8"]);
    expect(await statusOf(forwarded(...values))).toBe(status);
  });

  it("the detail names the address that was judged, and the answer does not", async () => {
    await startWith(["203.0.113.0/24"], ["127.0.0.0/8"]);
    const answer = await send(target, forwarded("2001:db8::7"));
    expect(answer.body).not.toContain("db8");
    const [handled] = target.handled;
    expect(handled?.verdict).toMatchObject({ ok: false, code: "SOURCE_NOT_ALLOWED" });
    expect(handled?.verdict.checks.at(-1)?.seen).toBe("2001:db8:0:0:0:0:0:7");
  });

  it("an unknown listener is 404 from everywhere, so that ranges do not tell which exist", async () => {
    await startWith(["127.0.0.2/32"]);
    const answer = await send(target, { ...hmacParts("lst_fenced"), target: pathOf("lst_nobody") });
    expect([answer.status, answer.code]).toEqual([404, "LISTENER_UNKNOWN"]);
  });
});
