import {
  checkKeySet,
  createKeySet,
  generateKey,
  type Jwks,
  jwksHandler,
  type KeyLife,
  type KeySet,
  type KeyState,
  localKeys,
  remoteKeys,
} from "hookproof/jwks";
import { currentRotation, dueRotations, planRotation, stateAt } from "hookproof/jwks/rotation";
import type { JWK } from "jose";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { lifeCycleFault, removeKey, retireKey } from "../../src/jwks/life-cycle.js";
import { freshSeconds } from "../../src/jwks/remote-keys.js";
import { testKey } from "../kit/hostile-tokens.js";

const MINUTE = 60_000;
const URL_OF_SET = "https://keys.example.com/jwks.json";
const key = (kid: string, times: Partial<KeyLife> = {}): KeyLife => ({
  kid,
  alg: "ES256",
  createdAt: 0,
  ...times,
});
const keyNamed = (keys: readonly KeyLife[] | undefined, kid: string) => keys?.find((one) => one.kid === kid);

let good: JWK;
let rsa: JWK;
beforeAll(async () => {
  good = (await generateKey({ alg: "ES256", kid: "k" })).publicJwk;
  rsa = { ...testKey("RS256", "r").jwk, use: "sig", alg: "RS256" } as JWK;
});
afterEach(() => {
  vi.useRealTimers();
});

type Answer = { status: number; headers: [string, string][]; body: Uint8Array; truncated: boolean };
const answering = (document: unknown, more: Partial<Answer> = {}) => {
  const asked: { timeoutMs: number; maxResponseBytes: number; method: string }[] = [];
  const transport = async (request: (typeof asked)[number]): Promise<Answer> => {
    asked.push(request);
    const text = typeof document === "string" ? document : JSON.stringify(document);
    return { status: 200, headers: [], body: new TextEncoder().encode(text), truncated: false, ...more };
  };
  return { transport: transport as never, asked };
};

describe("a rotation", () => {
  const timing = { maxAgeSeconds: 300 };

  it("that is under way is not planned again, and is brought forward as it is", () => {
    const keys = [key("old", { signsAt: 0 }), key("older wait"), key("new", { createdAt: 5 })];
    const planned = keys.map((one) => (one.kid === "new" ? { ...one, signsAt: 40 * MINUTE } : one));
    expect(planRotation(planned, "ES256", { ...timing, now: 20 * MINUTE })).toEqual(planned);
    const now = planRotation(planned, "ES256", { ...timing, now: 20 * MINUTE, immediately: true });
    expect(keyNamed(now, "new")?.signsAt).toBe(20 * MINUTE);
    expect(keyNamed(now, "older wait")?.signsAt).toBeUndefined();
    expect(keyNamed(now, "old")).toMatchObject({ retiresAt: 20 * MINUTE, removesAt: 35 * MINUTE });
  });

  it("never signs in the past, however long its key has waited", () => {
    const keys = [key("old", { signsAt: 0 }), key("new")];
    const planned = planRotation(keys, "ES256", { ...timing, now: 90 * MINUTE });
    expect(keyNamed(planned, "new")?.signsAt).toBe(90 * MINUTE);
    const early = planRotation(keys, "ES256", { ...timing, now: 5 * MINUTE });
    expect(keyNamed(early, "new")?.signsAt).toBe(15 * MINUTE);
  });

  it("is due from its very moment on, and not while one is under way", () => {
    const keys = [key("a", { signsAt: 1_000 })];
    expect(dueRotations(keys, 500, 1_499)).toEqual([]);
    expect(dueRotations(keys, 500, 1_500)).toEqual(["ES256"]);
    expect(dueRotations([key("a", { signsAt: 1_000, retiresAt: 9_000 })], 500, 5_000)).toEqual([]);
    expect(dueRotations([key("next"), key("next too", { signsAt: 9_000 })], 0, 5_000)).toEqual([]);
  });

  it("is planned by names and times of its own algorithm and its own two keys", () => {
    const keys = [
      key("older", { signsAt: 0, retiresAt: 10, removesAt: 20 }),
      key("old", { signsAt: 10, retiresAt: 50, removesAt: 90 }),
      key("new", { createdAt: 30, signsAt: 50 }),
      key("other", { alg: "EdDSA", signsAt: 0, retiresAt: 50, removesAt: 95 }),
    ];
    expect(currentRotation(keys, "ES256", 40)).toEqual({
      alg: "ES256",
      kid: "new",
      steps: [
        { step: "publish", kid: "new", at: 30 },
        { step: "sign", kid: "new", at: 50 },
        { step: "retire", kid: "old", at: 50 },
        { step: "remove", kid: "old", at: 90 },
      ],
    });
    expect(currentRotation(keys, "RS256", 40)).toBeUndefined();
  });

  it("is taken back with its key, and another algorithm's that hands over at the same time is not", () => {
    const keys = [
      key("old", { signsAt: 0, retiresAt: 50 * MINUTE, removesAt: 65 * MINUTE }),
      key("new", { signsAt: 50 * MINUTE }),
      key("other", { alg: "EdDSA", signsAt: 0, retiresAt: 50 * MINUTE, removesAt: 65 * MINUTE }),
    ];
    for (const left of [
      retireKey(keys, "new", { now: MINUTE, retireAfterMs: 15 * MINUTE, force: false }),
      removeKey(keys, "new", { now: MINUTE, force: false }),
    ] as KeyLife[][]) {
      expect(keyNamed(left, "old")).toMatchObject({ retiresAt: undefined, removesAt: undefined });
      expect(keyNamed(left, "other")).toEqual(keys[2]);
      expect(keyNamed(left, "new")?.signsAt).toBeUndefined();
    }
    const retired = keyNamed(
      retireKey(keys, "new", { now: MINUTE, retireAfterMs: 15 * MINUTE, force: false }),
      "new",
    );
    expect(retired).toMatchObject({ retiresAt: MINUTE, removesAt: 16 * MINUTE });
    expect(stateAt(retired as KeyLife, 2 * MINUTE)).toBe("retired");
    expect(
      keyNamed(retireKey(keys, "old", { now: MINUTE, force: true, retireAfterMs: 15 * MINUTE }), "old")
        ?.signsAt,
    ).toBe(0);
    expect(() => retireKey(keys, "old", { now: MINUTE, retireAfterMs: 15 * MINUTE, force: false })).toThrow(
      "signs for ES256",
    );
    expect(() => removeKey(keys, "old", { now: MINUTE, force: false })).toThrow("signs for ES256");
    expect(() => removeKey(keys, "old", { now: 55 * MINUTE, force: false })).toThrow(
      "leaves the set at 1970-01-01T01:05",
    );
    expect(() => removeKey(keys, "gone", { now: MINUTE, force: false })).toThrow("no key with the kid");
  });

  it.each(["publishForMs", "retireAfterMs"])("refuses a %s that is too short or no number", (name) => {
    const [least, keys] = [10 * MINUTE, [key("old", { signsAt: 0 }), key("new")]];
    const planned = (ms: number) => planRotation(keys, "ES256", { ...timing, now: 0, [name]: ms });
    for (const ms of [least - 1, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => planned(ms)).toThrow(RangeError);
    expect(planned(least)).toBeDefined();
  });
});

describe("a key's life", () => {
  it.each<[KeyState, string[]]>([
    ["next", []],
    ["active", ["signsAt"]],
    ["retired", ["signsAt", "retiresAt"]],
    ["removed", ["signsAt", "retiresAt", "removesAt"]],
  ])("of a generated key that is %s has %j", async (state, times) => {
    const made = await generateKey({ alg: "EdDSA", state, clock: { now: () => 5 } });
    expect(["signsAt", "retiresAt", "removesAt"].filter((name) => name in made)).toEqual(times);
    expect(stateAt(made, 5)).toBe(state);
  });

  it("has two keys sign at a time only where their times overlap", () => {
    const later = key("b", { signsAt: 200 });
    expect(lifeCycleFault([key("a", { signsAt: 0, removesAt: 200 }), later])).toBeUndefined();
    expect(lifeCycleFault([key("a", { signsAt: 0, retiresAt: 200, removesAt: 900 }), later])).toBeUndefined();
    expect(lifeCycleFault([key("a", { signsAt: 0, removesAt: 201 }), later])).toContain("at the same time");
    expect(lifeCycleFault([key("a", { signsAt: 0 }), later])).toContain("two keys for ES256");
    expect(lifeCycleFault([key("a"), key("b"), key("c")])).toBeUndefined();
    expect(lifeCycleFault([key("a", { signsAt: 0 }), { ...later, alg: "EdDSA" }])).toBeUndefined();
    expect(lifeCycleFault([key("a"), key("a")])).toBe('the kid "a" twice');
  });
});

describe("a fetched key set", () => {
  const clockAt = (start: number) => {
    const time = { value: start };
    return { time, clock: { now: () => time.value } };
  };

  it("is asked for with GET, within 5 s and 64 KiB", async () => {
    const { transport, asked } = answering({ keys: [good] });
    expect(await remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256")).toMatchObject({ ok: true });
    expect(asked).toMatchObject([{ method: "GET", timeoutMs: 5_000, maxResponseBytes: 65_536 }]);
  });

  it("of more than 64 KiB is refused, though a transport of one's own gave it whole", async () => {
    const padded = (bytes: number) => `{"keys":[${JSON.stringify(good)}]}`.padEnd(bytes);
    const of = (bytes: number) => {
      const { transport } = answering(padded(bytes));
      return remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256");
    };
    expect(await of(65_536)).toMatchObject({ ok: true });
    expect(await of(65_537)).toMatchObject({
      code: "KEY_SET_INVALID",
      detail: "the key set has more than 65536 bytes",
    });
    const { transport: cut } = answering({ keys: [good] }, { truncated: true });
    expect(await remoteKeys(URL_OF_SET, { transport: cut }).resolve("k", "ES256")).toMatchObject({
      code: "KEY_SET_INVALID",
    });
  });

  it("is not waited for any longer when a transport of one's own hangs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const hanging = remoteKeys(URL_OF_SET, { transport: () => new Promise(() => {}) }).resolve("k", "ES256");
    let ended = false;
    void hanging.then(() => {
      ended = true;
    });
    await vi.advanceTimersByTimeAsync(5_249);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await hanging).toMatchObject({ code: "KEY_SET_UNAVAILABLE" });
    const { transport } = answering({ keys: [good] });
    await remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is fetched once in a call for an unknown kid, and once more after 30 s", async () => {
    const { transport, asked } = answering({ keys: [good] });
    const { time, clock } = clockAt(1_000_000);
    const keys = remoteKeys(URL_OF_SET, { transport, clock });
    expect(await keys.resolve("other", "ES256")).toMatchObject({ code: "KEY_NOT_FOUND" });
    expect(asked).toHaveLength(1);
    await keys.resolve("other", "ES256");
    expect(asked).toHaveLength(2);
    time.value += 29_999;
    await keys.resolve("other", "ES256");
    expect(asked).toHaveLength(2);
    time.value += 1;
    await keys.resolve("other", "ES256");
    expect(asked).toHaveLength(3);
  });

  it("is fetched again when the clock was put back, and what was fetched in its future is not used", async () => {
    let document: unknown = { keys: [good] };
    const asked: unknown[] = [];
    const transport = async () => {
      asked.push(1);
      return {
        status: 200,
        headers: [],
        body: new TextEncoder().encode(JSON.stringify(document)),
        truncated: false,
      };
    };
    const { time, clock } = clockAt(10_000_000);
    const keys = remoteKeys(URL_OF_SET, { transport, clock });
    await keys.resolve("other", "ES256");
    await keys.resolve("other", "ES256");
    expect(asked).toHaveLength(2);
    time.value -= 3_600_000;
    document = { keys: [] };
    expect(await keys.resolve("k", "ES256")).toMatchObject({ ok: false, code: "KEY_NOT_FOUND" });
    expect(asked).toHaveLength(3);
  });

  it("serves for 10 minutes more after it cannot be fetched, and is asked for again after 10 s", async () => {
    let fails = false;
    let asked = 0;
    const body = new TextEncoder().encode(JSON.stringify({ keys: [good] }));
    const transport = async () => {
      asked++;
      return {
        status: fails ? 500 : 200,
        headers: [["cache-control", "max-age=60"]] as const,
        body,
        truncated: false,
      };
    };
    const { time, clock } = clockAt(0);
    const keys = remoteKeys(URL_OF_SET, { transport, clock });
    expect(await keys.resolve("k", "ES256")).toMatchObject({ ok: true });
    fails = true;
    time.value = 60_000;
    expect(await keys.resolve("k", "ES256")).toMatchObject({ ok: true });
    expect(asked).toBe(2);
    time.value += 9_999;
    await keys.resolve("k", "ES256");
    expect(asked).toBe(2);
    time.value += 1;
    await keys.resolve("k", "ES256");
    expect(asked).toBe(3);
    time.value = 660_000 - 1;
    expect(await keys.resolve("k", "ES256")).toMatchObject({ ok: true });
    time.value = 660_000;
    expect(await keys.resolve("k", "ES256")).toEqual({
      ok: false,
      code: "KEY_SET_UNAVAILABLE",
      detail: "the host answered 500",
    });
  });

  it.each<[headers: [string, string][], seconds: number]>([
    [[], 300],
    [[["Cache-Control", "max-age=120"]], 120],
    [[["cache-control", 'public , MAX-AGE = "120" ']], 120],
    [[["cache-control", "max-age=59"]], 60],
    [[["cache-control", "max-age=60"]], 60],
    [[["cache-control", "max-age=600"]], 600],
    [[["cache-control", "max-age=601"]], 600],
    [[["cache-control", "s-maxage=120"]], 300],
    [[["cache-control", "max-age"]], 60],
    [[["cache-control", "max-age=a120"]], 60],
    [[["cache-control", "max-age=120=5"]], 60],
    [[["cache-control", "max-age=120, max-age=200"]], 120],
    [[["cache-control", "no-store, max-age=120"]], 60],
    [[["cache-control", "max-age=120, no-cache"]], 60],
    [[["cache-control", 'no-cache="a"']], 60],
    [
      [
        ["cache-control", "public"],
        ["cache-control", "max-age=200"],
      ],
      200,
    ],
    [
      [
        ["cache-control", "max-age=500"],
        ["Age", "100"],
      ],
      400,
    ],
    [[["age", "100"]], 200],
    [[["age", "1000"]], 60],
    [[["age", "-100"]], 300],
    [[["age", " 100 "]], 200],
  ])("is fresh by %j for %i s", (headers, seconds) => {
    expect(freshSeconds(headers)).toBe(seconds);
  });
});

describe("a key set's URL", () => {
  const { transport } = answering({ keys: [] });
  const refused = (url: string, options: object = {}) => {
    expect(() => remoteKeys(url, options), url).toThrow(
      expect.objectContaining({ code: "KEY_SET_URL_REFUSED" }),
    );
  };

  it("is on a host of allowedHosts, by its whole name", () => {
    const allowedHosts = ["Example.com", "keys.example.org"];
    for (const host of ["example.com", "EXAMPLE.com", "example.com:8443", "keys.example.org"])
      expect(() => remoteKeys(`https://${host}/jwks.json`, { transport, allowedHosts }), host).not.toThrow();
    for (const host of [
      "evil-example.com",
      "www.example.com",
      "example.com.evil.org",
      "example.co",
      "xample.com",
      "example.org",
      "example.com.",
    ])
      refused(`https://${host}/jwks.json`, { transport, allowedHosts });
    refused(URL_OF_SET, { transport, allowedHosts: [] });
  });

  it("names no address of this machine or network, in whatever spelling", () => {
    for (const host of [
      "127.0.0.1",
      "0x7f.1",
      "localhost",
      "localhost.",
      "a.localhost",
      "[::1]",
      "10.0.0.1",
      "169.254.169.254",
      "[fd00::1]",
      "127.0.0.1.",
    ])
      refused(`https://${host}/jwks.json`);
    for (const host of ["93.184.215.14", "[2606:2800::1]", "xlocalhost.com", "localhost.example.com"])
      expect(() => remoteKeys(`https://${host}/jwks.json`), host).not.toThrow();
    expect(() => remoteKeys("https://10.1.2.3/", { allowedCidrs: ["10.1.0.0/16"] })).not.toThrow();
    refused("https://10.2.2.3/", { allowedCidrs: ["10.1.0.0/16"] });
    expect(() => remoteKeys("https://10.2.2.3/", { allowPrivateNetwork: true })).not.toThrow();
    expect(() => remoteKeys("https://10.2.2.3/", { transport })).not.toThrow();
    refused("https://10.2.2.3/", { transport, allowPrivateNetwork: false });
  });

  it("is https, or http on loopback where that is allowed, and carries no credentials", () => {
    const local = { allowInsecureLoopback: true };
    for (const url of ["http://127.0.0.1/a", "http://localhost:8080/a", "http://[::1]/a"]) {
      expect(() => remoteKeys(url, local), url).not.toThrow();
      refused(url);
      refused(url, { ...local, allowPrivateNetwork: false });
    }
    refused("http://keys.example.com/a", local);
    for (const url of ["ftp://127.0.0.1/a", "jwks.json", "", "file:///jwks.json"]) refused(url, local);
    for (const url of ["https://a@keys.example.com/", "https://:b@keys.example.com/"]) refused(url);
  });
});

describe("a document's keys", () => {
  const find = async (jwk: object, alg: "RS256" | "ES256" | "EdDSA", rules = {}) =>
    (await localKeys({ keys: [jwk] } as Jwks, rules).resolve((jwk as JWK).kid ?? "", alg)).ok;

  it("of one kind do not serve another algorithm, whichever is asked for first", async () => {
    const { alg: _, ...anyAlg } = rsa;
    const keys = localKeys({ keys: [anyAlg as JWK] }, { lenient: true });
    for (const alg of ["ES256", "RS256", "EdDSA", "RS256", "ES256"] as const)
      expect((await keys.resolve("r", alg)).ok, alg).toBe(alg === "RS256");
    const other = localKeys({ keys: [anyAlg as JWK] }, { lenient: true });
    for (const alg of ["RS256", "ES256"] as const)
      expect((await other.resolve("r", alg)).ok, alg).toBe(alg === "RS256");
  });

  it.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])(
    "have no member %s, not even an empty one",
    (name) => {
      for (const value of ["AQAB", "", null, undefined])
        expect(() => localKeys({ keys: [good, { ...rsa, [name]: value }] } as Jwks)).toThrow(
          `member ${name}`,
        );
    },
  );

  it("are not symmetric, at most 50, and in a list", async () => {
    expect(() => localKeys({ keys: [good, { kty: "oct", kid: "o" }] } as Jwks)).toThrow(
      "symmetric key (kty oct)",
    );
    const many = (count: number) => ({
      keys: Array.from({ length: count }, (_, n) => ({ ...good, kid: `k${n}` })),
    });
    expect(() => localKeys(many(50))).not.toThrow();
    expect(() => localKeys(many(51))).toThrow("more than 50 keys");
    for (const document of [null, 5, "keys", {}, { keys: {} }, [good]])
      expect(() => localKeys(document as never)).toThrow("no list of keys");
    expect(await find(good, "ES256")).toBe(true);
  });
});

describe("a host's answer", () => {
  const setOf = (publicJwks: () => unknown) => ({ publicJwks: async () => publicJwks() }) as KeySet;
  const get = (handler: ReturnType<typeof jwksHandler>, headers: Record<string, string> = {}) =>
    handler(new Request("http://x/", { headers }));

  it("shows a document that was changed in place, and one that is another", async () => {
    const open = { keys: [{ kid: "a" }] };
    const handler = jwksHandler(setOf(() => open));
    const first = await get(handler);
    expect(await first.json()).toEqual({ keys: [{ kid: "a" }] });
    open.keys[0] = { kid: "b" };
    const second = await get(handler);
    expect(await second.json()).toEqual({ keys: [{ kid: "b" }] });
    expect(second.headers.get("etag")).not.toBe(first.headers.get("etag"));
    const frozen = (kid: string) => Object.freeze({ keys: Object.freeze([Object.freeze({ kid })]) });
    const documents = [frozen("a"), frozen("a"), frozen("b")];
    const other = jwksHandler(setOf(() => documents.shift()));
    expect([
      await (await get(other)).json(),
      await (await get(other)).json(),
      await (await get(other)).json(),
    ]).toEqual(["a", "a", "b"].map((kid) => ({ keys: [{ kid }] })));
    // Frozen on one level only, and changed on the next.
    const outer = Object.freeze({ keys: [Object.freeze({ kid: "a" as string })] });
    const grown = jwksHandler(setOf(() => outer));
    await get(grown);
    outer.keys.push(Object.freeze({ kid: "b" }));
    expect((await (await get(grown)).json()).keys).toHaveLength(2);
    const inner: { keys: readonly object[] } = { keys: Object.freeze([Object.freeze({ kid: "a" })]) };
    const replaced = jwksHandler(setOf(() => inner));
    await get(replaced);
    inner.keys = Object.freeze([]);
    expect((await (await get(replaced)).json()).keys).toHaveLength(0);
    const mixed = Object.freeze({ keys: Object.freeze([Object.freeze({ kid: "a" }), { kid: "b" }]) });
    const partly = jwksHandler(setOf(() => mixed));
    await get(partly);
    (mixed.keys[1] as { kid: string }).kid = "c";
    expect((await (await get(partly)).json()).keys).toEqual([{ kid: "a" }, { kid: "c" }]);
    const halfFrozen = Object.freeze({ keys: Object.freeze([{ kid: "a" }]) });
    const half = jwksHandler(setOf(() => halfFrozen));
    await get(half);
    (halfFrozen.keys[0] as { kid: string }).kid = "c";
    expect(await (await get(half)).json()).toEqual({ keys: [{ kid: "c" }] });
  });

  it("is 304 without a type and a body for the tag it had, weak or in a list, and 200 for another", async () => {
    const handler = jwksHandler(createKeySet([await generateKey({ alg: "EdDSA" })]));
    const tag = (await get(handler)).headers.get("etag") ?? "";
    for (const tags of [tag, `W/${tag}`, `"x", ${tag}`, "*", ` ${tag} ,"y"`]) {
      const answer = await get(handler, { "If-None-Match": tags });
      expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
        304,
        null,
        "",
      ]);
      expect(answer.headers.get("etag")).toBe(tag);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
    }
    const inside = `${tag.slice(0, 5)}W/${tag.slice(5)}`;
    for (const tags of ['"x"', 'W/"x"', tag.slice(1, -1), `${tag}x`, "W/", inside]) {
      const answer = await get(handler, { "If-None-Match": tags });
      expect(answer.status, tags).toBe(200);
      expect((await answer.json()).keys, tags).toHaveLength(1);
      expect(answer.headers.get("content-type")).toBe("application/jwk-set+json");
    }
  });

  it("refuses another method and a max-age that is no whole number", async () => {
    const handler = jwksHandler(createKeySet([]), { maxAgeSeconds: 0 });
    const head = await handler(new Request("http://x/", { method: "HEAD" }));
    expect([head.status, await head.text(), head.headers.get("cache-control")]).toEqual([
      200,
      "",
      "public, max-age=0",
    ]);
    const post = await handler(new Request("http://x/", { method: "POST" }));
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    for (const maxAgeSeconds of [-1, 1.5, Number.NaN])
      expect(() => jwksHandler(createKeySet([]), { maxAgeSeconds })).toThrow(RangeError);
  });
});

/** The options of a reader of key sets, without what this file notes of its requests. */
function withoutLog(options: object): object {
  const { asked: _asked, ...others } = options as { asked?: unknown };
  return others;
}

describe("checkKeySet", () => {
  const outcomes = async (source: string | object, options: object = {}) => {
    const { ok, checks } = await checkKeySet(source, withoutLog(options));
    return { ok, ...Object.fromEntries(checks.map(({ rule, outcome }) => [rule, outcome])) } as Record<
      string,
      unknown
    >;
  };
  const fetched = (headers: [string, string][], more: Partial<Answer> = {}) =>
    outcomes(URL_OF_SET, answering({ keys: [good] }, { headers, ...more }));

  it.each<[value: string | undefined, outcome: string]>([
    ["application/jwk-set+json", "pass"],
    ["application/json", "pass"],
    ["Application/JSON ; charset=utf-8", "pass"],
    ["text/plain", "warn"],
    ["application/jsonp", "warn"],
    ["x-application/json", "warn"],
    [undefined, "warn"],
  ])("holds a Content-Type of %j to be a %s, and warns are no failures", async (value, outcome) => {
    const found = await fetched(value === undefined ? [] : [["Content-Type", value]]);
    expect(found).toMatchObject({
      ok: true,
      "content-type": outcome,
      json: "pass",
      reachable: "pass",
      https: "pass",
    });
  });

  it.each<[value: string | undefined, outcome: string]>([
    ["max-age=60", "pass"],
    ["public, max-age=600", "pass"],
    ['public,MAX-AGE = "300"', "pass"],
    ["max-age=59", "warn"],
    ["max-age=601", "warn"],
    ["s-max-age=300", "warn"],
    ["max-age=300, no-store", "warn"],
    ["No-Cache, max-age=300", "warn"],
    ["public", "warn"],
    [undefined, "warn"],
  ])("holds a Cache-Control of %j to be a %s", async (value, caching) => {
    expect(await fetched(value === undefined ? [] : [["cache-control", value]])).toMatchObject({
      ok: true,
      caching,
    });
  });

  it("joins two Cache-Control lines", async () => {
    expect(
      await fetched([
        ["Cache-Control", "public"],
        ["Cache-Control", "max-age=300"],
      ]),
    ).toMatchObject({ caching: "pass" });
  });

  it.each<[ms: number, time: string]>([
    [2_000, "pass"],
    [2_001, "warn"],
  ])("warns of a host that is slow: %i ms is a %s", async (ms, time) => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const { transport } = answering({ keys: [good] });
    const slow = async (request: never) => {
      vi.advanceTimersByTime(ms);
      return (transport as (one: never) => Promise<Answer>)(request);
    };
    expect(await outcomes(URL_OF_SET, { transport: slow })).toMatchObject({ ok: true, time });
  });

  it("stops at what cannot be read: status, size, JSON, transport, URL", async () => {
    expect(await fetched([], { status: 404 })).toEqual({ ok: false, https: "pass", reachable: "fail" });
    const cut = await fetched([], { truncated: true });
    expect(cut).toMatchObject({ ok: false, json: "fail" });
    expect(cut).not.toHaveProperty("keys");
    expect(await outcomes(URL_OF_SET, answering("{"))).toMatchObject({ ok: false, json: "fail" });
    const detail = async (source: string, options: object) =>
      (await checkKeySet(source, withoutLog(options))).checks.at(-1)?.detail;
    const utf8 = answering("", { body: Uint8Array.of(0xff) });
    expect(await detail(URL_OF_SET, utf8)).toBe("the body is not UTF-8");
    expect(await detail(URL_OF_SET, answering("{"))).toBe("the body is not JSON");
    expect(await detail(URL_OF_SET, answering({}, { truncated: true }))).toBe("more than 65536 bytes");
    const broken = async () => Promise.reject(new Error("secret detail"));
    expect(await outcomes(URL_OF_SET, { transport: broken })).toEqual({
      ok: false,
      https: "pass",
      reachable: "fail",
    });
    expect(await detail(URL_OF_SET, { transport: broken })).toBe("the transport failed");
    expect(await outcomes("ftp://keys.example.com/")).toEqual({ ok: false, https: "fail" });
    const insecure = { ...answering({ keys: [good] }), allowInsecureLoopback: true };
    expect((await checkKeySet("http://127.0.0.1/jwks.json", withoutLog(insecure))).checks[0]?.detail).toBe(
      "http, on loopback",
    );
  });

  it("takes 1 to 50 keys, each with one kid of at most 256 characters", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...good, kid: `k${n}` }));
    expect(await outcomes({ keys: many(50) })).toMatchObject({ ok: true, keys: "pass" });
    expect(await outcomes({ keys: many(51) })).toEqual({ ok: false, keys: "fail" });
    expect(await outcomes({ keys: [] })).toEqual({ ok: false, keys: "fail" });
    expect(await outcomes({})).toEqual({ ok: false, keys: "fail" });
    const kid = (value: unknown) => outcomes({ keys: [{ ...good, kid: value }] });
    expect(await kid("a".repeat(256))).toMatchObject({ kid: "pass" });
    for (const bad of ["a".repeat(257), "", 5, undefined])
      expect(await kid(bad)).toMatchObject({ ok: false, kid: "fail" });
    expect(await outcomes({ keys: [good, good] })).toMatchObject({ unique: "fail" });
    const { kid: _, ...nameless } = good;
    expect(await outcomes({ keys: [nameless, nameless] })).toMatchObject({ unique: "pass", kid: "fail" });
  });

  it("names the keys that break a rule", async () => {
    const keys = [
      good,
      { ...rsa, use: "signature" },
      null,
      { ...good, kid: "x", alg: "es256" },
      { ...rsa, kid: "enc", use: "enc" },
      { ...rsa, kid: "p", d: "" },
    ];
    const { checks } = await checkKeySet({ keys });
    const named = Object.fromEntries(checks.map((check) => [check.rule, check.keys]));
    expect(named).toMatchObject({
      private: ['"p"'],
      kid: ["number 3"],
      kty: ["number 3"],
      use: ['"r"', "number 3"],
      alg: ["number 3", '"x"'],
      unique: undefined,
      purpose: ['"enc"'],
    });
    expect(named.strength).toContain("number 3");
    expect(await outcomes({ keys: [{ ...good, x: good.y }] })).toMatchObject({ strength: "fail" });
    const { alg: __, ...anyAlg } = rsa;
    expect(await outcomes({ keys: [anyAlg] })).toMatchObject({ alg: "fail", strength: "pass" });
    const ed = testKey("EdDSA").jwk;
    const { alg: ___, ...anyEd } = ed;
    expect(await outcomes({ keys: [anyEd] })).toMatchObject({ alg: "fail", strength: "pass" });
  });
});
