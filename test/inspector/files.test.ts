import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { ImportResult, RequestDetail } from "../../service/src/inspector/contract.js";
import { readImport } from "../../service/src/inspector/import-file.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { answerTo, inspected, send } from "./inspected.js";

const HOSTILE = '<script>alert("1")</script>';

/** A listener that has met an accepted event, a duplicate, a refused one, and one whose body is no text. */
async function withRequests() {
  const one = await inspected();
  const { eventId } = await one.post({
    payload: { text: HOSTILE, umlaut: "ä" },
    headers: { Cookie: "session=1" },
  });
  await one.post({ eventId });
  await one.post({ body: '{"a":2}' });
  await one.post({ body: Uint8Array.of(0xff, 0x00, 0xfe) });
  await fetch(`${one.url}?a=1&b=%20`);
  for (const n of [1, 2, 3, 4, 5]) await one.detail(n);
  return one;
}

const PYTHON = "/usr/bin/python3";
const hasPython = hasTool(PYTHON, "-c", "import json");

function harProblems(har: string): string {
  const { stdout, stderr } = spawnSync(PYTHON, ["test/inspector/check_har.py"], {
    input: har,
    encoding: "utf8",
  });
  return stderr + stdout;
}

describe("an exported file", () => {
  itWith("python3", hasPython)("is HAR 1.2, by an independent reading of its specification", async () => {
    const { call } = await withRequests();
    const answer = await call("api/export?format=har");
    expect(answer.headers["content-disposition"]).toBe("attachment; filename=hookproof-requests.har");
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(harProblems(answer.text)).toBe("");
    expect(answer.json<{ log: { entries: unknown[] } }>().log.entries).toHaveLength(5);
    expect(harProblems(answer.text.replace('"redirectURL":"",', ""))).toContain("redirectURL is missing");
  });

  it("is JSON Lines, oldest first, and one request or what a search finds", async () => {
    const { call } = await withRequests();
    const lines = async (query: string) =>
      (await call(`api/export?${query}`)).text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    expect((await lines("")).map(({ n, status }) => [n, status])).toEqual([
      [1, 200],
      [2, 409],
      [3, 401],
      [4, 401],
      [5, 405],
    ]);
    expect((await lines("status=4xx&q=%22a%22")).map(({ n }) => n)).toEqual([2, 3]);
    expect((await lines("n=3")).map(({ n }) => n)).toEqual([3]);
  });

  it.each(["jsonl", "har"])("has no signature, token or cookie in it unless asked: %s", async (format) => {
    const { call, detail, token } = await withRequests();
    const { hmac } = await detail(3);
    const [redacted, whole] = [
      (await call(`api/export?format=${format}`)).text,
      (await call(`api/export?format=${format}&credentials=1`)).text,
    ];
    expect(redacted).toContain("[redacted]");
    for (const text of [hmac?.received ?? "", "session=1"]) {
      expect(redacted).not.toContain(text);
      expect(whole).toContain(text);
    }
    // What the secret would have given is nobody's business, and the page's token even less.
    for (const text of [hmac?.expected ?? "", token]) expect(redacted + whole).not.toContain(text);
  });

  it.each(["jsonl", "har"])(
    "nor one of a request that Node refused, or of another scheme: %s",
    async (format) => {
      const { call, url, list } = await inspected();
      const token = "eyJhbGciOiJFUzI1NiJ9.e30.AAAA";
      const refused = `POST / HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nno colon\r\n\r\n`;
      await answerTo(url, refused);
      await send(url, {
        method: "POST",
        headers: { Signature: "sig1=:c2VjcmV0:", "X-Hub-Signature-256": "sha256=c0ffee" },
      });
      await send(url, { method: "POST", headers: { "Signature-Input": "sig1=()" }, body: token });
      expect((await list()).rows).toHaveLength(3);
      const { text } = await call(`api/export?format=${format}`);
      for (const secret of [
        "AAAA",
        "c2VjcmV0",
        "c0ffee",
        Buffer.from(refused).toString("base64").slice(60, 90),
      ])
        expect(text).not.toContain(secret);
      expect(text).toContain("sig1=()");
      const bodies = text
        .match(/"bodyBase64":"([^"]*)"/g)
        ?.map((one) => Buffer.from(one.slice(14, -1), "base64").toString());
      if (format === "jsonl") expect(bodies?.at(-1)).toBe(`${token.slice(0, -4)}[redacted]`);
      const whole = (await call(`api/export?format=${format}&credentials=1`)).text;
      expect(whole).toContain("c2VjcmV0");
    },
  );

  it.each(["jsonl", "har"])("nor one that stands in another place: %s", async (format) => {
    const { call, url } = await inspected();
    const token = "eyJhbGciOiJFUzI1NiJ9.e30.QUFBQQ";
    const headers = {
      "X-Forwarded-Authorization": "Basic c2VjcmV0MQ",
      "X-Goog-IAP-JWT-Assertion": "c2VjcmV0Mg",
      "X-Hmac-Sha256": "c2VjcmV0Mw",
      "X-Forwarded": token,
      DPoP: "c2VjcmV0NA",
    };
    const target = `${url}?access_token=c2VjcmV0NQ&api_key=c2VjcmV0Ng&a=1&t=${token}`;
    await send(target, { method: "POST", headers, body: JSON.stringify(token) });
    await send(url, { method: "POST", body: `{"set":"${token}","host":"eyes.example.com"}\u00ff` });
    const { text } = await call(`api/export?format=${format}`);
    const bodies = [...text.matchAll(/"bodyBase64":"([^"]*)"/g)].map(([, one]) =>
      Buffer.from(one ?? "", "base64").toString(),
    );
    const all = [text, ...bodies].join("\n");
    for (const secret of ["QUFBQQ", "c2VjcmV0"]) expect(all).not.toContain(secret);
    expect(all).toContain(
      "?access_token=[redacted]&api_key=[redacted]&a=1&t=eyJhbGciOiJFUzI1NiJ9.e30.[redacted]",
    );
    expect(all).toContain("eyes.example.com");
    expect(all).toContain("\u00ff");
  });

  it.each(["jsonl", "har"])("comes back as it was: %s", async (format) => {
    const from = await withRequests();
    const file = (await from.call(`api/export?format=${format}&credentials=1`)).text;
    const to = await inspected();
    await to.post();
    const { call, change, page, token } = to;
    const imported = await call("api/import", {
      method: "POST",
      headers: { Origin: page.url, "Inspector-Token": token },
      body: file,
    });
    expect(imported.json<ImportResult>()).toEqual({ imported: 5, skipped: 0 });
    expect((await to.list()).total).toBe(6);
    for (const n of [1, 2, 3, 4, 5]) {
      const [old, now] = [await from.detail(n), await to.detail(n + 1)];
      const same = ({
        headers,
        bodyBase64,
        status,
        code,
        steps,
        mistakes,
        reason,
        at,
        answer,
      }: RequestDetail) => ({
        headers,
        bodyBase64,
        status,
        code,
        steps,
        mistakes,
        reason,
        at,
        answer,
      });
      expect(same(now)).toEqual(same(old));
      expect(now.imported).toBe(true);
    }
    expect((await to.detail(3)).duplicateOf).toBe(2);
    expect((await change("POST", "api/requests/2/replay", { kind: "same-id" })).json()).toMatchObject({
      status: 200,
    });
  });
});

describe("a file that is imported", () => {
  const har = (requests: object[]) => JSON.stringify({ log: { entries: requests } });
  const entry = (url: string, status: number, more = {}) => ({
    startedDateTime: "2026-01-01T00:00:00.000Z",
    time: 12,
    request: {
      method: "POST",
      url,
      headers: [
        { name: ":path", value: "/" },
        { name: "content-type", value: "application/json" },
        { name: "Webhook-Timestamp", value: "1767225600" },
        { name: "Webhook-Event-Id", value: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" },
        { name: "Webhook-Signature", value: "7-54msTR9uMmvhpr3-qGIc2iObvDWsxrUQcu01JjJ3k" },
      ],
      postData: { mimeType: "application/json", text: '{"type":"user.offboarded","userId":"u_123"}' },
    },
    response: { status, headers: [], content: {} },
    ...more,
  });

  it("may be another tool's HAR: the checks are made as of its time", async () => {
    const { inspector } = await inspected();
    const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
    const text = har([
      entry(url, 200),
      entry("https://elsewhere.example/", 200),
      entry(url, 401),
      entry(url, 500),
    ]);
    expect(await inspector.imported(text)).toEqual({ imported: 3, skipped: 1 });
    const details = await Promise.all([1, 2, 3].map((n) => inspector.detail(n)));
    expect(details.map((one) => one?.reason)).toEqual([
      "accepted",
      "answered 401 Unauthorized",
      "answered 500 Internal Server Error",
    ]);
    expect(details[0]?.steps.find(({ step }) => step === "signature")?.state).toBe("passed");
    expect(details[0]?.steps.find(({ step }) => step === "replay")?.state).toBe("not-reached");
    expect(details[0]?.headers).toHaveLength(4);
  });

  it("is taken for data, whatever it says", async () => {
    const { inspector } = await inspected();
    const line = (change: object) =>
      JSON.stringify({
        v: 1,
        type: "request",
        at: 1,
        status: 200,
        method: "POST",
        url: "/api/v1/webhooks/incoming/lst_1",
        headers: [["A", HOSTILE]],
        bodyBase64: "e30=",
        ...change,
      });
    const lines = [
      line({
        n: 1e6,
        imported: "no",
        reason: HOSTILE,
        checks: [{ step: 1 }, null, { step: "key", ok: true, rule: HOSTILE }],
      }),
      line({ url: "http://169.254.169.254/latest/../x?y#z", headers: [["A"], "B", [1, 2], ["C", "d\r\ne"]] }),
      line({ status: 99 }),
      line({ at: "1" }),
      line({ headers: {} }),
      line({ bodyBase64: "A".repeat(400_000) }),
      line({ demanded: { auth: "hmac", expected: "forged", secretFingerprints: ["forged"] } }),
      '{"__proto__":{"polluted":1}}',
      "null",
    ];
    expect(await inspector.imported(lines.join("\n"))).toEqual({ imported: 3, skipped: 6 });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(inspector.list().rows.map(({ n }) => n)).toEqual([3, 2, 1]);
    const second = await inspector.detail(2);
    expect(second?.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/latest\/\.\.\/x\?y#z$/);
    expect(JSON.stringify(await inspector.detail(3))).not.toContain("forged");
    await expect(inspector.replay(1, { kind: "exact" })).rejects.toMatchObject({ code: "LISTENER_UNKNOWN" });
  });

  it("may have objects for texts, also such as have no text", async () => {
    const noText = { toString: 1, valueOf: 1 };
    const line = { v: 1, type: "request", at: 1, status: 401, method: "POST", url: "/", headers: [] };
    const entry = { ...line, bodyBase64: "", code: noText, reason: noText };
    expect(readImport(JSON.stringify(entry)).entries).toMatchObject([{ row: { reason: "accepted" } }]);
    const url = "http://x/api/v1/webhooks/incoming/lst_1";
    const har = { startedDateTime: noText, request: { method: "POST", url } };
    expect(readImport(JSON.stringify({ log: { entries: [har] } }))).toEqual({ entries: [], skipped: 1 });
  });

  it("may have no time that no calendar has: the page and the next export could not write it", async () => {
    const { inspector, call } = await inspected();
    const line = (at: number) =>
      JSON.stringify({
        v: 1,
        type: "request",
        at,
        status: 200,
        method: "POST",
        url: "/",
        headers: [],
        bodyBase64: "",
      });
    const last = 8_640_000_000_000_000;
    expect(await inspector.imported(`${line(last)}\n${line(last + 1)}`)).toEqual({ imported: 1, skipped: 1 });
    expect((await call("api/export?format=har")).json()).toMatchObject({ log: { entries: [{}] } });
  });

  it("has its bounds", async () => {
    const { inspector } = await inspected();
    const lines = Array<string>(5_001).fill("{}").join("\n");
    await expect(inspector.imported(lines)).rejects.toMatchObject({ status: 400, code: "IMPORT_INVALID" });
    await expect(inspector.imported(har([]))).rejects.toMatchObject({ code: "IMPORT_INVALID" });
    expect(inspector.list().total).toBe(0);
  });
});
