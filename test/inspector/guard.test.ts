import express from "express";
import { createInspector, inspectorRouter, startServer } from "hookproof-service";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SessionInfo, TOKEN_HEADER } from "../../service/src/inspector/contract.js";
import { inspected, send } from "./inspected.js";

describe("who may read", () => {
  it.each(["rebound.example", "rebound.example:4401", "127.0.0.1.example", "localhost.example", "10.0.0.1"])(
    "nobody under the name %j",
    async (host) => {
      const { call } = await inspected();
      for (const path of ["", "api/session", "api/requests", "api/events", "api/export"]) {
        const answer = await call(path, { headers: { Host: host } });
        expect([path, answer.status, answer.json<{ code: string }>().code]).toEqual([
          path,
          403,
          "HOST_REFUSED",
        ]);
      }
    },
  );

  it.each(["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])("everybody here, under %s", async (name) => {
    const { call, page } = await inspected();
    expect((await call("api/session", { headers: { Host: `${name}:${page.port}` } })).status).toBe(200);
  });

  it("no page of another origin, and nothing says that it may", async () => {
    const { call } = await inspected();
    for (const from of ["cross-site", "same-site"]) {
      const answer = await call("api/session", { headers: { "Sec-Fetch-Site": from } });
      expect(answer.status).toBe(403);
    }
    const answer = await call("api/session", {
      headers: { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" },
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("with a policy that lets no script in, on every answer", async () => {
    const { call } = await inspected();
    for (const path of ["", "api/session", "api/requests/99", "nothing/here"]) {
      const { headers } = await call(path);
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers["x-powered-by"]).toBeUndefined();
    }
    expect((await call("api/session")).headers["cache-control"]).toBe("no-store");
  });
});

const CHANGES = [
  ["POST", "api/requests/1/replay"],
  ["PUT", "api/forced-answer"],
  ["DELETE", "api/forced-answer?listener=lst_1"],
  ["DELETE", "api/requests"],
  ["PUT", "api/requests/1/mark"],
  ["POST", "api/test-event"],
  ["POST", "api/import"],
] as const;

describe("who may change something", () => {
  it.each(CHANGES)("nobody without the token and the page's own origin: %s %s", async (method, path) => {
    const { call, page, post, token, list } = await inspected();
    await post();
    const order = '{"kind":"new-id","listenerId":"lst_1","status":500}';
    const body = method === "DELETE" ? "" : order;
    const own = { Origin: page.url, [TOKEN_HEADER]: token, "Content-Type": "application/json" };
    const { Origin: _origin, ...noOrigin } = own;
    const { [TOKEN_HEADER]: _token, ...noToken } = own;
    for (const headers of [
      noOrigin,
      noToken,
      { ...own, Origin: "https://evil.example" },
      { ...own, Origin: "null" },
      { ...own, Origin: `http://localhost:${page.port}` },
      { ...own, Origin: `${page.url}.evil.example` },
      { ...own, [TOKEN_HEADER]: "" },
      { ...own, [TOKEN_HEADER]: `${token.slice(0, -1)}!` },
      { ...own, [TOKEN_HEADER]: `${token}0` },
    ]) {
      const answer = await send(`${page.url}/${path}`, {
        method,
        headers: headers as Record<string, string>,
        body,
      });
      expect(answer.status).toBe(403);
    }
    expect((await list()).total).toBe(1);
    expect((await call(path, { method, headers: own, body })).status).not.toBe(403);
  });

  it.each(["", "short", "a token with spaces, though it is long"])(
    "a router refuses the token %j",
    async (token) => {
      const inspector = await createInspector();
      onTestFinished(() => inspector.close());
      expect(() => inspectorRouter(inspector, { token })).toThrow(TypeError);
    },
  );

  it("with another token after every start", async () => {
    const [one, two] = [await inspected(), await inspected()];
    expect(one.token).not.toBe(two.token);
    expect(one.token).toMatch(/^[\w-]{43}$/);
  });
});

describe("calls that make no sense", () => {
  it.each([
    ["GET", "api/requests?limit=0", undefined, 400],
    ["GET", "api/requests?limit=501", undefined, 400],
    ["GET", "api/requests?limit=1e2", undefined, 400],
    ["GET", "api/requests?before=x", undefined, 400],
    ["GET", "api/requests?status=600", undefined, 400],
    ["GET", "api/requests?q=a&q=b", undefined, 400],
    ["GET", `api/requests?q=${"a".repeat(201)}`, undefined, 400],
    ["GET", "api/requests/0", undefined, 400],
    ["GET", "api/requests/1.5", undefined, 400],
    ["GET", "api/requests/__proto__", undefined, 400],
    ["GET", "api/requests/7", undefined, 404],
    ["GET", "api/nothing", undefined, 404],
    ["GET", "api/export?format=xml", undefined, 400],
    ["GET", "api/export?n=7", undefined, 404],
    ["POST", "api/requests/1/replay", "{", 400],
    ["POST", "api/requests/1/replay", "null", 400],
    ["POST", "api/requests/1/replay", '{"kind":"all"}', 400],
    ["POST", "api/requests/1/replay", '{"kind":"edit"}', 400],
    ["POST", "api/requests/1/replay", '{"kind":"edit","bodyBase64":"e30=","eventId":"a\\r\\nX: 1"}', 400],
    ["POST", "api/requests/1/replay", '{"kind":"edit","bodyBase64":"e30=","headers":[["a b","c"]]}', 400],
    ["POST", "api/requests/1/replay", `{"kind":"edit","bodyBase64":"${"A".repeat(300_000)}"}`, 413],
    ["POST", "api/requests/7/replay", '{"kind":"exact"}', 404],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1"}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","status":199}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","status":"500"}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","delayMs":60001}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","seconds":3601,"status":500}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","headers":[["Content-Length","9"]]}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","headers":[["X-A","b\\r\\nX-C: d"]]}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_1","body":7}', 400],
    ["PUT", "api/forced-answer", '{"listenerId":"lst_2","status":500}', 404],
    ["PUT", "api/requests/1/mark", "{}", 400],
    ["PUT", "api/requests/1/mark", '{"pinned":1}', 400],
    ["PUT", "api/requests/1/mark", `{"note":"${"a".repeat(501)}"}`, 400],
    ["PUT", "api/requests/7/mark", '{"pinned":true}', 404],
    ["POST", "api/test-event", "{}", 400],
    ["POST", "api/test-event", '{"listenerId":"lst_2"}', 404],
    ["POST", "api/import", "not a file of requests", 400],
    ["POST", "api/import", "", 400],
    ["PATCH", "api/requests", "{}", 404],
  ] as const)("%s %s %s", async (method, path, body, status) => {
    const { call, page, post, token } = await inspected();
    await post();
    const headers = { Origin: page.url, [TOKEN_HEADER]: token, "Content-Type": "application/json" };
    const answer = await call(path, { method, headers, ...(body === undefined ? {} : { body }) });
    expect(answer.status).toBe(status);
    const failure = answer.json<Record<string, unknown>>();
    expect(Object.keys(failure)).toEqual(["code", "message"]);
    expect(failure.code).toMatch(/^[A-Z_]+$/);
  });
});

const TOKEN = "a-token-that-the-developer-has-made";

describe("mounted in somebody's own server", () => {
  it("stands at any path, and leaves the rest alone", async () => {
    const inspector = await createInspector();
    const app = express();
    app.use("/dev/inspector", inspectorRouter(inspector, { token: TOKEN, allowedHosts: ["dev.internal"] }));
    app.get("/", (_request, response) => void response.send("mine"));
    const server = await startServer(app, {});
    onTestFinished(async () => {
      inspector.close();
      await server.stop();
    });
    const call = (path: string, headers = {}) => send(server.url + path, { headers });
    expect((await call("/dev/inspector?a=1")).headers.location).toBe("inspector/?a=1");
    const session = (
      await call("/dev/inspector/api/session", { Host: "dev.internal", [TOKEN_HEADER]: TOKEN })
    ).json<SessionInfo>();
    expect(session).toMatchObject({ v: 1, listeners: [], forced: [] });
    const mine = await call("/", { Host: "dev.internal" });
    expect([mine.text, mine.headers["content-security-policy"]]).toEqual(["mine", undefined]);
  });
});
