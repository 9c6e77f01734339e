import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Service } from "hookproof-service";
import { beforeEach, describe, expect, it } from "vitest";
import { type Answer, ask, askControl, startService } from "./running-service.js";

/** What a stranger may send, and whoever has the control token by mistake: no answer is 500, nothing is given away. */

const CONFIG = "/api/v1/auth-configs/ac-local";

let service: Service;
beforeEach(async () => {
  service = await startService();
});

const control = (method: string, path: string, body?: unknown): Promise<Answer> =>
  askControl(service, method, path, body);

describe("a body without a token", () => {
  const asked = (body: string) =>
    fetch(`${service.url}/auth/v1/token`, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json" },
    });

  it("full of half surrogate pairs costs no more than its length", async () => {
    const name = "n".repeat(400_000);
    for (const body of [
      `{"${name}":[${new Array(60_000).fill('"\\ud800"')}]}`,
      `${'{"\\ud800":'.repeat(80_000)}1${"}".repeat(80_000)}`,
    ]) {
      const costs = async (text: string) => {
        const before = process.cpuUsage();
        const answer = await asked(text);
        expect(answer.status).toBe(400);
        expect((await answer.text()).length).toBeLessThan(2 * body.length);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      };
      const least = async (text: string) => Math.min(await costs(text), await costs(text), await costs(text));
      const plain = await least(body.replaceAll("\\ud800", "abcdef"));
      expect(await least(body)).toBeLessThan(10 * plain);
    }
  });
});

describe("JSON as deep as it is long", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);

  it.each([
    ["PUT", "faults/getAuthConfig", `{"status":200,"body":${deep}}`],
    ["PUT", "faults/getAuthConfig", `{"sequence":[{"status":200,"body":${deep}}]}`],
    ["POST", "clients", `{"id":"one","publicJwk":{"kty":${deep}}}`],
    ["POST", "state", `{"users":[{"id":"one","profile":{"a":${deep}}}]}`],
    ["POST", "state", `{"clients":[{"id":"one","publicJwk":{"a":${deep}}}]}`],
    ["POST", "state", `{"authConfigs":[{"id":"one","oidc":{"exactMatchClaims":{"a":${deep}}}}]}`],
    ["POST", "journal/search", `{"body":{"a":${deep}}}`],
  ])("is refused at %s %s", async (method, path, body) => {
    const { status, body: answer } = await control(method, path, body);
    expect([status, answer.message]).toEqual([400, "body is nested deeper than 500 levels"]);
    expect((await control("GET", "faults")).body).toEqual({ list: [] });
  });

  it("is kept and given back where it is not too deep", async () => {
    const body = JSON.parse("[".repeat(400) + "]".repeat(400));
    await control("PUT", "faults/getAuthConfig", { status: 200, body });
    expect((await ask(service, "GET", CONFIG)).body).toEqual(body);
    expect((await control("GET", "faults")).body.list[0].fault.body).toEqual(body);
  });
});

it("names of every object are ids like any other, and match no request", async () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    expect((await control("PUT", `faults/${name}`, { status: 503 })).status).toBe(404);
    expect((await control("PUT", "faults/getAuthConfig", `{"${name}":1}`)).status).toBe(400);
    expect((await control("POST", "state", `{"${name}":{}}`)).status).toBe(400);
    const users = `{"users":[{"id":"${name}","profile":{"${name}":{"${name}":1}}}]}`;
    expect((await control("POST", "state", users)).status).toBe(200);
    await control("DELETE", "journal");
    await ask(service, "GET", CONFIG);
    expect((await control("POST", "journal/search", `{"query":{"${name}":{}}}`)).status).toBe(400);
    expect((await control("POST", "journal/search", `{"body":{"${name}":{}}}`)).body.count).toBe(0);
    expect((await control("POST", "journal/search", `{"${name}":1}`)).status).toBe(400);
  }
});

describe("the clock at the ends of time", () => {
  const everything = async () => {
    const form = {
      grant_type: "client_credentials",
      client_id: service.clientId,
      client_secret: service.clientSecret,
    };
    const token = await fetch(`${service.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    await service.rotateSigningKey();
    const answers = [
      await control("GET", "clock"),
      await ask(service, "GET", CONFIG),
      await control("POST", "secrets", { text: "a", creatorUserId: "user-ada" }),
      await control("POST", "automations", { trigger: { hmac: {} } }),
      await control("GET", "automations"),
      await control("PUT", "snapshots/one"),
      await control("GET", "snapshots"),
      await control("POST", "snapshots/one/restore"),
      await control("POST", "journal/search", {}),
      await ask(service, "POST", "/api/v1/search/secrets-admin/audit_events"),
    ];
    return [token.status, ...answers.map(({ status }) => status)];
  };

  it.each([
    { to: "9999-12-31T23:59:59.999Z" },
    { to: "0000-01-01T00:00:00Z" },
    { to: "1970-01-01T00:00:00Z", advanceMs: 253_402_300_799_999 },
    { to: "1969-12-31T23:59:59.999Z", frozen: true },
  ])("answers as always after %j", async (change) => {
    expect((await control("POST", "clock", change)).status).toBe(200);
    expect(await everything()).toEqual(new Array(11).fill(200));
  });

  it.each([
    { to: "1970-01-01T00:00:00Z", advanceMs: 8.64e15 },
    { to: "9999-12-31T23:59:59.999Z", advanceMs: 1 },
    { to: "0000-01-01T00:00:00Z", advanceMs: -1 },
    { advanceMs: 1e308 },
  ])("is not moved to what the wire cannot show, by %j", async (change) => {
    expect((await control("POST", "clock", change)).status).toBe(400);
    expect((await ask(service, "GET", CONFIG)).status).toBe(200);
  });

  it("stands still at the last of them, whatever it is made of", async () => {
    let now = Date.UTC(2026, 0) + 0.25;
    service = await startService({ clock: { now: () => now } });
    expect(await everything()).toEqual(new Array(11).fill(200));
    service.moveClock({ to: "9999-12-31T23:59:59.999Z" });
    now += 60_000;
    expect(await everything()).toEqual(new Array(11).fill(200));
    expect((await control("GET", "clock")).body.now).toBe("9999-12-31T23:59:59.999Z");
  });
});

describe("with names of a client's own", () => {
  const NAMES = ["constructor", "__proto__", "toString", "valueOf"];

  it("names of every object stay what they are, in requests and answers", async () => {
    service = await startService({ wireNames: { svcLocal: "acmeLocal" }, unknownFields: "ignore" });
    for (const name of NAMES) {
      const config = {
        id: `ac-${name.length}`,
        status: name,
        oidc: { exactMatchClaims: JSON.parse(`{"${name}":"${name}"}`) },
      };
      expect((await control("POST", "state", { authConfigs: [config] })).status, name).toBe(200);
      const { authConfig } = (await ask(service, "GET", `/api/v1/auth-configs/${config.id}`)).body;
      expect(authConfig.status).toBe(name);
      expect(Object.entries(authConfig.oidc.exactMatchClaims)).toEqual([[name, name]]);
      const secret = `{"text":"a","creatorUserId":"user-ada","inputFormat":"${name}","${name}":"${name}"}`;
      expect((await control("POST", "secrets", secret)).status, name).toBe(200);
      expect((await ask(service, "POST", CONFIG, { body: `{"${name}":1}` })).status).toBe(405);
    }
    expect((await ask(service, "GET", CONFIG)).body.authConfig).toHaveProperty("acmeLocal");
  });
});

it("a private key in the place of a client's public one is refused, and not kept", async () => {
  const publicJwk = { kty: "OKP", crv: "Ed25519", x: "x", d: "hunter2" };
  for (const [path, body, field] of [
    ["clients", { id: "one", publicJwk }, "publicJwk"],
    ["state", { clients: [{ id: "one", publicJwk }] }, "clients[0].publicJwk"],
  ] as const) {
    const { status, body: answer } = await control("POST", path, body);
    expect([status, answer.message]).toEqual([
      400,
      `${field} is a private key, which belongs to the client alone`,
    ]);
  }
});

describe("what a reset takes away in the middle", () => {
  const users = { users: [{ id: "gone" }] };
  const errors: object[] = [];
  beforeEach(async () => {
    errors.length = 0;
    const log = { info() {}, warn() {}, error: (fields: object) => void errors.push(fields) };
    service = await startService({ log });
    await control("PUT", "snapshots/before");
    await control("POST", "state", users);
  });
  const upload = (length: number) => {
    const socket = connect(service.port, "127.0.0.1");
    socket.write(
      `POST /local/v1/secrets/upload?filename=a&creatorUserId=gone HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${service.controlToken}\r\nContent-Length: ${length}\r\n\r\nabc`,
    );
    return socket;
  };

  it("is the caller's mistake: the user of a file that still arrives", async () => {
    const socket = upload(6);
    // Nothing else tells that the upload has begun; without the pause the user is gone before it.
    await control("GET", "clock");
    expect((await control("POST", "snapshots/before/restore")).status).toBe(200);
    socket.write("def");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 .*creatorUserId is not a user/s);
    expect(errors).toEqual([]);
  });

  it("is the caller's mistake: the user of secrets that are being encrypted, and of clients", async () => {
    const one = (n: number) =>
      n % 2 === 0
        ? control("POST", "secrets", { text: "a", creatorUserId: "gone" })
        : control("POST", "clients", { id: `client-${n}`, secret: "a-long-enough-secret", userId: "gone" });
    const before = Array.from({ length: 10 }, (_, n) => one(n));
    const restored = control("POST", "snapshots/before/restore");
    const after = Array.from({ length: 10 }, (_, n) => one(n + 10));
    expect((await restored).status).toBe(200);
    for (const { status } of await Promise.all([...before, ...after])) expect([200, 400]).toContain(status);
    expect(errors).toEqual([]);
  });

  it("a file that breaks off is no failure of the service", async () => {
    const socket = upload(1_000);
    await control("GET", "clock");
    socket.destroy();
    await expect
      .poll(
        async () => (await control("POST", "journal/search", { operation: "uploadSecretFile" })).body.count,
      )
      .toBe(1);
    expect(errors).toEqual([]);
  });
});

it("a wait that no timer can wait for is refused, whoever sets it", async () => {
  for (const delayMs of [600_001, 2 ** 31, 1e308, -1, 0.5])
    expect((await control("PUT", "faults/getAuthConfig", { delayMs })).status).toBe(400);
  for (const delayMs of [600_001, 2 ** 31, Number.POSITIVE_INFINITY, Number.NaN]) {
    expect(() => service.setFault("getAuthConfig", { delayMs })).toThrow(RangeError);
    expect(() => service.setFault("getAuthConfig", { sequence: [{ delayMs }] })).toThrow(RangeError);
    await expect(startService({ latencyMs: delayMs })).rejects.toThrow(RangeError);
  }
});

describe("the journal", () => {
  const journal = async () => JSON.stringify((await control("POST", "journal/search", {})).body);
  const token = (query: string, body: string, type: string) =>
    fetch(`${service.url}/auth/v1/token${query}`, {
      method: "POST",
      body,
      headers: { "Content-Type": type },
    });
  const FORM = "application/x-www-form-urlencoded";

  it.each<[how: string, query: string, body: string, type: string]>([
    ["that stands twice", "", "client_secret=hunter2&client_secret=hunter22", FORM],
    ["in the query", "?client_id=a&client_secret=hunter2&access_token=hunter22", "", FORM],
    ["in another spelling", "", '{"clientSecret":"hunter2","password":"hunter22"}', "application/json"],
    ["in a list", "", '{"client_assertion":[{"a":"hunter2"}]}', "application/json"],
  ])("has no secret %s", async (_how, query, body, type) => {
    await token(query, body, type);
    expect(await journal()).not.toContain("hunter2");
    expect(await journal()).toContain("[hidden]");
  });

  it("has no private key, and no secret of an auth config", async () => {
    await control("POST", "clients", { id: "one", publicJwk: { kty: "OKP", x: "seen", d: "hunter2" } });
    const oidc = { oidcClientId: "seen too", oidcClientSecret: "hunter22" };
    await control("POST", "state", { authConfigs: [{ id: "one", oidc }] });
    expect(await journal()).not.toContain("hunter2");
    expect(await journal()).toMatch(/seen.*seen too/);
  });
});
