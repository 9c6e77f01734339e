import { generateKey, type KeyResolver, remoteKeys } from "hookproof/jwks";
import { type FixedClock, fixedClock } from "hookproof/testing";
import type { JWK } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type KeyHost, serving, startKeyHost } from "./key-host.js";

const SECOND = 1_000;
const MINUTE = 60_000;

let one: JWK;
let two: JWK;
let host: KeyHost;
let clock: FixedClock;
let keys: KeyResolver;

beforeAll(async () => {
  one = (await generateKey({ alg: "ES256", kid: "one" })).publicJwk;
  two = (await generateKey({ alg: "EdDSA", kid: "two" })).publicJwk;
});

beforeEach(async () => {
  host = await startKeyHost();
  clock = fixedClock("2026-01-01T00:00:00Z");
  keys = remoteKeys(host.url, { allowInsecureLoopback: true, clock });
});

afterEach(() => host.stop());

async function find(kid: string, alg: "ES256" | "EdDSA" = "ES256"): Promise<string> {
  const resolved = await keys.resolve(kid, alg);
  return resolved.ok ? "found" : resolved.code;
}

describe("how long a set is kept", () => {
  it.each<[cacheControl: string | undefined, seconds: number]>([
    ["max-age=120", 120],
    ["public, max-age=120, must-revalidate", 120],
    ['MAX-AGE="120"', 120],
    ["max-age=5", 60],
    ["max-age=0", 60],
    ["no-store", 60],
    ["no-cache, max-age=500", 60],
    ["max-age=86400", 600],
    ["private", 300],
    [undefined, 300],
  ])("Cache-Control %s: %i seconds", async (cacheControl, seconds) => {
    host.answer = serving({ keys: [one] }, cacheControl);
    for (let i = 0; i < 5; i++) expect(await find("one")).toBe("found");
    clock.advance(seconds * SECOND - 1);
    expect(await find("one")).toBe("found");
    expect(host.requests).toBe(1);
    clock.advance(1);
    expect(await find("one")).toBe("found");
    expect(host.requests).toBe(2);
  });

  it("a key that was removed is gone once the set is fetched again", async () => {
    host.answer = serving({ keys: [one, two] }, "max-age=60");
    expect(await find("one")).toBe("found");
    host.answer = serving({ keys: [two] }, "max-age=60");
    clock.advance(MINUTE);
    expect(await find("one")).toBe("KEY_NOT_FOUND");
  });
});

it("has one fetch in flight, however many ask", async () => {
  const waiting: (() => void)[] = [];
  host.answer = (response, request) => waiting.push(() => serving({ keys: [one] })(response, request));
  const asked = Array.from({ length: 50 }, () => find("one"));
  while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  for (const answer of waiting) answer();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["found"]));
  expect(host.requests).toBe(1);
});

describe("an unknown kid", () => {
  it("fetches a fresh set again, then not for 30 s, however many come", async () => {
    host.answer = serving({ keys: [one] }, "max-age=600");
    await find("one");
    for (let i = 0; i < 200; i++) expect(await find(`random-${i}`)).toBe("KEY_NOT_FOUND");
    expect(host.requests).toBe(2);
    expect(await find("one")).toBe("found");

    clock.advance(30 * SECOND - 1);
    await find("random");
    expect(host.requests).toBe(2);
    clock.advance(1);
    await Promise.all(Array.from({ length: 20 }, (_, index) => find(`again-${index}`)));
    expect(host.requests).toBe(3);
  });

  it("that was just published is found at once", async () => {
    host.answer = serving({ keys: [one] }, "max-age=600");
    await find("one");
    host.answer = serving({ keys: [one, two] }, "max-age=600");
    expect(await find("two", "EdDSA")).toBe("found");
    expect(host.requests).toBe(2);
  });
});

describe("a host that fails", () => {
  it("is asked again after 10 s, and not before", async () => {
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
    host.answer = serving({ keys: [one] });
    clock.advance(10 * SECOND - 1);
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
    expect(host.requests).toBe(1);
    clock.advance(1);
    expect(await find("one")).toBe("found");
  });

  it("rests 30 s when an unknown kid was the cause: the later wins", async () => {
    host.answer = serving({ keys: [one] }, "max-age=600");
    await find("one");
    host.answer = (response) => response.writeHead(500).end();
    await find("two", "EdDSA");
    clock.advance(29 * SECOND);
    await find("two", "EdDSA");
    expect(host.requests).toBe(2);
    clock.advance(SECOND);
    await find("two", "EdDSA");
    expect(host.requests).toBe(3);
  });

  it("leaves the last good set usable for 10 minutes, and no longer", async () => {
    host.answer = serving({ keys: [one] }, "max-age=60");
    expect(await find("one")).toBe("found");
    host.answer = (response) => response.writeHead(500).end();
    clock.advance(MINUTE + 10 * MINUTE - 1);
    expect(await find("one")).toBe("found");
    clock.advance(1);
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
  });

  it("is unavailable when it closes the connection, or is not there", async () => {
    host.answer = (response) => response.destroy();
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
    await host.stop();
    clock.advance(10 * SECOND);
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
    host = await startKeyHost();
  });

  it.each([204, 301, 302, 307, 404, 500])("is unavailable when it answers %i", async (status) => {
    host.answer = (response) => response.writeHead(status, { Location: host.url }).end();
    expect(await find("one")).toBe("KEY_SET_UNAVAILABLE");
    expect(host.requests).toBe(1);
  });

  it.each<[what: string, document: () => unknown]>([
    ["what is not JSON", () => "<html>"],
    ["JSON with a byte order mark", () => `\uFEFF${JSON.stringify({ keys: [one] })}`],
    ["what is not a key set", () => ({ key: one })],
    ["65,537 bytes", () => JSON.stringify({ keys: [one] }).padEnd(65_537)],
    ["51 keys", () => ({ keys: Array.from({ length: 51 }, (_, index) => ({ ...one, kid: `k${index}` })) })],
    ["a private key", () => ({ keys: [one, { ...two, d: "c2VjcmV0" }] })],
    ["a symmetric key", () => ({ keys: [one, { kty: "oct", k: "c2VjcmV0" }] })],
  ])("has no valid set when it serves %s", async (_, document) => {
    host.answer = serving(document());
    expect(await find("one")).toBe("KEY_SET_INVALID");
  });

  it("may serve 65,536 bytes and 50 keys", async () => {
    const others = Array.from({ length: 49 }, (_, index) => ({ ...one, kid: `k${index}` }));
    host.answer = serving(JSON.stringify({ keys: [...others, one] }).padEnd(65_536));
    expect(await find("one")).toBe("found");
  });
});

describe("where it may connect to", () => {
  it.each([
    "http://keys.example.com/jwks.json",
    "http://127.0.0.1.example.com/jwks.json",
    "http://10.0.0.1/jwks.json",
    "ftp://keys.example.com/jwks.json",
    "file:///etc/passwd",
    "data:application/json,{}",
    "https://user:word@keys.example.com/jwks.json",
    "/jwks.json",
    "keys.example.com",
    "",
  ])("refuses the URL %j at configuration", (url) => {
    const refused = expect.objectContaining({ code: "KEY_SET_URL_REFUSED" });
    expect(() => remoteKeys(url, { allowInsecureLoopback: true })).toThrow(refused);
  });

  it("refuses plain HTTP even on loopback, unless that is allowed", () => {
    expect(() => remoteKeys(host.url)).toThrow(expect.objectContaining({ code: "KEY_SET_URL_REFUSED" }));
  });

  it.each(["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"])(
    "connects to no private address by itself: https://%s",
    (name) => {
      const refused = expect.objectContaining({ code: "KEY_SET_URL_REFUSED" });
      expect(() => remoteKeys(`https://${name}:${host.port}/jwks.json`, { clock })).toThrow(refused);
      expect(host.connections).toBe(0);
    },
  );
});
