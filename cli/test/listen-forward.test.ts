// What a local listener makes of an application behind it, and of requests that reach no listener.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { createEvent, createSender, hmacSigner, signRequest } from "hookproof";
import { describe, expect, it, onTestFinished } from "vitest";
import { heldPort } from "../../test/kit/held-port.mjs";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const SECRET = "a-secret-of-more-than-thirty-two-characters";
const SIGNER = hmacSigner({ secret: SECRET });

/** `hookproof listen` with more words, until the test ends. */
async function listening(...words: string[]) {
  const folder = temporaryFolder("cli-forward");
  const secret = join(folder, "secret");
  writeFileSync(secret, SECRET, { mode: 0o600 });
  const stop = new AbortController();
  let printed = "";
  let told: (url: string) => void = () => {};
  const url = new Promise<string>((resolve) => {
    told = resolve;
  });
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk);
      const [, found] = /"url":"([^"]+)"/.exec(printed) ?? [];
      if (found !== undefined) told(found);
      done();
    },
  });
  let warned = "";
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      warned += String(chunk);
      done();
    },
  });
  const ended = run(["listen", "--port", "0", "--no-ui", "--json", "--secret-file", secret, ...words], {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: stop.signal,
  });
  onTestFinished(() => stop.abort());
  return {
    url: await url,
    /** What it has printed besides. */
    warned: () => warned,
    /** Its documents about requests, once it has ended. */
    async requests(): Promise<Record<string, unknown>[]> {
      stop.abort();
      await ended;
      const documents = printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      return documents.filter(({ type }) => type === "request");
    },
  };
}

/** An application that answers with one status after another, and keeps the ids that it was given. */
async function application(...statuses: number[]) {
  const ids: unknown[] = [];
  const server = createServer((request, response) => {
    ids.push(request.headers["webhook-event-id"]);
    response.writeHead(statuses.shift() ?? 200).end("said by the application");
    request.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ids, at: `127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
}

const send = async (url: string, event = createEvent({ a: 1 })) => {
  const sender = createSender({ url, signer: SIGNER, retry: { maxAttempts: 1 } });
  return sender.send(event).then(
    ({ status }) => status,
    (error) => error.attempts.at(-1).status as number,
  );
};

it.each([500, 401, 302, 404])(
  "an event that the application answered with %s is not taken: the sender hears that, and the same id comes to it again",
  async (status) => {
    const app = await application(status, 200);
    const listener = await listening("--forward-to", app.at);
    const event = createEvent({ a: 1 });
    expect([
      await send(listener.url, event),
      await send(listener.url, event),
      await send(listener.url, event),
    ]).toEqual([status, 200, 409]);
    expect(app.ids).toEqual([event.id, event.id]);
    expect(await listener.requests()).toMatchObject([
      {
        status,
        code: "RUN_FAILED",
        reason: "This listener accepts it; your application refuses it, so the same event may come again.",
        forwarded: { status, ms: expect.any(Number), body: "said by the application" },
      },
      { status: 200, forwarded: { status: 200 } },
      { status: 409, code: "EVENT_DUPLICATE" },
    ]);
  },
);

it("an application that had the event before has taken it", async () => {
  const app = await application(409, 200);
  const listener = await listening("--forward-to", app.at);
  const event = createEvent({ a: 1 });
  expect([await send(listener.url, event), await send(listener.url, event)]).toEqual([409, 409]);
  expect(app.ids).toEqual([event.id]);
});

it("hands the application's answer on with what it means to the sender, and shows no secret of it", async () => {
  const server = createServer((request, response) => {
    request.resume();
    const headers = { "Content-Type": "text/plain", "Retry-After": "7", "Set-Cookie": "a=b" };
    response.writeHead(429, headers).end(`slow\u001b[31m down ${SECRET}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const listener = await listening(
    "--forward-to",
    `127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
  );
  const { headers, body, url } = await signRequest({
    url: listener.url,
    signer: SIGNER,
    event: createEvent({ a: 1 }),
  });
  const answer = await fetch(url, { method: "POST", headers, body });
  expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("set-cookie")]).toEqual([
    429,
    "7",
    null,
  ]);
  expect(await answer.text()).toBe("slow\u001b[31m down […]");
  expect(JSON.stringify(await listener.requests())).not.toContain(SECRET);
});

it("shows no secret of the application's header lines either, to the sender or in what -v prints", async () => {
  const server = createServer((request, response) => {
    request.resume();
    response
      .writeHead(400, {
        Location: `/?s=${SECRET}`,
        "Content-Type": `text/${SECRET}`,
        "WWW-Authenticate": `Basic realm="${encodeURIComponent(SECRET)}, an-own-value-of-the-user"`,
      })
      .end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listener = await listening("--forward-to", at, "--header", "X-Key: an-own-value-of-the-user", "-v");
  const { headers, body, url } = await signRequest({
    url: listener.url,
    signer: SIGNER,
    event: createEvent({ a: 1 }),
  });
  const answer = await fetch(url, { method: "POST", headers, body });
  expect([answer.status, answer.headers.get("location")]).toEqual([400, "/?s=[...]"]);
  const lines = JSON.stringify([...answer.headers]);
  for (const value of [SECRET, "an-own-value-of-the-user"]) {
    expect(lines).not.toContain(value);
    expect(listener.warned()).not.toContain(value);
  }
  expect(listener.warned()).toContain("< Location: /?s=[...]");
});

it("hands on no credential for a proxy, and no line that a program takes for one of the user's own", async () => {
  let got: string[] = [];
  const server = createServer((request, response) => {
    got = request.rawHeaders;
    request.resume();
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listener = await listening("--forward-to", at, "--header", "X-App-Key: mine");
  const { headers, body, url } = await signRequest({
    url: listener.url,
    signer: SIGNER,
    event: createEvent({ a: 1 }),
  });
  const theirs = [
    "X-App-Key",
    "x_app_key",
    "X-App_Key",
    "Proxy-Authorization",
    "Proxy-Authenticate",
    "X-Other",
  ];
  await fetch(url, {
    method: "POST",
    headers: [...Object.entries(headers), ...theirs.map((name): [string, string] => [name, "theirs"])],
    body,
  });
  const names = got.filter((_name, at) => got[at + 1] === "theirs").map((name) => name.toLowerCase());
  expect(names).toEqual(["x-other"]);
  expect(got[got.findIndex((name) => name.toLowerCase() === "x-app-key") + 1]).toBe("mine");
});

it("an event is not taken where nothing answers behind the listener", async () => {
  const listener = await listening("--forward-to", `127.0.0.1:${await heldPort()}`, "--timeout", "300ms");
  expect(await send(listener.url)).toBe(503);
  expect(await listener.requests()).toMatchObject([
    { status: 503, forwarded: { error: expect.any(String) } },
  ]);
});

it.each([
  "/nope",
  "/api/v1/webhooks/incoming/lst_local/",
  "//api/v1/webhooks/incoming/lst_local",
  "/api/v1/webhooks/incoming/lst_other",
])("tells of a request at %s, and where the listener is", async (path) => {
  const listener = await listening();
  const answer = await fetch(new URL(listener.url).origin + path, { method: "POST", body: "{}" });
  expect(answer.status).toBe(404);
  expect(await listener.requests()).toMatchObject([
    {
      status: 404,
      code: "LISTENER_UNKNOWN",
      reason: `This listener is at /api/v1/webhooks/incoming/lst_local, and nothing at ${path}.`,
    },
  ]);
});

describe("plain HTTP to another machine", () => {
  it.each([
    ["http://x.example/hooks", "x.example"],
    ["HTTP://X.example:81/hooks", "x.example:81"],
    ["http://app:3000/hooks", "app:3000"],
    ["http://127.0.0.1.x.example/", "127.0.0.1.x.example"],
  ])("is nothing that listen forwards over: %s", async (url, host) => {
    const [exit, seen] = await refused("listen", "--port", "0", "--no-ui", "--forward-to", url);
    expect([exit, seen]).toEqual([2, expect.stringContaining("error[TLS_REQUIRED]")]);
    expect(seen).toContain(`--forward-to is plain HTTP to ${host}, which is not on this machine.`);
    expect(seen).toContain("--plain-http");
  });

  it.each([
    ["this machine", "http://localhost:9/", []],
    ["TLS", "https://x.example/", []],
    ["a container that is named", "http://app:3000/", ["--plain-http", "app"]],
  ])("is not meant where it leads to %s", async (_what, url, words) => {
    const argv = ["listen", "--port", "0", "--no-ui", "--exit-after", "1ms", "--forward-to", url, ...words];
    const [exit, seen] = await refused(...argv);
    expect([exit, seen]).toEqual([0, expect.not.stringContaining("error[")]);
  });

  it("is not opened by a flag that would do nothing", async () => {
    const [exit, seen] = await refused("listen", "--port", "0", "--no-ui", "--plain-http", "app");
    expect([exit, seen]).toEqual([2, expect.stringContaining("--plain-http is for --forward-to.")]);
  });

  it("is not where a recorded request is repeated either", async () => {
    const file = join(temporaryFolder("cli-recorded"), "event.json");
    const url = "http://x.example/api/v1/webhooks/incoming/lst_1";
    const { headers } = await signRequest({
      url: url.replace("http:", "https:"),
      signer: SIGNER,
      event: createEvent({}),
    });
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    const event = {
      type: "event",
      at: 1,
      eventId,
      url,
      method: "hmac",
      headers,
    };
    writeFileSync(file, JSON.stringify({ ...event, bodyBase64: "e30=", outcome: "accepted" }));
    const [exit, seen] = await refused("replay", file, "--exact", "--yes");
    expect([exit, seen]).toEqual([
      2,
      expect.stringContaining("The recorded URL is plain HTTP to x.example, which is not on this machine."),
    ]);
  });
});

/** What a command that ends by itself says, with its exit code. */
async function refused(...argv: string[]): Promise<[number, string]> {
  let seen = "";
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        seen += String(chunk);
        done();
      },
    });
  const env = { HOOKPROOF_HOME: join(temporaryFolder("cli-refused"), "home"), NO_COLOR: "1" };
  const stopSignal = new AbortController().signal;
  const exit = await run(argv, { stdin: Readable.from([]), stdout: sink(), stderr: sink(), env, stopSignal });
  return [exit, seen];
}
