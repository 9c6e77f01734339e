// What the page copies of a request or a call: a command of curl or hookproof, a program, a test.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asCommand } from "../../service/inspector/copy/as-command.js";
import { asCurl, callAsCurl } from "../../service/inspector/copy/as-curl.js";
import { asProgram, LANGUAGES } from "../../service/inspector/copy/as-program.js";
import { asTest } from "../../service/inspector/copy/as-test.js";
import { shellQuoted } from "../../service/inspector/copy/shell-quoted.js";
import type {
  CallDetail,
  ListenerInfo,
  RequestDetail,
  TokenDetail,
} from "../../service/src/inspector/contract.js";
import { root } from "../kit/built-package.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { inspected, SECRET } from "./inspected.js";

const URL_1 = "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1";
const ID = "0b3e9f5c-7d2a-4c61-8f4b-2f1d9a6e5c70";
const base64 = (body: string | Uint8Array) => Buffer.from(body).toString("base64");

/** A request as the page has it. */
function detail(given: Partial<RequestDetail> = {}): RequestDetail {
  const plain = { method: "POST", url: URL_1, auth: "hmac", status: 200, steps: [], headers: [] };
  return { ...plain, at: 0, bodyBase64: base64('{"a":1}'), ...given } as unknown as RequestDetail;
}

/** The words that bash gives to a program, and what that gets on its standard input. */
function inBash(command: string, program = "curl"): { words: string[]; input: Buffer } {
  const stand = `${program}() { printf '%s\\0' "$@"; printf '\\1'; [ "\${*#*@-}" = "$*" ] || cat; }`;
  const out = execFileSync("bash", ["-c", `${stand}\n${command}`], {
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });
  const end = out.indexOf(1);
  return { words: out.subarray(0, end).toString().split("\0").slice(0, -1), input: out.subarray(end + 1) };
}
const PLAIN = ["-sS", "-i", "-g", "--path-as-is"];
const UNSET = ["-H", "Accept:", "-H", "User-Agent:", "-H", "Content-Type:"];

describe("a request as a command of curl", () => {
  it("has the header lines as they came, without those of the connection", () => {
    const headers: [string, string][] = [
      ...["Host", "connection", "Content-Length", "TRANSFER-ENCODING", "Keep-Alive", "Expect"].map(
        (name): [string, string] => [name, "of the connection"],
      ),
      ["X-Twice", "1"],
      ["x-twice", "it's 2"],
      ["X-Empty", ""],
    ];
    expect(inBash(asCurl(detail({ headers }))).words).toEqual([
      ...PLAIN,
      ...["-H", "X-Twice: 1", "-H", "x-twice: it's 2", "-H", "X-Empty;"],
      ...[...UNSET, "--data-raw", '{"a":1}', URL_1],
    ]);
  });

  it("keeps curl from header lines of its own, but not from those that were sent", () => {
    const sent = (...names: string[]) =>
      inBash(asCurl(detail({ headers: names.map((name) => [name, "x"] as const) }))).words.filter((word) =>
        word.endsWith(":"),
      );
    expect(sent("ACCEPT", "content-type")).toEqual(["User-Agent:"]);
    expect(sent("User-Agent", "X-Other")).toEqual(["Accept:", "Content-Type:"]);
  });

  it("names the method where it is another one than that of a body", () => {
    expect(inBash(asCurl(detail({ method: "PUT" }))).words.slice(4, 6)).toEqual(["-X", "PUT"]);
  });

  it("gives bytes that are no text, or that would act in a terminal, on its standard input", () => {
    for (const body of [Uint8Array.of(0x61, 0xff), Uint8Array.of(0xff), "\u001b[2J", "a\u202eb"]) {
      const { words, input } = inBash(asCurl(detail({ bodyBase64: base64(body) })));
      expect(words).toEqual([...PLAIN, ...UNSET, "--data-binary", "@-", URL_1]);
      expect(input).toEqual(Buffer.from(body));
    }
    expect(inBash(asCurl(detail({ bodyBase64: base64("a\nb") }))).words).toContain("a\nb");
    expect(inBash(asCurl(detail({ bodyBase64: "" }))).words.slice(-3)).toEqual(["--data-raw", "", URL_1]);
  });

  it("has each byte of a header line, whatever it is", () => {
    const bytes = Array.from({ length: 255 }, (_, n) => String.fromCharCode(n + 1)).join("");
    const command = asCurl(detail({ headers: [["X", bytes]] }));
    expect(command.replaceAll("\n", "")).toMatch(/^[ -~]+$/);
    const stand = `curl() { printf '%s\\0' "$@"; }\n${command}`;
    const out = execFileSync("bash", ["-c", stand], { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    expect(out.toString("latin1").split("\0")).toContain(`X: ${bytes}`);
    // A browser hands a header over as characters, of which none is beyond a byte; a file may have others.
    expect(inBash(asCurl(detail({ headers: [["X", "ÿĀ😀"]] }))).words.at(5)).toMatch(/Ā😀$/);
  });
});

describe("a call of the API as a command of curl", () => {
  const LISTENERS = "http://127.0.0.1:8";
  const call = (given: Partial<CallDetail> & { host?: string; type?: string; token?: string } = {}) => {
    const { host = "localhost:9", type, token, ...more } = given;
    const headers = Object.entries({ HOST: host, "Content-type": type, Authorization: token }).flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, value] as const]),
    );
    return { method: "GET", target: "/api/v1/a?b='1'", headers, ...more } as unknown as CallDetail;
  };
  const words = (given: Parameters<typeof call>[0], listeners?: string) =>
    inBash(callAsCurl(call(given), listeners) ?? "", "curl").words;

  it("goes to where the listeners are, else to the host that it was sent to", () => {
    expect(words({}, LISTENERS)).toEqual([...PLAIN, `${LISTENERS}/api/v1/a?b='1'`]);
    expect(words({})).toEqual([...PLAIN, "http://localhost:9/api/v1/a?b='1'"]);
    for (const host of ["localhost", "127.0.0.1", "[::1]:65535"])
      expect(words({ host })).toEqual([...PLAIN, `http://${host}/api/v1/a?b='1'`]);
  });

  it("is not there where a stranger's header names another machine", () => {
    const hosts = [
      "",
      "evil.test",
      "localhost.evil.test",
      "xlocalhost:9",
      "127.0.0.1:9x",
      "localhost:123456",
    ];
    expect(hosts.filter((host) => callAsCurl(call({ host }), undefined) !== undefined)).toEqual([]);
  });

  it("gets a token of its own where the call had one", () => {
    const text = callAsCurl(call({ token: "Bearer abc" }), LISTENERS) ?? "";
    expect(text).not.toContain("abc");
    const said = inBash(`hookproof() { echo "token of $*"; }\n${text}`).words;
    expect(said).toContain(`Authorization: Bearer token of service token --base-url ${LISTENERS}`);
  });

  it("has its method where curl would take another, and its body of JSON", () => {
    const body = '{"a":"it\'s"}\n';
    const json = ["-H", "Content-Type: application/json", "--data-raw", body];
    const url = `${LISTENERS}/api/v1/a?b='1'`;
    const type = "application/problem+json; charset=utf-8";
    expect(words({ method: "POST", type, body }, LISTENERS)).toEqual([...PLAIN, ...json, url]);
    expect(words({ method: "PUT", type: "JSON", body }, LISTENERS)).toEqual([
      ...PLAIN,
      ...["-X", "PUT", ...json, url],
    ]);
    expect(words({ method: "HEAD" }, LISTENERS)).toEqual([...PLAIN, "--head", url]);
    expect(words({ method: "POST" }, LISTENERS)).toEqual([...PLAIN, "-X", "POST", url]);
    expect(words({ method: "GET", type, body }, LISTENERS).slice(4, 6)).toEqual(["-X", "GET"]);
  });

  it.each([
    ["a method that is none", { method: "GET;id" }],
    ["a method that is too long", { method: "A".repeat(13) }],
    ["a method in small letters", { method: "get" }],
    ["a target with what is not seen", { target: "/a\u202e" }],
    ["a body with what is not seen", { type: "application/json", body: "\u001b" }],
    ["a body of another kind", { type: "text/jsonp", body: "{}" }],
    ["a body without its kind", { body: "{}" }],
    ["a body that may be cut", { type: "application/json", body: "1".repeat(16_384) }],
  ])("is not there for %s", (_what, given) => {
    expect(callAsCurl(call(given), LISTENERS)).toBeUndefined();
  });

  it("is there up to the longest body that is whole", () => {
    const body = "1".repeat(16_383);
    expect(words({ method: "POST", type: "application/json", body }, LISTENERS)).toContain(body);
  });
});

describe("a request as a command of hookproof", () => {
  const words = (given: Partial<RequestDetail>) => inBash(asCommand(detail(given)) ?? "", "hookproof").words;

  it("sends the same event, with its own id where that is one", () => {
    expect(words({})).toEqual(["send", URL_1, '--data={"a":1}']);
    expect(words({ eventId: ID })).toEqual(["send", URL_1, "--event-id", ID, '--data={"a":1}']);
    expect(words({ eventId: "$(id)" })).toEqual(["send", URL_1, '--data={"a":1}']);
  });

  it("says which key signs a token, or that one is wanted", () => {
    const token = { key: { kid: "k 1" } } as TokenDetail;
    expect(words({ auth: "jwt", token }).slice(2, 6)).toEqual(["--method", "jwt", "--key", "k 1"]);
    expect(words({ auth: "jwt" }).slice(2, 6)).toEqual(["--method", "jwt", "--key", "KEY-ID"]);
    expect(words({ auth: "jwt", token: {} as TokenDetail }).slice(5, 6)).toEqual(["KEY-ID"]);
  });

  it.each([
    ["of another scheme", { scheme: "another" }],
    ["whose body is no text", { bodyBase64: base64(Uint8Array.of(0x22, 0xff, 0x22)) }],
    ["whose body is no JSON", { bodyBase64: base64("{") }],
    ["whose body has what is not seen", { bodyBase64: base64('"\u202e"') }],
  ])("is not there for a request %s", (_what, given) => {
    expect(asCommand(detail(given))).toBeUndefined();
  });
});

it("a word of a shell is itself, quoted where it has to be, and escaped where it would act", () => {
  const texts = [
    "a/b%c@1+2=3:4,5.6-_",
    "",
    "a b",
    "it's",
    "$HOME `id` \\",
    "-é",
    "a\nb",
    "\u007f'\\",
    "\u0080Ā\uffff\u{10000}",
  ];
  for (const text of texts) {
    const word = shellQuoted(text);
    expect(inBash(`curl ${word}`).words, word).toEqual([text]);
  }
  expect(texts.map(shellQuoted).slice(0, 7)).toEqual([
    ...["a/b%c@1+2=3:4,5.6-_", "''", "'a b'", "'it'\\''s'", "'$HOME `id` \\'", "'-é'", "'a\nb'"],
  ]);
});

describe("a request as a program", () => {
  it("is there for each language, with the address and the body", () => {
    for (const language of LANGUAGES) {
      const text = asProgram(language, detail({ bodyBase64: base64("[7]") })) ?? "";
      expect(text, language).toContain(URL_1);
      expect(text, language).toContain("[7]");
      const bytes = base64(Uint8Array.of(0x22, 0xff));
      expect(asProgram(language, detail({ bodyBase64: bytes })), language).toContain(bytes);
    }
  });

  it("has what is no ASCII as escapes, but for halves of a character, which Go would not take", () => {
    const url = `${URL_1}?\u007f\ud7ffé\ue000\uffff😀`;
    for (const language of ["JavaScript", "Python", "Go"] as const)
      expect(asProgram(language, detail({ url }))).toContain(String.raw`?\u007f\ud7ff\u00e9\ue000\uffff😀"`);
    expect(asProgram("PHP", detail({ bodyBase64: base64(`["it's \\\\ $x"]`) }))).toContain(
      String.raw`'["it\'s \\\\ $x"]'`,
    );
  });

  it("is not there for a body that was cut, nor for another signature", () => {
    expect(asProgram("Go", detail({ isCut: true }))).toBeUndefined();
    expect(asProgram("Go", detail({ auth: "jwt" }))).toBeUndefined();
  });
});

describe("a request as a test", () => {
  const listener = {
    id: "lst_1",
    url: URL_1,
    auth: "hmac",
    allowedCidrs: ["127.0.0.0/8"],
  } as unknown as ListenerInfo;
  const failed = (step: string, code: string) => [{ step, state: "failed", rule: "", code }] as const;

  it("asks the library for the same verdict, and gets it; another secret is told", async () => {
    const { post, detail: seen, call } = await inspected();
    const { eventId } = await post();
    await post({ eventId });
    await post({ headers: { "Webhook-Signature": "wrong" } });
    await post({ body: Uint8Array.of(0x22, 0xff, 0x22) });
    const { listeners } = (await call("api/session")).json<{ listeners: ListenerInfo[] }>();
    const folder = temporaryFolder("copied-test");
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules", "hookproof"));
    const files: string[] = [];
    for (const n of [1, 2, 3, 4]) {
      const file = join(folder, `${n}.mjs`);
      const text = asTest(await seen(n), listeners[0]) ?? "";
      expect(text).not.toContain(SECRET);
      writeFileSync(file, text);
      files.push(file);
    }
    const run = (secret: string, ...which: string[]) =>
      execFileSync(
        process.execPath,
        ["--import", "tsx", "--conditions=source", "--test", "--test-reporter=tap", ...which],
        { cwd: root, env: { ...process.env, HOOKPROOF_SECRET: secret, NODE_OPTIONS: "" }, encoding: "utf8" },
      );
    const out = run(SECRET, ...files);
    expect(out).toContain("# pass 4");
    for (const outcome of ["200", "409 EVENT_DUPLICATE", "401 SIGNATURE_MISMATCH"])
      expect(out).toContain(`the recorded request gets ${outcome}`);
    expect(() => run("QW5vdGhlciBrZXksIHdoaWNoIHRoZSBzZW5kZXIgaGFzIG5vdA", ...files.slice(0, 1))).toThrow();
  });

  it("takes the time, the address and the listener of the recording", () => {
    const text = asTest(detail({ at: 1_767_225_600_123, sourceAddress: "::1" }), listener) ?? "";
    expect(text).toContain("clock: { now: () => 1767225600123 },");
    expect(text).toContain('sourceAddress: "::1",');
    expect(text).toContain('allowedCidrs: ["127.0.0.0/8"],');
    expect(text).toContain('baseUrl: "http://127.0.0.1:1",');
    expect(asTest(detail({ headers: [["A", '"']] }), listener)).toContain('    ["A", "\\""],\n');
    expect(asTest(detail(), listener)).toContain('sourceAddress: "127.0.0.1",');
  });

  it("reads the key set for a token, and the secret from the environment for a signature", () => {
    const jwt = asTest(detail(), { ...listener, auth: "jwt" }) ?? "";
    expect(jwt).toContain('keys: localKeys(JSON.parse(readFileSync("jwks.json", "utf8")))');
    expect(jwt).not.toContain("process.env");
    expect(asTest(detail(), listener)).not.toContain("jwks");
  });

  it("is not there where the listener's memory, its automation or another scheme decided", () => {
    const told = [
      asTest(detail(), undefined),
      asTest(detail(), { ...listener, scheme: "another" }),
      asTest(detail({ steps: failed("trigger", "X") as never, status: 404 }), listener),
      asTest(detail({ steps: failed("run", "X") as never, status: 404 }), listener),
      asTest(detail({ status: 500 }), listener),
      asTest(detail({ status: 200, verdictStatus: 503 }), listener),
    ];
    expect(told).toEqual(told.map(() => undefined));
    const signature = detail({ steps: failed("signature", "SIGNATURE_MISMATCH") as never, status: 401 });
    expect(asTest(signature, listener)).toContain(
      'assert.equal(verdict.ok ? undefined : verdict.code, "SIGNATURE_',
    );
  });
});
