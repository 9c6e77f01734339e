import { createHmac } from "node:crypto";
import { mistakes as catalogue } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";
import type { RequestDetail } from "../../service/src/inspector/contract.js";
import { inspected, SECRET } from "./inspected.js";

const BEFORE_SIGNATURE = [
  ...["listener", "method", "headers", "source", "size"],
  ...["timestamp", "event-id", "content-type", "window"],
];
const BODY = '{"type":"user.offboarded","userId":"u_123"}';

describe("what is recorded of a request", () => {
  it("an accepted one: every step, the canonical string, the answer and the run", async () => {
    const { post, list, detail } = await inspected();
    const { eventId } = await post({ payload: BODY });
    const { rows, total } = await list();
    expect(total).toBe(1);
    expect(rows).toMatchObject([
      {
        n: 1,
        listenerId: "lst_1",
        auth: "hmac",
        method: "POST",
        status: 200,
        eventId,
        bodyBytes: 43,
        reason: "accepted",
      },
    ]);
    const shown = await detail(1);
    expect(shown.steps.map(({ step, state }) => `${step} ${state}`)).toEqual(
      [...BEFORE_SIGNATURE, "signature", "media-type", "body", "replay", "trigger", "run"].map(
        (step) => `${step} passed`,
      ),
    );
    expect(shown.hmac?.received).toBe(shown.hmac?.expected);
    expect(Buffer.from(shown.hmac?.canonicalBase64 ?? "", "base64").toString()).toBe(
      `${shown.timestamp}.${eventId}.${BODY}`,
    );
    expect(shown.hmac?.secretFingerprints).toEqual(["sha256:02d243df"]);
    expect(Buffer.from(shown.bodyBase64, "base64").toString()).toBe(BODY);
    expect(shown.answer).toEqual({ headers: [["Content-Type", "application/json"]], body: "{}" });
    expect(shown.run).toEqual({ state: "accepted", steps: [] });
    expect(shown.mistakes).toEqual([]);
  });

  it("a wrong signature: expected against received, the mistake, the steps that were not reached", async () => {
    const { post, list, detail } = await inspected();
    const timestamp = Math.floor(Date.now() / 1000);
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    const proof = (key: string | Buffer) =>
      createHmac("sha256", key).update(`${timestamp}.${eventId}.${BODY}`).digest("base64url");
    const wrong = proof(Buffer.from(SECRET, "base64url"));
    const answer = await post({
      payload: BODY,
      eventId,
      timestamp,
      headers: { "Webhook-Signature": wrong },
    });
    expect(answer.status).toBe(401);
    const shown = await detail(1);
    const right = proof(SECRET); // of this second: now and then it begins as the wrong one does
    const firstDifference = [...right].findIndex((character, index) => character !== wrong[index]);
    expect(shown.hmac).toMatchObject({ received: wrong, expected: right, firstDifference });
    expect(shown.mistakes[0]?.id).toBe("secret-base64url-decoded");
    expect((await list()).rows[0]?.reason).toBe(shown.mistakes[0]?.message);
    // The words that `hookproof verify` and `hookproof explain` have.
    const known = (await catalogue()).find(({ id }) => id === "secret-base64url-decoded");
    expect(shown.mistakes[0]).toMatchObject({
      title: known?.title,
      message: known?.message,
      fix: known?.fix,
    });
    expect(
      shown.steps.filter(({ state }) => state !== "passed").map(({ step, state }) => [step, state]),
    ).toEqual([
      ["signature", "failed"],
      ["media-type", "not-reached"],
      ["body", "not-reached"],
      ["replay", "not-reached"],
      ["trigger", "not-reached"],
      ["run", "not-reached"],
    ]);
  });

  it("a duplicate: the delivery it repeats, with its body", async () => {
    const { post, detail, list } = await inspected();
    const { eventId } = await post({ payload: '{"a":1}' });
    expect((await post({ payload: '{"a":2}', eventId })).status).toBe(409);
    expect((await list()).rows[0]).toMatchObject({
      n: 2,
      status: 409,
      code: "EVENT_DUPLICATE",
      duplicateOf: 1,
    });
    const { first } = await detail(2);
    expect(Buffer.from(first?.bodyBase64 ?? "", "base64").toString()).toBe('{"a":1}');
  });

  it("a request that no listener has the path of", async () => {
    const { server, post, list } = await inspected();
    for (const path of ["/favicon.ico", "/api/v1/webhooks/incoming/lst_2"]) await fetch(server.url + path);
    await post();
    const { rows } = await list();
    expect(rows.map(({ status, code, method }) => [status, code, method])).toEqual([
      [200, undefined, "POST"],
      [404, "LISTENER_UNKNOWN", "GET"],
      [404, "LISTENER_UNKNOWN", "GET"],
    ]);
  });

  it("texts that would be script in a page, as data and as nothing else", async () => {
    const { post, list, call } = await inspected();
    const hostile = '<img src=x onerror="alert(1)"></script>';
    await post({ payload: { text: hostile }, headers: { "X-Shown": hostile, "Webhook-Event-Id": hostile } });
    const { headers, text } = await call("api/requests/1");
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(JSON.parse(text).headers).toContainEqual(["X-Shown", hostile]);
    expect((await list()).rows[0]?.eventId).toBe(hostile);
  });

  it("bodies of any bytes: binary, 64 KB, deep, and larger than the limit", async () => {
    const { post, detail, list } = await inspected();
    const binary = Uint8Array.from({ length: 256 }, (_, at) => at);
    await post({ body: binary });
    const deep = `${"[".repeat(32_000)}${"]".repeat(32_000)}`;
    await post({ payload: deep });
    expect((await post({ body: "x".repeat(65_537) })).status).toBe(413);
    expect(Buffer.from((await detail(1)).bodyBase64, "base64")).toEqual(Buffer.from(binary));
    expect(Buffer.from((await detail(2)).bodyBase64, "base64").toString()).toBe(deep);
    expect((await list()).rows.map(({ status }) => status)).toEqual([413, 200, 401]);
  });

  it("a header that was sent twice, twice, and no id of it", async () => {
    const { url, list, detail } = await inspected();
    await fetch(url, {
      method: "POST",
      body: "{}",
      headers: [
        ["Webhook-Timestamp", "1"],
        ["Webhook-Event-Id", "a"],
      ],
    });
    expect((await list()).rows[0]).toMatchObject({ status: 400, code: "EVENT_ID_MALFORMED", eventId: "a" });
    expect((await detail(1)).headers.map(([name]) => name.toLowerCase())).toContain("webhook-event-id");
  });
});

describe("what a signing secret that was sent along becomes", () => {
  it("asterisks, wherever it stood; the diagnosis says so", async () => {
    const { post, call, change } = await inspected();
    await post({
      payload: { secret: SECRET },
      headers: { "X-Secret": SECRET, Authorization: `Bearer ${SECRET}`, "Webhook-Timestamp": SECRET },
    });
    const detail = await call("api/requests/1");
    expect(detail.json<RequestDetail>().mistakes.map(({ id }) => id)).toContain("secret-sent");
    expect(detail.text).not.toContain(SECRET);
    expect(detail.text).not.toContain(Buffer.from(SECRET).toString("base64").slice(4, 40));
    expect(detail.json()).toMatchObject({ masked: true });
    expect(Buffer.from(detail.json<{ bodyBase64: string }>().bodyBase64, "base64").toString()).toBe(
      `{"secret":"${"*".repeat(43)}"}`,
    );
    for (const path of [
      "api/session",
      "api/requests",
      "api/export?credentials=1",
      "api/export?format=har&credentials=1",
    ])
      expect((await call(path)).text).not.toContain(SECRET);
    expect((await change("POST", "api/requests/1/replay", { kind: "exact" })).json()).toMatchObject({
      code: "REPLAY_IMPOSSIBLE",
    });
  });
});
