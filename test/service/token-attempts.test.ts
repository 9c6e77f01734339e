import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { fixedClock } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failedAttempts } from "../../service/src/auth/failed-attempts.js";
import { hashLanes } from "../../service/src/auth/hash-lanes.js";
import { itWith } from "../kit/needs.js";
import { startService } from "./running-service.js";

const clients = [{ id: "robot", secret: "robot-secret" }];
const right = { grant_type: "client_credentials", client_id: "robot", client_secret: "robot-secret" };
const wrong = { ...right, client_secret: "guess" };

interface Answer {
  status: number;
  retryAfter: string | undefined;
  body: Record<string, unknown>;
}

/** Posts a form with header lines and from an address that `fetch` would not let anybody choose. */
function post(
  url: string,
  params: Record<string, string>,
  { headers = {}, localAddress }: { headers?: Record<string, string>; localAddress?: string } = {},
): Promise<Answer> {
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/auth/v1/token`,
      { method: "POST", headers: { ...type, ...headers }, ...(localAddress ? { localAddress } : {}) },
      async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        const retryAfter = response.headers["retry-after"];
        resolve({ status: response.statusCode ?? 0, retryAfter, body: JSON.parse(text) });
      },
    );
    asked.on("error", reject).end(new URLSearchParams(params).toString());
  });
}

describe("secrets are hashed in lanes", () => {
  it("made-up clients are answered as wrong or as too many, and a real one next to them is let in", async () => {
    const { url } = await startService({ fixture: { clients } });
    const made = Array.from({ length: 120 }, (_, n) => post(url, { ...wrong, client_id: `made-up-${n}` }));
    const real = post(url, right).then(({ status }) => status);
    const answers = await Promise.all(made);
    expect(await real).toBe(200);
    const hashed = answers.filter(({ status }) => status === 401);
    expect(hashed.length).toBeGreaterThanOrEqual(8);
    for (const { status, retryAfter } of answers)
      if (status !== 401) expect({ status, retryAfter }).toEqual({ status: 429, retryAfter: "1" });
    expect((await post(url, { ...wrong, client_id: "made-up-again" })).status).toBe(401);
  });

  it("of many guesses at one client at once, ten are answered as wrong and the others as too many", async () => {
    const { url } = await startService({ fixture: { clients } });
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(url, wrong)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
  });

  it("nothing is hashed for who has gone, so nothing is counted against the client", async () => {
    const attemptLimits = { failures: 100 };
    const { url, port } = await startService({ fixture: { clients }, attemptLimits });
    const body = new URLSearchParams(wrong).toString();
    const type = "Content-Type: application/x-www-form-urlencoded";
    const sockets = Array.from({ length: 200 }, () => connect(port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets)
      socket.write(
        `POST /auth/v1/token HTTP/1.1\r\nHost: a\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    // What is answered after them is read after them: nearly all of them wait for the first ones' hashes.
    for (let n = 0; n < 5; n++) await fetch(`${url}/healthz`);
    for (const socket of sockets) socket.resetAndDestroy();
    expect((await post(url, right)).status).toBe(200);
    expect((await post(url, wrong)).status).toBe(401);
  });

  it("a lane runs one at a time, refuses what is too much, and outlives an error", async () => {
    const lanes = hashLanes();
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (name === "b") throw new Error("b");
      return name;
    };
    const all = ["a", "b", "c", "d"].map((name) => lanes.run("x", 3, work(name)).catch(() => "failed"));
    expect(await lanes.run("y", 1, work("other"))).toEqual({ result: "other" });
    expect(await Promise.all(all)).toEqual([{ result: "a" }, "failed", { result: "c" }, undefined]);
    const own = seen.filter((line) => !line.startsWith("other"));
    expect(own).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    expect(await lanes.run("x", 1, work("e"))).toEqual({ result: "e" });
  });
});

describe("failed attempts at the token endpoint", () => {
  it("are ten in a minute by default, and the right secret is refused after them as well", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { url } = await startService({ fixture: { clients }, clock });
    for (let n = 0; n < 9; n++) expect((await post(url, wrong)).status).toBe(401);
    expect((await post(url, right)).status).toBe(200);
    clock.advance(1_000);
    expect((await post(url, wrong)).status).toBe(401);
    expect(await post(url, right)).toMatchObject({ status: 429, retryAfter: "59" });
    expect(await post(url, wrong)).toMatchObject({ status: 429, retryAfter: "59" });
    clock.advance(58_999);
    expect(await post(url, right)).toMatchObject({ status: 429, retryAfter: "1" });
    clock.advance(1);
    expect((await post(url, right)).status).toBe(200);
    expect((await post(url, wrong)).status).toBe(401);
  });

  itWith("Linux", process.platform === "linux")("are counted for each address", async () => {
    const { url } = await startService({ fixture: { clients }, attemptLimits: { failures: 1 } });
    expect((await post(url, wrong)).status).toBe(401);
    expect((await post(url, right)).status).toBe(429);
    expect((await post(url, right, { localAddress: "127.0.0.2" })).status).toBe(200);
  });

  it("keep nobody out for longer because the clock was put back", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { url } = await startService({ fixture: { clients }, clock, attemptLimits: { failures: 1 } });
    expect((await post(url, wrong)).status).toBe(401);
    clock.advance(-1);
    expect((await post(url, right)).status).toBe(200);
  });

  it("are counted for 10,000 clients at a time; the one that failed first is forgotten first", () => {
    const attempts = failedAttempts({ failures: 1, windowMs: 1_000 }, { now: () => 0 });
    const of = (clientId: string, isKnown = false) => ({ address: "127.0.0.1", clientId, isKnown });
    attempts.failed(of("robot", true));
    for (let n = 0; n < 10_000; n++) attempts.failed(of(`client-${n}`));
    for (let n = 0; n < 10_000; n++) expect(attempts.waitSeconds(of(`client-${n}`))).toBe(1);
    attempts.failed(of("one more"));
    expect(attempts.waitSeconds(of("client-0"))).toBe(0);
    expect(attempts.waitSeconds(of("client-1"))).toBe(1);
    expect(attempts.waitSeconds(of("one more"))).toBe(1);
    // One that is there already takes no place.
    attempts.failed(of("client-1"));
    attempts.failed(of("one more"));
    expect(attempts.waitSeconds(of("client-2"))).toBe(1);
    // Names that somebody made up push out no client that there is.
    expect(attempts.waitSeconds(of("robot", true))).toBe(1);
  });

  it("are answered alike where there is no such client", async () => {
    const { url } = await startService({ fixture: { clients }, attemptLimits: { failures: 2 } });
    for (const client_id of ["robot", "nobody"]) {
      const statuses = [];
      for (let n = 0; n < 3; n++) statuses.push((await post(url, { ...wrong, client_id })).status);
      expect(statuses).toEqual([401, 401, 429]);
    }
  });

  it("of made-up assertions lock out nobody, and push no lock-out away", async () => {
    const { url } = await startService({ fixture: { clients }, attemptLimits: { failures: 1 } });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = (sub: string) => ({
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: `${part({ alg: "EdDSA" })}.${part({ sub })}.c2ln`,
    });
    for (let n = 0; n < 3; n++) expect((await post(url, unsigned("robot"))).status).toBe(401);
    expect((await post(url, right)).status).toBe(200);
    expect((await post(url, wrong)).status).toBe(401);
    for (let n = 0; n < 50; n++) expect((await post(url, unsigned(`made-up-${n}`))).status).toBe(401);
    expect((await post(url, right)).status).toBe(429);
  });
});

describe("a form that a browser posts for another page", () => {
  let service: Service;
  let own: string;
  beforeAll(async () => {
    service = await createService({ fixture: { clients }, attemptLimits: { failures: 3 } });
    own = service.url;
  });
  afterAll(() => service.stop());

  const refused: [what: string, headers: (own: string) => Record<string, string>][] = [
    ["of another site", () => ({ "Sec-Fetch-Site": "cross-site" })],
    [
      "of another site, navigated to",
      () => ({ "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }),
    ],
    ["of another port of this machine", () => ({ "Sec-Fetch-Site": "same-site" })],
    ["by a browser without Sec-Fetch-Site", () => ({ Origin: "https://example.com" })],
    ["that hides where it is from", () => ({ Origin: "null" })],
    ["with an empty origin", () => ({ Origin: "" })],
    ["by another scheme", (url) => ({ Origin: url.replace("http:", "https:") })],
    ["by another port", () => ({ Origin: "http://127.0.0.1:1" })],
    ["by two origins", (url) => ({ Origin: `${url}, https://example.com` })],
    [
      "by a name that was made to lead here",
      (url) => ({
        Origin: `http://evil.example:${new URL(url).port}`,
        Host: `evil.example:${new URL(url).port}`,
      }),
    ],
  ];

  it.each(refused)("%s is refused, and not counted", async (_what, headers) => {
    for (let n = 0; n < 4; n++) {
      const answer = await post(own, wrong, { headers: headers(own) });
      expect(answer).toMatchObject({ status: 403, body: { error: "invalid_request" } });
    }
    expect((await post(own, right, { headers: headers(own) })).status).toBe(403);
    expect((await post(own, right)).status).toBe(200);
  });

  it.each<[what: string, headers: (own: string) => Record<string, string>]>([
    ["the reference page", (url) => ({ Origin: url, "Sec-Fetch-Site": "same-origin" })],
    ["a person at the address bar", () => ({ "Sec-Fetch-Site": "none" })],
    [
      "the reference page by another name of loopback",
      (url) => ({
        Origin: url.replace("127.0.0.1", "localhost"),
        Host: new URL(url).host.replace("127.0.0.1", "localhost"),
      }),
    ],
    [
      "the reference page by another address",
      (url) => ({ Origin: `http://[::1]:${new URL(url).port}`, Host: `[::1]:${new URL(url).port}` }),
    ],
  ])("is taken from %s", async (_what, headers) => {
    expect((await post(own, right, { headers: headers(own) })).status).toBe(200);
  });

  it("is taken for the address that the service is told it has", async () => {
    const { url } = await startService({ fixture: { clients }, baseUrl: "https://service.example.com/base" });
    const headers = { Origin: "https://service.example.com", "Sec-Fetch-Site": "same-origin" };
    expect((await post(url, right, { headers })).status).toBe(200);
  });
});
