import { type AddressInfo, createServer } from "node:net";
import type { Transport } from "hookproof";
import { generateKey } from "hookproof/jwks";
import { type ProbeTarget, probes, selectProbes } from "hookproof/probes";
import { fixedClock } from "hookproof/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Pace } from "../../../src/doctor/probes/pace.js";
import { hmacKits } from "../../../src/doctor/probes/requests.js";
import { HMAC_SUITE } from "../../../src/doctor/probes/run-probes.js";
import { sendProbe } from "../../../src/doctor/probes/send-probe.js";
import { createTransport } from "../../../src/http/transport-fetch.js";
import { idsOf, type Probed, resultsOf, SECRET, startHmac, startJwt } from "../../kit/probes/listeners.js";

/** It stands still: on a slow machine a request that is a second too late would arrive in time. */
const clock = fixedClock(Date.now());
let probed: Probed;
beforeAll(async () => {
  probed = await startHmac(clock);
});
afterAll(() => probed.stop());

/** A transport that answers every request with this status and counts them. */
function answering(status: number): Transport & { readonly asked: string[] } {
  const asked: string[] = [];
  const transport: Transport = async ({ url }) => {
    asked.push(url);
    return { status, headers: [], body: new Uint8Array(), truncated: false };
  };
  return Object.assign(transport, { asked });
}

describe("the test suite as data", () => {
  it("has at least forty probes for each method, under ids of their own", () => {
    expect(selectProbes({ method: "hmac" }).length).toBeGreaterThanOrEqual(40);
    expect(selectProbes({ method: "jwt" }).length).toBeGreaterThanOrEqual(40);
    expect(new Set(probes.map(({ id }) => id)).size).toBe(probes.length);
    for (const { id, section } of probes) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(section).toMatch(/^[3-8](?:\.[0-9]+)?$/);
    }
  });

  it("names the decision wherever the specification leaves something open, and only there", () => {
    const named = probes.filter(({ decision }) => decision !== undefined).map(({ id }) => id);
    expect(probes.filter(({ listenerChoice }) => listenerChoice !== "none").map(({ id }) => id)).toEqual(
      named,
    );
  });

  it.each([
    ["timestamp-too-old", 1],
    ["timestamp-*", "some"],
    ["*", "all"],
    [
      "*-of-*-secret",
      ["signature-of-other-secret", "signature-of-decoded-secret", "signature-of-empty-secret"],
    ],
  ])("is chosen from by patterns: %s", (only, wanted) => {
    const ids = selectProbes({ method: "hmac", only }).map(({ id }) => id);
    if (wanted === "all") expect(ids).toEqual(selectProbes({ method: "hmac" }).map(({ id }) => id));
    else if (wanted === "some") expect(ids.length).toBeGreaterThan(5);
    else if (typeof wanted === "number") expect(ids).toEqual([only]);
    else expect(ids).toEqual(wanted);
  });

  it("refuses a pattern that fits nothing", async () => {
    expect(() => selectProbes({ method: "hmac", only: "timestamp" })).toThrow(
      new RangeError('only has a pattern that fits no probe: "timestamp"'),
    );
    expect(() => selectProbes({ only: "body-*-nan" })).toThrow(RangeError); // body-nan has one hyphen only
    await expect(resultsOf(probed.target, { skip: ["timestamp-*", "a*b"] })).rejects.toThrow(
      new RangeError('skip has a pattern that fits no probe: "a*b"'),
    );
  });
});

describe("a run", () => {
  it("never runs the automation of a correct listener unless it may", async () => {
    const before = probed.runs();
    const results = await resultsOf(probed.target, { clock });
    expect(probed.runs()).toBe(before);
    const skipped = results.filter(({ skipped }) => skipped === "would-trigger");
    const running = selectProbes({ method: "hmac" }).filter(({ runsAutomation }) => runsAutomation);
    expect(skipped.map(({ id }) => id)).toEqual(running.map(({ id }) => id));
    expect(idsOf(results, "fail", "unclear")).toEqual([]);

    await resultsOf(probed.target, { only: "correct-request", allowTrigger: true, clock });
    expect(probed.runs()).toBe(before + 1);
  });

  it("yields in the order of the suite, whatever the concurrency", async () => {
    const results = await resultsOf(probed.target, { concurrency: 16 });
    expect(results.map(({ id }) => id)).toEqual(selectProbes({ method: "hmac" }).map(({ id }) => id));
  });

  it("says of a failure what it means and how to put it right", async () => {
    const [result] = await resultsOf(probed.target, { only: "timestamp-too-old", transport: answering(200) });
    expect(result).toMatchObject({
      outcome: "fail",
      expected: [400],
      status: 200,
      means: expect.stringContaining("replayed"),
      fix: expect.stringContaining("300"),
    });
  });

  it("ends after the first failure with bail", async () => {
    const results = await resultsOf(probed.target, { bail: true, concurrency: 1, transport: answering(204) });
    expect(idsOf(results, "fail")).toHaveLength(1);
    expect(results.at(-1)?.outcome).toBe("fail");
  });

  it("takes any server error for a failure, also where the listener may choose the answer", async () => {
    const results = await resultsOf(probed.target, { transport: answering(500) });
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(["fail", "skip"]));
  });

  it("takes a limit of rate for unclear", async () => {
    const [result] = await resultsOf(probed.target, { only: "proof-missing", transport: answering(429) });
    expect(result?.outcome).toBe("unclear");
    // What the probe says of a listener that fails it is not said of a rate limit.
    expect(result).toMatchObject({
      means: "A rate limit has answered, and nothing is known of the rest.",
      fix: "Take the limit away for this test, or send fewer probes.",
    });
  });

  it("keeps to Retry-After, and is done as if there were no limit", async () => {
    const waits: number[] = [];
    let left = 20;
    const transport: Transport = async (request) => {
      if (left-- <= 0) return { ...(await answering(429)(request)), headers: [["Retry-After", "7"]] };
      return createTransport()(request);
    };
    const wait = async (ms: number) => {
      waits.push(ms);
      left = 20;
    };
    const results = await resultsOf(probed.target, {
      transport,
      wait,
      allowTrigger: true,
      skip: "*-sent-twice",
      clock,
    });
    expect(idsOf(results, "fail", "unclear")).toEqual([]);
    expect(waits.length).toBeGreaterThan(3);
    expect(new Set(waits)).toEqual(new Set([7_000]));
  });

  it("waits two minutes at most, and not at all where an answer asks for more", async () => {
    for (const [retryAfter, wanted] of [
      ["50", [50_000, 50_000]],
      ["600", []],
    ] as const) {
      const waits: number[] = [];
      await resultsOf(probed.target, {
        transport: async (request) => ({
          ...(await answering(429)(request)),
          headers: [["Retry-After", retryAfter]],
        }),
        wait: async (ms) => void waits.push(ms),
      });
      expect(waits).toEqual(wanted);
    }
  });

  it("waits where a 503 names a time twice, for the longest", async () => {
    const waits: number[] = [];
    await resultsOf(probed.target, {
      only: "proof-missing",
      transport: async (request) => ({
        ...(await answering(503)(request)),
        headers: [
          ["Retry-After", "3"],
          ["Retry-After", "7"],
        ],
      }),
      wait: async (ms) => void waits.push(ms),
    });
    expect(new Set(waits)).toEqual(new Set([7_000]));
  });

  it("skips with fetch what fetch cannot send", async () => {
    const probe = HMAC_SUITE.find(({ id }) => id === "signature-sent-twice");
    if (!probe) throw new Error("the probe is gone");
    const result = await sendProbe(probe, hmacKits(SECRET), {
      url: probed.target.url,
      baseUrl: new URL(probed.target.url).origin,
      allowTrigger: false,
      transport: createTransport(),
      keepsHeaderLines: false,
      clock: { now: Date.now },
      timeoutMs: 10_000,
      signal: undefined,
      pace: new Pace({ now: Date.now }, async () => {}),
      progress: { answered: false },
    });
    expect(result).toMatchObject({ outcome: "skip", skipped: "cannot-send" });
  });

  it("passes over fetch as well, where fetch can send it", async () => {
    const results = await resultsOf(probed.target, {
      transport: createTransport(),
      allowTrigger: true,
      skip: "*-sent-twice",
      clock,
    });
    expect(idsOf(results, "fail")).toEqual([]);
  });

  it("skips what an earlier request would have had to prepare", async () => {
    const options = { only: "event-id-processed", allowTrigger: true, transport: answering(401) };
    const [result] = await resultsOf(probed.target, options);
    expect(result).toMatchObject({
      outcome: "skip",
      skipped: "not-prepared",
      reason: "the request before it was answered 401, not 200",
    });
  });

  it("signs tokens by a function, and skips what needs the public key then", async () => {
    const key = await generateKey({ alg: "ES256" });
    const jwt = await startJwt(key, clock);
    const imported = await crypto.subtle.importKey(
      "jwk",
      key.privateJwk,
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign"],
    );
    const sign = async (bytes: Uint8Array) =>
      new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, imported, bytes.slice()));
    try {
      const auth = { method: "jwt", key: sign, kid: key.kid, alg: key.alg } as const;
      const results = await resultsOf({ url: jwt.target.url, auth }, { allowTrigger: true, clock });
      expect(idsOf(results, "fail", "unclear")).toEqual([]);
      expect(idsOf(results, "skip")).toEqual(["alg-hs256-public-pem", "alg-hs256-public-jwk", "alg-ed25519"]);
    } finally {
      await jwt.stop();
    }
  });
});

describe("probes about an exact second", () => {
  const only = "timestamp-300-s-old";
  const options = { only, allowTrigger: true };

  it("are asked again when a second passes meanwhile", async () => {
    let ticks = 0;
    let asked = 0;
    const transport: Transport = async (request) => {
      if (asked++ === 0) ticks++;
      return answering(asked === 1 ? 400 : 200)(request);
    };
    const clock = { now: () => 1_767_225_600_000 + ticks * 1000 };
    const [result] = await resultsOf(probed.target, { ...options, transport, clock });
    expect({ outcome: result?.outcome, asked }).toEqual({ outcome: "pass", asked: 2 });
  });

  it("are unclear when a second passes every time", async () => {
    let ticks = 0;
    const transport = answering(400);
    const clock = { now: () => 1_767_225_600_000 + ticks++ * 1000 };
    const [result] = await resultsOf(probed.target, { ...options, transport, clock });
    expect(result).toMatchObject({
      outcome: "unclear",
      reason: "no answer came within one second of the clock",
    });
    expect(transport.asked).toHaveLength(4);
  });

  it("are unclear when the listener's clock is off, and only then", async () => {
    const clock = { now: () => 1_767_225_600_000 };
    const dated =
      (date: string): Transport =>
      async (request) => ({
        ...(await answering(400)(request)),
        headers: [["Date", date]],
      });
    const off = dated("Thu, 01 Jan 2026 00:00:02 GMT");
    expect(await resultsOf(probed.target, { ...options, clock, transport: off })).toMatchObject([
      { outcome: "unclear", reason: "the listener's clock is 2 s off this one's" },
    ]);
    const right = dated("Thu, 01 Jan 2026 00:00:00 GMT");
    expect(await resultsOf(probed.target, { ...options, clock, transport: right })).toMatchObject([
      { outcome: "fail" },
    ]);
  });
});

describe("answers that need a second look", () => {
  it("asks again where a request was sent twice on the way", async () => {
    let asked = 0;
    const transport: Transport = async (request) =>
      asked++ === 0 ? { ...(await answering(409)(request)), resent: true } : answering(200)(request);
    const [result] = await resultsOf(probed.target, {
      only: "correct-request",
      allowTrigger: true,
      transport,
    });
    expect({ outcome: result?.outcome, asked }).toEqual({ outcome: "pass", asked: 2 });
  });

  it.each([
    [[200, 409, 409, 503, 409], "pass"],
    [[200, 200, 409, 409, 409], "fail"],
    [[409, 409, 409, 409, 409], "fail"],
    [[200, 400, 409, 409, 409], "fail"],
    [[429, 429, 429, 429, 200], "unclear"],
  ] as const)("holds copies against each other: %j is a %s", async (statuses, outcome) => {
    let asked = 0;
    const transport: Transport = (request) => answering(statuses[asked++] ?? 0)(request);
    const options = { only: "event-id-copies-at-once", allowTrigger: true, transport };
    expect(await resultsOf(probed.target, options)).toMatchObject([{ outcome }]);
  });
});

describe("a target that cannot be probed", () => {
  const auth = { method: "hmac", secret: SECRET } as const;

  it("is an error where nothing ever answers", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
    await expect(resultsOf({ url, auth })).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  });

  it("is a failure where it answered before and does not any more", async () => {
    let asked = 0;
    const transport: Transport = async (request) => {
      if (asked++ === 0) return answering(400)(request);
      throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
    };
    const results = await resultsOf(probed.target, { transport, only: "event-id-*", concurrency: 1 });
    const sent = results.filter(({ outcome }) => outcome !== "skip");
    expect(sent[0]?.outcome).toBe("pass");
    expect(sent[1]).toMatchObject({ outcome: "fail", failure: "CONNECTION_FAILED" });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a URL that is not a listener's", { url: "https://example.com/", auth }, "LISTENER_URL_INVALID"],
    ["plain HTTP", { url: "http://example.com/api/v1/webhooks/incoming/a", auth }, "TLS_REQUIRED"],
    ["an empty secret", { auth: { method: "hmac", secret: "" } }, "SECRET_INVALID"],
    [
      "a key of another kind",
      { auth: { method: "jwt", key: { kty: "oct", k: "AAAA" }, kid: "a", alg: "ES256" } },
      "KEY_UNFIT",
    ],
    [
      "another tenant's base URL",
      {
        auth: {
          method: "jwt",
          key: async () => new Uint8Array(),
          kid: "a",
          alg: "ES256",
          baseUrl: "https://other.example.com",
        },
      },
      "BASE_URL_MISMATCH",
    ],
  ])("is refused: %s", async (_name, change, code) => {
    const target = { ...probed.target, ...change } as ProbeTarget;
    await expect(resultsOf(target)).rejects.toMatchObject({ code });
  });

  it("is refused by name where the call is wrong", async () => {
    const unknown = { url: probed.target.url, auth: { method: "basic" } } as unknown as ProbeTarget;
    await expect(resultsOf(unknown)).rejects.toThrow(new TypeError("target.auth.method must be hmac or jwt"));
    await expect(resultsOf(probed.target, { concurrency: 0 })).rejects.toThrow(RangeError);
  });

  it("ends when the caller aborts", async () => {
    await expect(resultsOf(probed.target, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });
});
