import { createInspector } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import {
  type CallDetail,
  type CallPage,
  type SessionInfo,
  TOKEN_HEADER,
} from "../../service/src/inspector/contract.js";
import { CONFIG_PATH as CONFIG, inspectedService } from "../kit/inspected-service.js";
import { inspected, send } from "./inspected.js";

/** A service with an inspector beside it. */
async function watchedService() {
  const { inspector, service, page, token, stop } = await inspectedService();
  onTestFinished(stop);
  const look = (path: string, method = "GET", headers: Record<string, string> = {}) =>
    send(`${page.url}/api/${path}`, { method, headers: { [TOKEN_HEADER]: token, ...headers } });
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" };
    const answer = await fetch(service.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    await answer.text();
    return answer.status;
  };
  const targets = async () => {
    const { rows } = (await look("calls")).json<CallPage>();
    return rows.map(({ method, target }) => `${method} ${target}`);
  };
  return { inspector, service, page, look, ask, targets };
}

it("calls are the requests of the API: not those of the remote control, of pages, or webhooks", async () => {
  const { service, look, ask, targets } = await watchedService();
  expect((await look("session")).json<SessionInfo>().hasCalls).toBe(true);
  for (const path of ["/", "/reference", "/healthz", "/openapi.json", "/.well-known/jwks.json"])
    await ask("GET", path);
  await ask("POST", "/local/v1/journal/search", "{}");
  await ask("GET", "/local/v1/clock");
  await ask("POST", "/api/v1/webhooks/incoming/lst_1", "{}");
  await ask("POST", "/local/v1/secrets", '{"text": "hunter2"}');
  await ask("GET", `${CONFIG}?page_token=abc`);
  await ask("PATCH", CONFIG);
  await ask("GET", "/api/v3/nothing");
  service.setFault("receiveWebhook", { status: 503 });
  await ask("POST", "/api/v1/webhooks/incoming/lst_1", "{}");
  await expect
    .poll(targets)
    .toEqual([
      "POST /api/v1/webhooks/incoming/lst_1",
      "GET /api/v3/nothing",
      `PATCH ${CONFIG}`,
      `GET ${CONFIG}?page_token=abc`,
      "POST /local/v1/secrets",
    ]);
  const call = (await look("calls/1")).json<CallDetail>();
  expect(call).toMatchObject({
    n: 1,
    operation: "createSecret",
    client: "control",
    body: '{"text":"[hidden]"}',
  });
  expect((await look("calls?q=HUNTER2")).json<CallPage>().rows).toEqual([]);
  expect((await look("calls?q=createsecret")).json<CallPage>().rows.map(({ n }) => n)).toEqual([1]);
});

it("a body that is nested deeply, large, or no JSON, costs nobody anything", async () => {
  const { ask, look, targets } = await watchedService();
  const deep = `{"users":${"[".repeat(80)}${"]".repeat(80)}}`;
  const statuses = [
    await ask("POST", "/local/v1/state", deep),
    await ask("POST", "/local/v1/state", JSON.stringify({ users: [{ id: "x".repeat(40_000) }] })),
    await ask("POST", "/local/v1/state", "{"),
    await ask("GET", `${CONFIG}?${"x".repeat(10_000)}`),
  ];
  expect(statuses).toEqual([400, 400, 400, 401]);
  await expect.poll(async () => (await targets()).length).toBe(4);
  const calls = await Promise.all(
    [1, 2, 3, 4].map(async (n) => (await look(`calls/${n}`)).json<CallDetail>()),
  );
  expect(calls.map(({ body }) => body?.length)).toEqual([undefined, 16_385, undefined, undefined]);
  expect((await targets())[0]).toHaveLength(305);
  expect(calls[3]?.target).toHaveLength(CONFIG.length + 10_001);
});

it("the latest thousand are kept", async () => {
  const inspector = await createInspector();
  onTestFinished(() => inspector.close());
  const seen = inspector.watchCalls();
  const call = {
    at: 0,
    method: "GET",
    target: CONFIG,
    status: 200,
    durationMs: 1,
    requestId: "r",
    headers: [],
  };
  for (let n = 1; n <= 1_010; n++) seen({ ...call, answer: { headers: [] } });
  expect(inspector.calls().rows).toHaveLength(1_000);
  expect(inspector.calls().rows[0]?.n).toBe(1_010);
  expect(inspector.call(10)).toBeUndefined();
  expect(inspector.call(11)).toMatchObject({ n: 11 });
});

it("calls are for anyone who has the token, and cleared from the page itself alone", async () => {
  const { page, look, ask, targets } = await watchedService();
  await ask("GET", CONFIG);
  await expect.poll(async () => (await targets()).length).toBe(1);
  for (const path of ["calls", "calls/1"])
    expect((await send(`${page.url}/api/${path}`, {})).status).toBe(403);
  expect((await look("calls", "DELETE")).status).toBe(403);
  expect(await targets()).toHaveLength(1);
  expect((await look("calls", "DELETE", { Origin: page.url })).status).toBe(204);
  expect(await targets()).toEqual([]);
  await ask("GET", CONFIG);
  await expect.poll(async () => (await look("calls")).json<CallPage>().rows.map(({ n }) => n)).toEqual([2]);
});

it("listeners without an API have none", async () => {
  const { call } = await inspected();
  expect((await call("api/session")).json<SessionInfo>().hasCalls).toBe(false);
  expect((await call("api/calls")).json<CallPage>().rows).toEqual([]);
});
