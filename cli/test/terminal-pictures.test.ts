// What commands show to a person on a terminal of 80, 100 and 120 columns, kept as pictures.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";
import { CODES, terminalPicture } from "./kit/terminal-picture.js";

const FOLDER = join(import.meta.dirname, "../../docs/images/terminal");
const WIDTHS = [80, 100, 120];
/** The secret of the documentation, by which the recorded request was checked, and one that nobody is warned of. */
const KNOWN = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PATH = "/api/v1/webhooks/incoming/";
/** Of a command that prints more than a small terminal has rows, the last are seen. */
const ROWS = 24;

/** Signed with the secret decoded from base64url, as the documentation of `diagnose` has it. */
const REQUEST = `POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1
Host: tenant.example.com
Content-Type: application/json
User-Agent: python-requests/2.32.3
Webhook-Timestamp: 1767225600
Webhook-Event-Id: 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10
Webhook-Signature: 5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA

{"type":"user.offboarded","userId":"u_123"}`;

/** A command in a terminal: everything it writes, with its colours; `ready` is told of its first line. */
async function typed(words: readonly string[], columns: number, home: string, ready?: Ready) {
  const chunks: string[] = [];
  const stop = new AbortController();
  let isStarted = false;
  const stream = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          if (!String(chunk).startsWith("\r")) chunks.push(String(chunk)); // a bar of progress
          const [url] = /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(chunks.join("")) ?? [];
          if (ready && url && !isStarted) {
            isStarted = true;
            ready(url).finally(() => stop.abort());
          }
          done();
        },
      }),
      { isTTY: true, columns },
    );
  await run([...words, "--color"], {
    stdin: Object.assign(Readable.from([]), { isTTY: false }),
    stdout: stream(),
    stderr: stream(),
    env: { HOME: home, HOOKPROOF_HOME: home, HOOKPROOF_SECRET: words[0] === "verify" ? KNOWN : SECRET },
    stopSignal: stop.signal,
  });
  return chunks.join("").trimEnd();
}

type Ready = (url: string) => Promise<void>;

/** A server until the test ends. */
async function serving(answer: (request: IncomingMessage, body: Buffer) => readonly [number, object]) {
  const server = createServer(async (request, response) => {
    const [status, says] = answer(request, await buffer(request));
    // Node writes the Date of the second before where its loop is busy, and probes of an exact second look at it.
    response.sendDate = false;
    response
      .writeHead(status, { "Content-Type": "application/json", "X-Powered-By": "PHP/8.2" })
      .end(JSON.stringify(says));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Three listeners and an id that is none of them, each of which is sent an event. */
async function eventsList(columns: number, home: string): Promise<string> {
  const answers = new Map([
    ["lst_1", 200],
    ["lst_2", 401],
    ["lst_3", 503],
  ]);
  const at = await serving(({ url = "" }) => [answers.get(url.slice(PATH.length)) ?? 404, {}]);
  const ids = ["0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f"];
  ids.push("2d3e4f5a-6b7c-4d8e-9f0a-1b2c3d4e5f6a", "3e4f5a6b-7c8d-4e9f-8a1b-2c3d4e5f6a7b");
  for (const listener of [...answers.keys(), "a1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d"])
    await typed(
      ["send", at + PATH + listener, "--event-id", ids.shift() ?? "", "--data", OFFBOARDED, "--retries", "0"],
      columns,
      home,
    );
  return await typed(["events", "list"], columns, home);
}

const OFFBOARDED = '{"type":"user.offboarded","userId":"u_123"}';

function signatureOf(secret: string | Buffer, time: unknown, id: unknown, body: string | Buffer): string {
  return createHmac("sha256", secret).update(`${time}.${id}.`).update(body).digest("base64url");
}

/** A listener that read its secret from a file with a line break at its end. */
async function testNewline(columns: number, home: string): Promise<string> {
  const seen = new Set<unknown>();
  const at = await serving(({ method, url, headers }, body) => {
    if (method !== "POST") return [405, { code: "METHOD" }];
    if (url !== `${PATH}lst_1`) return [404, { code: "NOT_FOUND" }];
    const [time, id] = [headers["webhook-timestamp"], headers["webhook-event-id"]];
    const signature = headers["webhook-signature"];
    if (!time || !id || !signature) return [400, { code: "MISSING" }];
    if (signature !== signatureOf(`${SECRET}\n`, time, id, body))
      return [401, { code: "SIGNATURE_MISMATCH" }];
    if (seen.has(id)) return [409, { code: "PROCESSED" }];
    seen.add(id);
    return [200, { automationTriggered: true }];
  });
  const text = await typed(["test", `${at}${PATH}lst_1`, "--allow-trigger"], columns, home);
  return text.split("\n").slice(-ROWS).join("\n");
}

/** A listener that forwards: what is taken, what comes twice, what is wrongly signed, what the application refuses. */
async function listening(columns: number, home: string): Promise<string> {
  const answers = [200];
  const at = await serving(() => {
    const status = answers.shift() ?? 401;
    return [status, status === 200 ? {} : { message: "Unauthenticated." }];
  });
  return await typed(
    ["listen", "--port", "0", "--no-ui", "--forward-to", `${at}/hooks`],
    columns,
    home,
    send,
  );

  async function send(url: string) {
    const taken = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    await post(url, taken, OFFBOARDED);
    await post(url, taken, OFFBOARDED);
    await post(url, "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f", OFFBOARDED, Buffer.from(SECRET, "base64url"));
    const granted = '{"type":"access.granted","userId":"u_123"}';
    await post(url, "2d3e4f5a-6b7c-4d8e-9f0a-1b2c3d4e5f6a", granted);
  }
}

async function post(url: string, id: string, body: string, secret: string | Buffer = SECRET) {
  const time = String(Math.floor(Date.now() / 1000));
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "python-requests/2.32.3",
    "Webhook-Timestamp": time,
    "Webhook-Event-Id": id,
    "Webhook-Signature": signatureOf(secret, time, id, body),
  };
  await (await fetch(url, { method: "POST", body, headers })).arrayBuffer();
}

/** What is typed, as the picture's title has it, and what the terminal then shows. */
const COMMANDS: Readonly<
  Record<string, readonly [string, (columns: number, home: string) => Promise<string>]>
> = {
  help: ["--help", (columns, home) => typed(["--help"], columns, home)],
  "explain-401": ["explain 401", (columns, home) => typed(["explain", "401"], columns, home)],
  "verify-decoded": [
    "verify request.http --ignore-time",
    (columns, home) => {
      writeFileSync(join(home, "request.http"), REQUEST.replaceAll("\n", "\r\n"));
      return typed(["verify", join(home, "request.http"), "--ignore-time"], columns, home);
    },
  ],
  "events-list": ["events list", eventsList],
  "test-newline": ["test <url> --allow-trigger", testNewline],
  listen: ["listen --forward-to <url>", listening],
};

/** With a clock, a duration and a port that are the same each time. */
function steady(text: string, home: string): string {
  return text
    .replaceAll(home, "~")
    .replace(/\b\d\d:\d\d:\d\d/g, "12:00:00")
    .replace(/\b\d+(?:\.\d)? m?s\b/g, "4 ms")
    .replace(/(127\.0\.0\.1| ):\d{4,5}\b/g, "$1:44150");
}

/** HOOKPROOF_SCREENSHOTS=1 npx vitest run cli/test/terminal-pictures.test.ts makes them again. */
describe("pictures of a terminal", () => {
  it.each(
    Object.entries(COMMANDS).flatMap(([name, [words, show]]) =>
      WIDTHS.map((columns) => [name, columns, words, show] as const),
    ),
  )(
    "%s in %i columns: as it is printed now, and no line is wider, but a command",
    async (name, columns, words, show) => {
      const home = temporaryFolder("terminal-picture");
      const text = await show(columns, home);
      const lines = text.split("\n").map((line) => line.replace(CODES, ""));
      const wide = lines.filter((line) => line.length > columns);
      expect(lines.length).toBeGreaterThan(5);
      // A command is left whole, so that it can be copied.
      expect(wide.filter((line) => !/^ *hookproof /.test(line))).toEqual([]);
      const file = join(FOLDER, `${name}-${columns}.svg`);
      const picture = terminalPicture(words, steady(text, home), columns);
      if (process.env.HOOKPROOF_SCREENSHOTS) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(file, picture);
      }
      expect(readFileSync(file, "utf8")).toBe(picture);
    },
  );

  it("each that was kept of before has one of now at its side, and the page shows both", () => {
    const before = readdirSync(join(FOLDER, "before"));
    expect(before.filter((file) => !readdirSync(FOLDER).includes(file))).toEqual([]);
    const page = readFileSync(join(FOLDER, "../../terminal.md"), "utf8");
    const shown = [...page.matchAll(/\]\((images\/terminal\/[^)]+)\)/g)].map(([, file]) => file);
    const kept = readdirSync(FOLDER).filter((file) => file.endsWith(".svg"));
    expect([...shown].sort()).toEqual(
      [
        ...kept.map((file) => `images/terminal/${file}`),
        ...before.map((file) => `images/terminal/before/${file}`),
      ].sort(),
    );
  });
});
