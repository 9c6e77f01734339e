// Captures at the edges of their forms: what stands around a request, what is masked or cut, and what only looks like it.
import { describe, expect, it } from "vitest";
import { parseCaptured, parseHeaders } from "../src/capture/captured-request.js";
import { anchored, fromEnvironment } from "../src/config/settings.js";
import { isLoopback } from "../src/credentials/origin-rule.js";
import { isHttpUrl } from "../src/credentials/typed-target.js";

const HEAD = "POST /hooks HTTP/1.1\r\nHost: a.test\r\nWebhook-Signature: abc\r\n";
const BODY = '{"a":1}';
const RAW = `${HEAD}\r\n${BODY}`;

/** The request in a capture, with its body as a text. */
function read(text: string | Uint8Array) {
  const { body, headers, ...rest } = parseCaptured(
    typeof text === "string" ? Buffer.from(text) : Buffer.from(text),
  );
  return { ...rest, headers: Object.fromEntries(headers), body: Buffer.from(body).toString() };
}
const bodyOf = (text: string) => read(text).body;
const lines = (text: string) => text.replaceAll("\r\n", "\n");
const margin = (sign: string) =>
  lines(RAW)
    .split("\n")
    .map((line) => sign + line)
    .join("\n");

describe("a request in a margin is read without it:", () => {
  it.each([
    ...[
      "    ",
      "\t",
      "> ",
      ">",
      "+",
      "web.1  | ",
      "app | ",
      "[2026-01-01T00:00:00Z] ",
      "2026-01-01 00:00:00.000 ",
    ],
    ...["> > ", "  > ", "+    "],
  ])("%j", (sign) => {
    expect(read(margin(sign))).toMatchObject({ method: "POST", target: "/hooks", body: BODY });
  });

  it("numbers of lines, and different depths, of which the smallest is the margin", () => {
    const numbered = lines(RAW)
      .split("\n")
      .map((line, n) => `   ${n + 8}\t${line}`)
      .join("\n");
    expect(bodyOf(numbered)).toBe(BODY);
    expect(bodyOf(`  POST /x HTTP/1.1\n  Content-Type: a/b\n  \n    {"a":1}`)).toBe('  {"a":1}');
  });

  it("but not a margin that some lines do not have", () => {
    expect(bodyOf(`${lines(HEAD)}\n> quoted\nnot`)).toBe("> quoted\nnot");
  });

  it("as often as there is one, up to eight times", () => {
    const deep = (times: number) => "> ".repeat(times);
    expect(bodyOf(margin(deep(8)))).toBe(BODY);
    expect(() => read(margin(deep(40)))).toThrow(/not a raw HTTP request|no request/);
  });
});

describe("a request inside of something else is read out of it:", () => {
  it.each([
    ["a fence", `\`\`\`http\n${RAW}\n\`\`\``],
    ["a fence below words", `It was this:\n\n\`\`\`\n${RAW}\n\`\`\`\nand failed`],
    ["a fence that does not end", `\`\`\`\n${RAW}`],
    ["a mail", `From: a@a.test\nSubject: x\n\n${RAW}`],
    ["one line", JSON.stringify(RAW).slice(1, -1)],
    ["a text of JSON", JSON.stringify(RAW)],
    ["comments", `# a request\n// of mine\n@host = x\n${RAW}`],
    ["a file of an HTTP client", `### first\n${RAW}\n\n### second\nGET /y HTTP/1.1\n\n`],
    ["base64", Buffer.from(RAW).toString("base64")],
    ["hex", Buffer.from(RAW).toString("hex")],
    ["blank lines", `\n \t\r\n${RAW}`],
    ["a sign that is not seen", `\u200b${RAW}`],
    ["a byte order mark", `\uFEFF${RAW}`],
    ["colours", `\u001b[32mPOST /hooks HTTP/1.1\u001b[0m\r\nWebhook-Signature: abc\r\n\r\n${BODY}`],
    ["marks of requests_toolbelt", `< POST /hooks HTTP/1.1\r\n< Webhook-Signature: abc\r\n< \r\n< ${BODY}`],
  ])("%s", (_, text) => {
    expect(read(text)).toMatchObject({ method: "POST", target: "/hooks", body: BODY });
  });

  it("an empty file, and one of white space, are told", () => {
    for (const text of ["", " \n\t"]) expect(() => read(text)).toThrow("The capture is empty.");
  });
});

describe("what proves a request is not there where it is masked, cut or not yet filled in:", () => {
  const withValue = (value: string, name = "Webhook-Signature") =>
    `POST /x HTTP/1.1\r\n${name}: ${value}\r\n\r\n${BODY}`;

  it.each([
    "{{signature}}",
    "{% x %}",
    "<<x>>",
    "$SIGNATURE",
    `\${SIG}`,
    "$(sign)",
    "%SIG%",
    "Bearer $TOKEN",
  ])("%s is a variable", (value) => {
    expect(() => read(withValue(value, "Authorization"))).toThrow(
      /Authorization in this capture is a variable/,
    );
  });

  it.each([
    ...[
      "***",
      "xxx",
      "Bearer ***",
      "v1,...",
      "[REDACTED]",
      "<filtered>",
      "masked",
      "abc...",
      "abc…",
      "ab***cd",
    ],
    ...["x".repeat(16), "a [redacted] b", "••", "v1,•••"],
  ])("%s is masked or cut", (value) => {
    expect(() => read(withValue(value))).toThrow(expect.objectContaining({ code: "CAPTURE_INCOMPLETE" }));
  });

  it("a long value is looked at for a mask alone, and a longer one not at all", () => {
    expect(() => read(withValue(`${"a".repeat(297)}…`))).toThrow(/masked or cut/);
    expect(read(withValue(`${"a".repeat(300)}…`)).body).toBe(BODY);
    expect(() => read(withValue(`${"a".repeat(400)}***`))).toThrow(/masked or cut/);
    expect(read(withValue(`${"a".repeat(16_384)}***`)).body).toBe(BODY);
  });

  it("other headers may have what they like, and a name that is none is not shown", () => {
    expect(read(withValue("***", "X-Other")).body).toBe(BODY);
    expect(read(withValue("***", "My-Webhook-Signature")).body).toBe(BODY);
    expect(() => read(withValue("***", "Signature\u00e9"))).toThrow(/^a header in this capture/);
    expect(() => read(withValue("***", `svix-${"a".repeat(60)}`))).toThrow(/^a header in this capture/);
  });
});

describe("a body is doubted", () => {
  const doubtOf = (body: string, more = "") => read(`POST /x HTTP/1.1\r\n${more}\r\n${body}`).doubt ?? "none";
  const length = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n`;

  it.each([
    ['{"a":"[redacted]"}', /masked value/],
    ['{"a":"***"}', /masked value/],
    ['{"a":"12***89"}', /masked value/],
    ['{"a":"•••"}', /masked value/],
    ['{"a":1...', /ends as what a log has cut/],
    ['{"a":1 [truncated]', /ends as what a log has cut/],
    ['{"a":1 and 40 more bytes)', /ends as what a log has cut/],
    ['{"a":[1', /middle of its JSON/],
    ['["a', /middle of its JSON/],
    ['{"a":"\\"', /middle of its JSON/],
    ["{“a”:1}", /typographic quotes/],
    ["[„a“]", /typographic quotes/],
    [BODY, /^none$/],
    ['{"a":"} ["}', /^none$/],
    ['"]"', /^none$/],
    ["a [b", /^none$/],
    ['{"a":"“quoted”"}', /^none$/],
  ])("%s: %s", (body, doubt) => {
    expect(doubtOf(body)).toMatch(doubt);
  });

  it("by its length where that was sent, and by nothing but a mask then", () => {
    expect(doubtOf('{"a":[1', length('{"a":[1'))).toBe("none");
    expect(doubtOf('{"a":"***"}', length('{"a":"***"}'))).toMatch(/masked value/);
    expect(doubtOf(BODY, "Content-Length: 99\r\n")).toMatch(
      /99 bytes by its Content-Length, and the capture has 7: it is cut off/,
    );
    expect(doubtOf(`${BODY}more`, length(BODY))).toMatch(/has written it again/);
    for (const end of [
      "\n",
      "\n\n",
      "\nHTTP/1.1 200 OK",
      "\n> HTTP/2 200",
      "\nPOST /y",
      "\n==========",
      "\n----------",
    ])
      expect(read(`POST /x HTTP/1.1\r\n${length(BODY)}\r\n${BODY}${end}`)).toMatchObject({ body: BODY });
  });
});

describe("a raw request", () => {
  it("may end its lines in either way, and have a blank in the empty one", () => {
    for (const gap of ["\r\n\r\n", "\n\n", "\n \n", "\n\t\r\n", "\r\n \r\n"])
      expect(read(`POST /x HTTP/1.1\nA: b${gap}${BODY}`), JSON.stringify(gap)).toMatchObject({
        body: BODY,
        headers: { A: "b" },
      });
    expect(read("POST /x HTTP/1.1\nA: b\n  c\n\n{}").headers).toEqual({ A: "b c" });
  });

  it("is without its body where no empty line ends its head, but for a GET, and for one of no length", () => {
    expect(read("POST /x HTTP/1.1\nA: b").lacksBody).toMatch(/headers alone/);
    expect(read("GET /x HTTP/1.1\nA: b").lacksBody).toBeUndefined();
    expect(read("POST /x HTTP/1.1\nContent-Length: 0").lacksBody).toBeUndefined();
    expect(read("POST /x HTTP/1.1\nContent-Length: 5\n\n").lacksBody).toMatch(/it sent 5 bytes/);
  });

  it("has the body that stands between the sizes of its chunks", () => {
    const chunked = (body: string) => `POST /x HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${body}`;
    expect(bodyOf(chunked('3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\n\r\n'))).toBe(BODY);
    expect(bodyOf(chunked('3\n{"a\n4\n":1}\n0\n\n'))).toBe(BODY);
    // A tool that decoded the chunks has left the header.
    expect(bodyOf(chunked(BODY))).toBe(BODY);
  });

  it("is told where it is none", () => {
    for (const text of ["post /x HTTP/1.1\n\n", "POST\n\n", "POST /x HTTP/1.1 y\n\n"])
      expect(() => read(text)).toThrow(/not a raw HTTP request/);
    expect(() => read("POST /x HTTP/1.1\nno colon\n\n{}")).toThrow('Not a header line: "no colon".');
  });

  it("may be headers alone, of a webhook", () => {
    expect(read(`Webhook-Signature: abc\nContent-Type: a/b\n\n${BODY}`)).toMatchObject({
      target: "/",
      body: BODY,
    });
    expect(() => read(`Content-Type: a/b\nX: y\n\n${BODY}`)).toThrow(/not a raw HTTP request/);
  });
});

describe("the file of --headers", () => {
  it("has lines, JSON, or what curl -v shows", () => {
    const wanted = [["A", "b"]];
    for (const text of [
      "A: b\n",
      "A: b\r\n",
      '{"A":"b"}',
      '\n [["A","b"]]',
      "> POST /x HTTP/1.1\r\n> A: b\r\n> \r\n",
      '{"A":["b"],"C":null}',
    ])
      expect(parseHeaders(text), text).toEqual(wanted);
    expect(() => parseHeaders("import requests")).toThrow(/The file of --headers is program code/);
  });
});

describe("settings and addresses", () => {
  it("a setting of the environment has the type of its own", () => {
    const of = (kind: string, text: string) => fromEnvironment({ kind } as never, text);
    expect([
      of("number", "12"),
      of("number", "1.5"),
      of("number", "x1"),
      of("texts", "a"),
      of("paths", "a"),
      of("text", "1"),
    ]).toEqual([12, "1.5", "x1", ["a"], ["a"], "1"]);
  });

  it("file names are relative to the file that holds them; names of keys and addresses stay", () => {
    const of = (rule: object, value: string | string[]) =>
      anchored(rule as never, value as never, "/etc/h/config.json");
    expect(of({ kind: "path" }, "a")).toBe("/etc/h/a");
    expect(of({ kind: "path", address: /^pg:/ }, "pg:a")).toBe("pg:a");
    expect(of({ kind: "paths" }, ["a", "/b"])).toEqual(["/etc/h/a", "/b"]);
    expect(of({ kind: "texts" }, ["a"])).toEqual(["a"]);
    expect(
      ["k1", "a/b", "a\\b", "a.json", "a.jwk", "a.jsonx"].map((one) => of({ kind: "key" }, one)),
    ).toEqual([...["k1", "/etc/h/a/b", "/etc/h/a\\b", "/etc/h/a.json", "/etc/h/a.jwk", "a.jsonx"]]);
    expect(of({ kind: "text" }, "a/b")).toBe("a/b");
  });

  it("an origin is this machine's, or another one's that begins like it", () => {
    const near = [
      "http://localhost",
      "https://localhost:1",
      "http://127.0.0.1:80",
      "http://127.1.2.3",
      "http://[::1]:9",
    ];
    const far = [
      "http://localhost.evil.test",
      "http://127.evil.test",
      "ftp://localhost",
      "http://a.test/http://localhost",
      "http://[::1]x",
    ];
    expect([...near, ...far].map(isLoopback)).toEqual([...near.map(() => true), ...far.map(() => false)]);
  });

  it("a URL of http has a host", () => {
    const good = ["http://a", "HTTPS://a/b", "https://a:1"];
    const bad = ["http:///a", "xhttp://a", "http:a", "https://[bad", "ftp://a", ""];
    expect([...good, ...bad].map(isHttpUrl)).toEqual([...good.map(() => true), ...bad.map(() => false)]);
  });
});
