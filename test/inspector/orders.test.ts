import { once } from "node:events";
import { connect } from "node:net";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import { createInspector, createService, startListeners } from "hookproof-service";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { TestEventResult } from "../../service/src/inspector/contract.js";
import { forcedAnswers } from "../../service/src/inspector/forced-answers.js";
import { runCertificates } from "../kit/certificates.js";
import { answerTo, inspected } from "./inspected.js";

describe("a test event", () => {
  it("is signed as the listener demands, and arrives as every other", async () => {
    const { change, list, detail } = await inspected();
    const answer = await change("POST", "api/test-event", { listenerId: "lst_1" });
    expect(answer.json<TestEventResult>()).toMatchObject({ status: 200, n: 1 });
    expect((await list()).rows[0]).toMatchObject({ isTest: true, status: 200, eventType: "user.offboarded" });
    expect((await detail(1)).steps.every(({ state }) => state === "passed")).toBe(true);
  });

  it("is impossible where there is nothing to sign with", async () => {
    const keys = localKeys(await createKeySet([await generateKey({ alg: "ES256", kid: "k" })]).publicJwks());
    const { change, list } = await inspected({
      listeners: (baseUrl) => [{ listener: { id: "lst_1", baseUrl, auth: { method: "jwt", keys } } }],
    });
    expect((await change("POST", "api/test-event", { listenerId: "lst_1" })).status).toBe(409);
    expect((await list()).total).toBe(0);
  });
});

describe("a forced answer", () => {
  it("has a body and header lines of its own, for so many requests", async () => {
    const { change, post } = await inspected();
    const headers = [
      ["Content-Type", "text/plain"],
      ["X-Trace", "7"],
    ];
    const order = { listenerId: "lst_1", status: 429, headers, body: "slow down", retryAfterSeconds: 3 };
    expect((await change("PUT", "api/forced-answer", order)).status).toBe(200);
    const { status, text, headers: answered } = await post();
    expect([status, text]).toEqual([429, "slow down"]);
    expect(answered).toMatchObject({ "content-type": "text/plain", "x-trace": "7", "retry-after": "3" });
    expect((await post()).status).toBe(200);
  });

  it("may hold for a time, whatever comes", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const forced = forcedAnswers(() => {});
    forced.set({ listenerId: "lst_1", body: "own", seconds: 60 });
    const answer = { status: 200, headers: [], body: "{}", verdict: { ok: false } as never };
    expect((await forced.apply("lst_1", answer)).body).toBe("own");
    expect(forced.current).toMatchObject([{ seconds: 60, until: Date.now() + 60_000 }]);
    vi.advanceTimersByTime(59_999);
    expect((await forced.apply("lst_1", answer)).body).toBe("own");
    vi.advanceTimersByTime(1);
    expect(forced.current).toEqual([]);
    expect(await forced.apply("lst_1", answer)).toBe(answer);
  });

  it("may have a header line twice", async () => {
    const { change, post } = await inspected();
    const headers = [
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
    ];
    await change("PUT", "api/forced-answer", { listenerId: "lst_1", headers });
    expect((await post()).headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  });
});

describe("a request that Node itself refuses", () => {
  it.each([
    ["431", `POST /big HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, /more than 16 KiB/],
    ["400", "POST / HTTP/1.1\r\nno colon\r\n\r\n", /no HTTP\/1\.1 request/],
    ["400", "\u0016\u0003\u0001\u0002\u0000\u0001", /no HTTP\/1\.1 request/],
    ["400", "POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", /no HTTP/],
  ])("is listed with %s and why", async (status, text, reason) => {
    const { url, list, detail } = await inspected();
    expect(await answerTo(url, text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const [row] = (await list()).rows;
    expect(row).toMatchObject({ status: Number(status), isUnread: true });
    expect(row?.reason).toMatch(reason);
    expect(row?.bodyBytes).toBeLessThanOrEqual(4_096);
    expect((await detail(1)).steps).toEqual([]);
  });

  it("is not listed where a handler tells of it, or a connection was only closed", async () => {
    const { url, list, post } = await inspected();
    const path = new URL(url).pathname;
    await answerTo(url, `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`);
    const { hostname, port } = new URL(url);
    await once(connect(Number(port), hostname).end().resume(), "close");
    await post();
    expect((await list()).rows.filter(({ isUnread }) => isUnread)).toEqual([]);
  });
});

describe("who is told of it", () => {
  it("nobody of a TLS handshake that never came: there was no request, and no answer", async () => {
    const inspector = await createInspector();
    const server = await startListeners({
      inspector,
      tls: runCertificates().alone,
      limits: { headersMs: 100, checkEveryMs: 50 },
      listeners: () => [],
    });
    onTestFinished(() => server.stop());
    onTestFinished(() => inspector.close());
    expect(await answerTo(server.url, "")).toBe("");
    expect(inspector.list().rows).toEqual([]);
  });

  it("the inspector and whoever else asked", async () => {
    const inspector = await createInspector();
    const told: string[] = [];
    const server = await startListeners({
      inspector,
      listeners: () => [],
      onRefused: ({ code }) => void told.push(code),
    });
    onTestFinished(() => server.stop());
    onTestFinished(() => inspector.close());
    await answerTo(server.url, "no HTTP\r\n\r\n");
    expect(told).toHaveLength(1);
    expect(inspector.list().rows).toMatchObject([{ isUnread: true }]);
    const service = await createService({ inspector, onRefused: ({ code }) => void told.push(code) });
    onTestFinished(() => service.stop());
    await answerTo(service.url, "no HTTP\r\n\r\n");
    expect(told).toHaveLength(2);
    expect(inspector.list().rows).toHaveLength(2);
  });
});

describe("a body that was not read to its end", () => {
  it("is said to be cut, and its signature is compared with nothing", async () => {
    const { post, list, detail } = await inspected();
    await post({ body: "x".repeat(200_000) });
    expect((await list()).rows[0]).toMatchObject({ status: 413, isCut: true });
    const { hmac, steps } = await detail(1);
    expect(hmac).not.toHaveProperty("expected");
    expect(hmac).not.toHaveProperty("canonicalBase64");
    expect(hmac?.received).toHaveLength(43);
    expect(steps.find(({ step }) => step === "size")?.seen).toBe("200000 bytes (Content-Length)");
  });
});

describe("an order that does not fit", () => {
  const FORCED = { listenerId: "lst_1", status: 503 };
  it.each<[method: string, path: string, order: unknown, message: string]>([
    ["PUT", "forced-answer", { ...FORCED, retryAfterSecond: 3 }, "retryAfterSecond is not known here."],
    ["PUT", "forced-answer", { listenerId: "lst_1", stauts: 503 }, "stauts is not known here."],
    ["PUT", "forced-answer", { status: 503 }, "listenerId is the listener's id."],
    [
      "PUT",
      "forced-answer",
      { listenerId: "lst_1", times: 2 },
      "status, delayMs, headers or body says what is forced.",
    ],
    ["PUT", "forced-answer", { ...FORCED, status: 199 }, "status is a whole number from 200 to 599."],
    ["PUT", "forced-answer", { ...FORCED, times: 1.5 }, "times is a whole number from 1 to 1000."],
    [
      "PUT",
      "forced-answer",
      { ...FORCED, headers: [["Content-Length", "1"]] },
      "The header Content-Length is the server's own.",
    ],
    [
      "PUT",
      "forced-answer",
      { ...FORCED, headers: new Array(21).fill(["a", "b"]) },
      "headers are pairs, 20 at most.",
    ],
    ["PUT", "requests/1/mark", { pined: true }, "pined is not known here."],
    ["PUT", "requests/1/mark", {}, "pinned or note says what is marked."],
    ["PUT", "requests/1/mark", { note: "😀".repeat(251) }, "note is a text of at most 500 characters."],
    ["POST", "requests/1/replay", [], "kind is same-id, exact, new-id or edit."],
    ["POST", "requests/1/replay", { kind: "again" }, "kind is same-id, exact, new-id or edit."],
    ["POST", "requests/1/replay", { kind: "edit" }, "bodyBase64 is the body in base64."],
    ["POST", "requests/1/replay", { kind: "edit", bodyBase64: "-" }, "bodyBase64 is the body in base64."],
    [
      "POST",
      "requests/1/replay",
      { kind: "edit", bodyBase64: "", headers: [["a"]] },
      "headers are pairs of a name and a value.",
    ],
    [
      "POST",
      "requests/1/replay",
      { kind: "edit", bodyBase64: "", eventId: "a\nb" },
      "eventId is one line of text that a header can carry.",
    ],
    ["POST", "test-event", { listener: "lst_1" }, "listener is not known here."],
  ])("%s %s is refused with what is wrong: %j", async (method, path, order, message) => {
    const { change, post } = await inspected();
    await post();
    const answer = await change(method, `api/${path}`, order);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ code: "ORDER_INVALID", message });
  });
});
