import { expect, it, onTestFinished } from "vitest";
import { type DebuggedRun, type SessionInfo, TOKEN_HEADER } from "../../service/src/inspector/contract.js";
import { CONFIG_PATH as CONFIG, inspectedService } from "../kit/inspected-service.js";
import { inspected, send } from "./inspected.js";

/** A service with the inspector's page beside it, and the calls of the page. */
async function controlledService() {
  const { service, page, token, stop } = await inspectedService();
  onTestFinished(stop);
  const own = { [TOKEN_HEADER]: token, Origin: page.url };
  const change = (method: string, path: string, body?: unknown, headers: Record<string, string> = own) =>
    send(`${page.url}/api/${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const status = async () => {
    const headers = { Authorization: `Bearer ${await service.token()}` };
    return (await fetch(service.url + CONFIG, { headers })).status;
  };
  return { service, page, token, change, status };
}

it("faults, clock, snapshots and reset are at hand for the page", async () => {
  const { service, change, status } = await controlledService();
  const session = (await change("GET", "session")).json<SessionInfo>();
  expect(session.controlled).toContain("getAuthConfig");
  expect(session.controlled).not.toContain("putFault");

  const fault = { status: 503, times: 2 };
  expect((await change("PUT", "control/faults/getAuthConfig", fault)).status).toBe(200);
  expect((await change("GET", "control/faults")).json()).toEqual({
    list: [{ operation: "getAuthConfig", fault }],
  });
  expect([await status(), await status(), await status()]).toEqual([503, 503, 200]);

  await change("POST", "control/clock", { to: "2030-01-01T00:00:00Z", frozen: true });
  expect((await change("GET", "control/clock")).json()).toEqual({
    now: "2030-01-01T00:00:00.000Z",
    frozen: true,
  });
  expect((await fetch(`${service.url}/healthz`)).headers.get("date")).toBe("Tue, 01 Jan 2030 00:00:00 GMT");

  await change("PUT", "control/snapshots/full");
  const headers = { Authorization: `Bearer ${await service.token()}` };
  await fetch(service.url + CONFIG, { method: "DELETE", headers });
  expect(await status()).toBe(404);
  expect((await change("POST", "control/snapshots/full/restore")).status).toBe(200);
  expect(await status()).toBe(200);
  await change("DELETE", "control/snapshots/full");
  expect((await change("GET", "control/snapshots")).json()).toEqual({ list: [] });

  await change("PUT", "control/faults/getAuthConfig", { disconnect: true });
  await change("POST", "control/reset");
  expect((await change("GET", "control/faults")).json()).toEqual({ list: [] });
  expect((await change("GET", "control/clock")).json()).toMatchObject({ frozen: false });
  expect(await status()).toBe(200);
});

it("an automation is run step by step for the page", async () => {
  const { service, change } = await controlledService();
  const headers = { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" };
  const steps = [{ name: "one", templates: { n: "{{ size(ctx.trigger.tags) }}" } }];
  const made = await fetch(`${service.url}/local/v1/automations`, {
    method: "POST",
    headers,
    body: JSON.stringify({ trigger: { hmac: {} }, steps }),
  });
  const { automation } = (await made.json()) as { automation: { id: string } };
  const answer = await change("POST", `control/automations/${automation.id}/debug`, { event: { tags: [1] } });
  expect(answer.status).toBe(200);
  expect(answer.json<DebuggedRun>().steps[0]).toMatchObject({
    result: { n: 1 },
    expressions: [{ parts: [{ expression: "ctx.trigger.tags", value: "[1]" }, { value: "1" }] }],
  });
  expect((await change("POST", "control/automations/..%2fclients/debug", { event: 1 })).status).toBe(400);
  expect((await change("DELETE", `control/automations/${automation.id}`)).status).toBe(404);
});

it("what the service refuses is refused in its words", async () => {
  const { change } = await controlledService();
  const answer = await change("PUT", "control/faults/getAuthConfig", { status: 99 });
  expect(answer.status).toBe(400);
  expect(answer.json<{ message: string }>().message).toContain("status");
  expect((await change("PUT", "control/faults/nothing", { status: 503 })).status).toBe(404);
  expect((await change("POST", "control/clock", { to: "never" })).status).toBe(400);
});

it("nobody has it without the page's token and origin, and nothing else of the service is behind it", async () => {
  const { service, token, change } = await controlledService();
  const fault = { status: 503 };
  for (const headers of [
    {},
    { [TOKEN_HEADER]: token },
    { [TOKEN_HEADER]: token, Origin: service.url },
    { [TOKEN_HEADER]: token, Origin: "null" },
  ])
    expect((await change("PUT", "control/faults/getAuthConfig", fault, headers)).status).toBe(403);
  expect((await change("GET", "control/faults", undefined, {})).status).toBe(403);
  for (const path of [
    "control",
    "control/state",
    "control/clients",
    "control/journal/search",
    "control/automations",
    "control/secrets",
    "control/faults/../clients",
    "control/snapshots/..%2f..%2fclients",
    "control//api/v1/auth-configs/ac_1",
  ])
    expect((await change("POST", path, {})).status).toBeGreaterThanOrEqual(400);
  expect((await change("GET", "control/faults")).json()).toEqual({ list: [] });
  const { call } = await inspected();
  expect((await call("api/control/faults")).status).toBe(404);
  expect((await call("api/session")).json<SessionInfo>().controlled).toBeUndefined();
});
