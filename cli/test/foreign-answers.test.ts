// What `send` says where something else than the listener answers.
import { createServer, type OutgoingHttpHeaders } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { classifyAnswer } from "hookproof/schemes";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const LOGIN = "<!DOCTYPE html>\n<html><head><title>Log in</title></head></html>";
const ANSWERS: Readonly<Record<string, readonly [number, OutgoingHttpHeaders, string]>> = {
  "a login page": [200, { "Content-Type": "text/html" }, LOGIN],
  "a page without a type": [200, {}, "\n <html>\nwelcome"],
  "the ok of Express and PHP": [200, { "Content-Type": "text/html; charset=utf-8" }, "ok"],
  "an empty 200": [200, {}, ""],
  "a page of 202": [202, {}, LOGIN],
  "a refusing page": [401, { "Content-Type": "text/html" }, LOGIN],
  "a password": [401, { "WWW-Authenticate": 'Basic realm="staging"' }, "no"],
  "a gateway": [
    403,
    { "x-amzn-ErrorType": "MissingAuthenticationTokenException" },
    '{"message":"Missing Authentication Token"}',
  ],
  "a plain 401": [401, {}, ""],
};

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const [, name = ""] = request.url?.split("/") ?? [];
    const [status, headers, body] = ANSWERS[decodeURIComponent(name)] ?? [500, {}, ""];
    response.writeHead(status, headers).end(body);
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());

async function sent(
  name: string,
  flags: readonly string[] = [],
  secret = SECRET,
  at: Pick<typeof server, "address"> = server,
): Promise<[number, string]> {
  const written: string[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
  const { port } = at.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/${encodeURIComponent(name)}/api/v1/webhooks/incoming/lst_1`;
  const exit = await run(["send", url, "--retries", "0", "--data", "{}", ...flags], {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: {
      ...{ HOOKPROOF_HOME: temporaryFolder("foreign"), NO_COLOR: "1" },
      HOOKPROOF_SECRET: secret,
    },
    stopSignal: new AbortController().signal,
  });
  return [exit, written.join("")];
}

it.each(["the ok of Express and PHP", "an empty 200"])("%s is an acceptance", async (name) => {
  const [exit, seen] = await sent(name);
  expect([exit, seen]).toEqual([0, expect.stringContaining("200 accepted, automation triggered ")]);
  expect(seen).not.toContain("Is this the listener itself?");
});

it.each(["a login page", "a page without a type", "a page of 202"])("%s triggers nothing", async (name) => {
  const [exit, seen] = await sent(name);
  expect([exit, seen]).toEqual([0, expect.stringMatching(/ 20[02] accepted {3}/)]);
  expect(seen).toMatch(/answered 20[02] with a page of HTML.* Is this the listener itself\?/);
  expect(seen).not.toContain("triggered");
});

it.each([
  [
    "a refusing page",
    "another server, another path, or a framework's error page: the answer is a page of HTML",
  ],
  ["a password", "HTTP authentication in front"],
  ["a gateway", "a gateway that has no such route"],
])("%s is told from a refusal of the listener's own", async (name, cause) => {
  const [exit, seen] = await sent(name);
  expect(exit).toBe(4);
  expect(seen).toContain(`Likely: ${cause};`);
  expect(seen).not.toMatch(/refused the (?:signature|source)/);
});

it("a 401 that shows nothing is not told as the listener's own alone", async () => {
  const [, seen] = await sent("a plain 401");
  expect(seen).toContain("The receiver refused the request as not authenticated.");
  expect(seen).toContain("Likely: another secret or key than the listener's own;");
  expect(seen).toContain("; a login or gateway in front.");
});

it("Standard Webhooks tells them as well", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const told = async (name: string) => (await sent(name, ["--scheme", "standard-webhooks"], secret))[1];
  expect(await told("a login page")).toMatch(
    /answered 200 with a page of HTML.* Is this the listener itself\?/,
  );
  expect(await told("the ok of Express and PHP")).not.toContain("Is this the listener itself?");
  expect(await told("a refusing page")).toContain("Likely: another server, another path,");
  expect(await told("a password")).toContain("Likely: HTTP authentication in front;");
});

it("a scheme that says nothing else tells them by classifyAnswer", () => {
  const body = Buffer.from(LOGIN);
  expect(classifyAnswer({ status: 200, headers: [], body }, 1, 0)).toMatchObject({
    outcome: "accepted",
    warning: expect.stringContaining("with a page of HTML"),
  });
  expect(classifyAnswer({ status: 404, headers: [], body }, 1, 0)).toMatchObject({
    hints: [expect.stringContaining("the answer is a page of HTML")],
  });
  expect(classifyAnswer({ status: 200, headers: [], body: Buffer.from("{}") }, 1, 0)).toEqual({
    outcome: "accepted",
    earlier: false,
  });
});

it("names HTTP/2 for a server that speaks nothing else", async () => {
  const alone = createHttp2Server();
  onTestFinished(() => void alone.close());
  await new Promise<void>((resolve) => alone.listen(0, "127.0.0.1", resolve));
  const [exit, text] = await sent("x", [], SECRET, alone);
  expect(text).toContain("error[RESPONSE_INVALID]");
  expect(text).toContain("one that speaks HTTP/2 alone needs a proxy in front");
  expect(exit).toBe(6);
});
