import { createInspector, startInspector, startListeners } from "hookproof-service";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type Forwarded,
  LIMITS,
  type RequestDetail,
  TOKEN_HEADER,
} from "../../service/src/inspector/contract.js";
import { postTo, SECRET, send } from "./inspected.js";

/** A listener whose requests an application behind it answers so. */
async function forwarding(answer: Forwarded) {
  const inspector = await createInspector();
  const server = await startListeners({
    inspector,
    listeners: (baseUrl) => [
      { listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } } },
    ],
    onHandled: ({ request }) => inspector.forwarded(request, answer),
  });
  const page = await startInspector(inspector, { port: 0 });
  onTestFinished(async () => {
    await Promise.all([page.stop(), server.stop()]);
  });
  await postTo(`${server.url}/api/v1/webhooks/incoming/lst_1`);
  const headers = { [TOKEN_HEADER]: new URL(page.pageUrl).hash.slice("#t=".length) };
  const detail = async () => (await send(`${page.url}/api/requests/1`, { headers })).json<RequestDetail>();
  return { inspector, detail };
}

const REFUSED: Forwarded = {
  url: "http://127.0.0.1:3000/hook",
  status: 401,
  body: "Unauthenticated.",
  ms: 12,
};

describe("the answer of the application behind a listener", () => {
  it("stands in the row, in the details and in an exported file, and comes back with it", async () => {
    const { inspector, detail } = await forwarding(REFUSED);
    expect(inspector.list().rows[0]).toMatchObject({ status: 200, forwardedStatus: 401 });
    expect((await detail()).forwarded).toEqual(REFUSED);
    const file = [...inspector.exported({ format: "jsonl" })].join("");
    await inspector.imported(file);
    expect(inspector.list().rows[0]).toMatchObject({ imported: true, forwardedStatus: 401 });
    expect((await inspector.detail(2))?.forwarded).toEqual(REFUSED);
  });

  it("is no answer that somebody forced, and one that was forced in its place is", async () => {
    const { inspector } = await forwarding(REFUSED);
    const [line = "{}"] = [...inspector.exported({ format: "jsonl" })].join("").split("\n");
    const refused = { ...JSON.parse(line), code: "RUN_FAILED", verdictStatus: 503 };
    for (const status of [401, 418]) await inspector.imported(JSON.stringify({ ...refused, status }));
    const forced = inspector.list({ q: "is:forced" }).rows;
    expect(forced).toMatchObject([
      { status: 418, forwardedStatus: 401, cause: "Your application refused it" },
    ]);
  });

  it("says so where there was none", async () => {
    const { inspector, detail } = await forwarding({
      url: "http://127.0.0.1:9/",
      error: "connection refused",
    });
    expect(inspector.list().rows[0]).toMatchObject({ forwardedStatus: 0 });
    expect((await detail()).forwarded).toEqual({ url: "http://127.0.0.1:9/", error: "connection refused" });
  });

  it("is bounded, and has neither the listener's secret nor a password of its URL", async () => {
    const long = `${SECRET} ${"x".repeat(2 * LIMITS.answerCharacters)}`;
    const { detail } = await forwarding({
      ...REFUSED,
      url: "http://me:pass@127.0.0.1:3000/hook",
      body: long,
    });
    const shown = (await detail()).forwarded;
    expect(shown).toMatchObject({ url: "http://127.0.0.1:3000/hook", status: 401 });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(shown && "body" in shown && shown.body?.length).toBe(LIMITS.answerCharacters);
  });

  it.each([
    ["no URL", { status: 200 }],
    ["a status of another type", { url: "http://a", status: "200" }],
    ["a status that is none", { url: "http://a", status: 1e9 }],
    ["a text", "200"],
  ])("what a file says wrongly of it is left out: %s", async (_what, wrong) => {
    const { inspector } = await forwarding(REFUSED);
    const [line = "{}"] = [...inspector.exported({ format: "jsonl" })].join("").split("\n");
    await inspector.imported(JSON.stringify({ ...JSON.parse(line), forwarded: wrong }));
    expect(inspector.list().rows[0]).not.toHaveProperty("forwardedStatus");
  });
});
