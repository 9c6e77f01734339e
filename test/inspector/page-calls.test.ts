// The page's calls to the inspector's server, made as the page makes them.
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createApi } from "../../service/inspector/live/api.js";
import { ApiError, params } from "../../service/inspector/live/call.js";
import { inspectedService } from "../kit/inspected-service.js";
import { httpServer, started } from "../kit/local-server.js";
import { inspected } from "./inspected.js";

const nodeFetch = globalThis.fetch;
afterEach(() => void vi.unstubAllGlobals());

/** What a browser does with the page's calls: they go to the server that the page came from, and say so. */
function asPageOf(origin: string): void {
  vi.stubGlobal("fetch", (path: string, init: RequestInit & { headers: Record<string, string> }) =>
    nodeFetch(`${origin}/${path}`, { ...init, headers: { ...init.headers, Origin: origin } }),
  );
}

async function opened() {
  const stage = await inspected();
  asPageOf(stage.page.url);
  return { ...stage, api: createApi(stage.token) };
}

it("ask for what is recorded, and change it", async () => {
  const { api, post, url } = await opened();
  await post();
  await post({ body: '{"a":2}' });
  const { rows, found } = await api.requests({ status: "401" });
  expect([rows.map(({ n }) => n), found]).toEqual([[2], 1]);
  expect((await api.request(2)).url).toBe(url);
  await api.mark(2, { note: "later" });
  expect((await api.request(2)).note).toBe("later");
  expect(await api.replay(2, { kind: "new-id" })).toMatchObject({ status: 200 });
  expect((await api.sendTestEvent({ listenerId: "lst_1", body: "[7]" })).status).toBe(200);
  const file = await api.exported({ format: "jsonl", n: 2 });
  expect(await file.text()).toContain("later");
  await api.clear();
  expect((await api.requests({})).total).toBe(0);
  expect(await api.importFile(file)).toEqual({ imported: 1, skipped: 0 });
});

it("force answers, and stop it", async () => {
  const { api, post } = await opened();
  expect(await api.force({ listenerId: "lst_1", status: 503, times: 9 })).toMatchObject({ status: 503 });
  expect((await post()).status).toBe(503);
  expect((await api.session()).forced).toHaveLength(1);
  await api.stopForcing("lst_1");
  expect((await post()).status).toBe(200);
});

it("follow the events of the server", async () => {
  const { api, post } = await opened();
  const { lastEventId } = await api.requests({});
  await post();
  const ended = new AbortController();
  const reader = (await api.events(lastEventId, ended.signal)).getReader();
  let text = "";
  while (!text.includes('"n":1')) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).toContain("event: rows");
  ended.abort();
  await expect(reader.read()).rejects.toThrow(/abort/i);
});

describe("of a service", () => {
  async function controlled() {
    const { page, service, token, stop } = await inspectedService();
    onTestFinished(stop);
    asPageOf(page.url);
    return { service, api: createApi(token) };
  }

  it("look at what it was asked", async () => {
    const { service, api } = await controlled();
    await nodeFetch(`${service.url}/api/v1/auth-configs/ac_1`);
    await expect.poll(async () => (await api.calls()).rows.length).toBe(1);
    expect((await api.calls("no such text")).rows).toEqual([]);
    const [call] = (await api.calls("auth-configs")).rows;
    expect((await api.call(call?.n ?? 0)).status).toBe(401);
    await api.clearCalls();
    expect((await api.calls()).rows).toEqual([]);
  });

  it("control it, and run its automations", async () => {
    const { service, api } = await controlled();
    await api.control("PUT", "faults/getAuthConfig", { status: 503 });
    await api.control("POST", "clock", { to: "2030-01-01T00:00:00Z", frozen: true });
    await api.control("PUT", "snapshots/full");
    expect(await api.controlled()).toMatchObject({
      faults: [{ operation: "getAuthConfig", fault: { status: 503 } }],
      clock: { now: "2030-01-01T00:00:00.000Z", frozen: true },
      snapshots: [{ name: "full" }],
    });
    const made = await nodeFetch(`${service.url}/local/v1/automations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" },
      body: JSON.stringify({
        trigger: { hmac: {} },
        steps: [{ name: "one", templates: { n: "{{ size(ctx.trigger.tags) }}" } }],
      }),
    });
    const { automation } = (await made.json()) as { automation: { id: string } };
    const { steps } = await api.debug(automation.id, '{"tags":["a"]}');
    expect(steps[0]).toMatchObject({ result: { n: 1 } });
    // An id is one part of a path, whatever it is.
    await expect(api.debug("../clients", "{}")).rejects.toMatchObject({ status: 400 });
  });
});

it("that are refused say why; an answer that is none of the server's says its status", async () => {
  const { api, page } = await opened();
  await expect(api.request(9)).rejects.toThrow(ApiError);
  await expect(api.request(9)).rejects.toMatchObject({ name: "ApiError", status: 404 });
  await expect(createApi("another").session()).rejects.toMatchObject({ status: 403 });
  const ended = AbortSignal.abort();
  for (const call of [api.requests({}, ended), api.request(1, ended), api.call(1, ended)])
    await expect(call).rejects.toThrow(/abort/i);
  const proxy = await started(httpServer((_, response) => void response.writeHead(502).end("Bad Gateway")));
  asPageOf(`http://127.0.0.1:${proxy.port}`);
  await expect(api.session()).rejects.toMatchObject({ status: 502, message: "The server answered 502." });
  asPageOf(page.url);
  expect(await api.requests({ limit: 1 })).toMatchObject({ rows: [] });
});

it("have queries of what is given", () => {
  expect(String(params({ q: "a b&c", limit: 5, status: "", listener: undefined }))).toBe("q=a+b%26c&limit=5");
});
