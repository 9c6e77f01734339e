// Captures by curl, cmd.exe, PowerShell, tshark, Charles and CloudFront at their edges, and two captures of one request.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { parseCaptured, parseHeaders } from "../src/capture/captured-request.js";
import { run } from "../src/main.js";

const BODY = '{"a":1}';
const URL_1 = "https://a.test/hooks";

function read(text: string) {
  const { body, headers, ...rest } = parseCaptured(Buffer.from(text, "latin1"));
  return { ...rest, headers: Object.fromEntries(headers), body: Buffer.from(body).toString("latin1") };
}

describe("a command of curl", () => {
  it("has what $'…' of a shell stands for", () => {
    const bodyOf = (quoted: string) => read(`curl ${URL_1} --data-raw $'${quoted}'`).body;
    expect(bodyOf("a\\n\\r\\tb")).toBe("a\n\r\tb");
    expect(bodyOf("\\'\\\"\\\\")).toBe("'\"\\");
    expect(bodyOf("\\x41\\x4")).toBe("A\u0004");
    expect(bodyOf("\\u0041\\u00413")).toBe("AA3");
    expect(bodyOf("\\q")).toBe("\\q");
  });

  it("is a GET without data, and a POST with some, or with what is piped into it", () => {
    expect(read(`curl ${URL_1}`)).toMatchObject({ method: "GET", body: "" });
    expect(read(`curl ${URL_1} -d ''`).method).toBe("POST");
    expect(read(`curl -d @- ${URL_1}`)).toMatchObject({ method: "POST", lacksBody: /standard input/ });
    expect(read(`curl -X PUT ${URL_1}`).method).toBe("PUT");
  });

  it("is read with its output below it, whose header lines were sent", () => {
    const output = `> POST /hooks HTTP/1.1\r\n> X-Sent: 1\r\n>\r\n< HTTP/1.1 200 OK`;
    expect(read(`curl -v ${URL_1} -d '${BODY}'\n${output}`)).toMatchObject({
      headers: { "X-Sent": "1" },
      body: BODY,
    });
    expect(read(`curl ${URL_1} -d '${BODY}'\n> post`).headers).toEqual({
      "Content-Type": "application/x-www-form-urlencoded",
    });
  });

  it("with line breaks in its body is doubted where it was copied for cmd.exe alone", () => {
    expect(read(`curl ^"${URL_1}^" --data-raw ^"a^\n\nb^"`)).toMatchObject({
      body: "a\nb",
      doubt: /cmd\.exe/,
    });
    expect(read(`curl ^"${URL_1}^" --data-raw ^"ab^"`).doubt).toBeUndefined();
    expect(read(`curl '${URL_1}' --data-raw 'a\nb'`).doubt).toBeUndefined();
  });

  it("for cmd.exe has carets inside of quotes as they are, and ends with its line", () => {
    expect(read(`curl "${URL_1}" --data-raw "a^b" ^\r\n -H "A: b"\nnot of it`)).toMatchObject({
      ...{ body: "a^b", headers: { A: "b" }, target: URL_1 },
    });
    expect(read(`curl ^"${URL_1}^" -d ^"\\\\x ^\\^"y^\\^"^"`).body).toBe('\\x "y"');
    expect(read(`curl ^"${URL_1}^" -d ""^^`).body).toBe("^");
    expect(() => read(`curl ^"${URL_1}^" -d ^"a`)).toThrow(/it was cut/);
  });
});

describe("the output of curl -v", () => {
  const head = "> POST /hooks HTTP/1.1\r\n> A: b\r\n";

  it("is known by its first line, also behind notes, warnings and the bar", () => {
    for (const before of [
      "",
      "* Trying 127.0.0.1\n",
      "Note: x\n",
      "Warning: x\n",
      "  % Total    % Received\n",
      "% Total\n",
    ])
      expect(read(`${before}${head}>\r\n`), before).toMatchObject({ method: "POST", headers: { A: "b" } });
    for (const other of ["x* Trying\n", "> post /x\n", "Notes: x\n"])
      expect(() => read(`${other}${head}>\r\n`), other).toThrow();
    expect(() => read("Note: x\nPOST /x HTTP/1.1\n\n")).toThrow();
    expect(() => read("* Trying 127.0.0.1\n")).toThrow(/no line begins with > POST/);
  });

  it("has the last request's lines, of a client that writes the sign once as well", () => {
    expect(
      read(`> GET /old HTTP/1.1\r\n> Old: 1\r\n>\r\n< HTTP/1.1 302 Found\r\n<\r\n${head}>\r\n`),
    ).toMatchObject({
      target: "/hooks",
      headers: { A: "b" },
    });
    expect(read("> POST /hooks HTTP/1.1\nA: b\n \nmore: not")).toMatchObject({ headers: { A: "b" } });
    expect(read("> POST /hooks HTTP/1.1\nA: b").headers).toEqual({ A: "b" });
    expect(read("> POST /hooks HTTP/1.1").lacksBody).toMatch(/ends in its headers/);
    expect(read(`${head}> Content-Length: 3\r\n>\r\n`).lacksBody).toMatch(/does not show the body/);
    expect(read(`${head}> Content-Length: 0\r\n>\r\n`).lacksBody).toBeUndefined();
  });
});

it("a trace in ASCII has a line break where an offset says so, and at its end", () => {
  const trace = [
    "=> Send header, 31 bytes (0x1f)",
    "0000: POST /x HTTP/1.1",
    "0012: Host: a.b",
    "001d: ",
    "=> Send data, 5 bytes (0x5)",
    "0000: ab",
    "0004: c",
  ].join("\n");
  expect(read(trace)).toMatchObject({ target: "/x", headers: { Host: "a.b" }, body: "ab\r\nc" });
});

describe("a call of PowerShell", () => {
  const call = (rest: string) => read(`Invoke-WebRequest -Uri "${URL_1}" -Method POST ${rest}`);

  it("has a body between the lines of a here-string as it stands", () => {
    expect(call(`-Body @'\n{"it's": "$x \`n"}\n'@`).body).toBe('{"it\'s": "$x `n"}');
    expect(call(`-Body @"\r\n${BODY}\r\n"@ -ContentType "a/b"`)).toMatchObject({
      body: BODY,
      headers: { "Content-Type": "a/b" },
    });
    expect(call(`-Body @'\na\r\n\r\n'@`).body).toBe("a\r\n");
  });

  it("is not guessed at where a here-string has variables, or no end", () => {
    expect(() => call(`-Body @"\n$body\n"@`)).toThrow();
    expect(() => call(`-Body @"\na\`tb\n"@`)).toThrow();
    expect(() => call(`-Body @'\n${BODY}`)).toThrow();
  });
});

describe("a stream that tshark followed", () => {
  const rule = "=".repeat(67);
  const stream = (kind: string, content: string) =>
    `${rule}\nFollow: tcp,${kind}\nFilter: tcp.stream eq 0\nNode 0: a:1\nNode 1: b:2\n${content}${rule}\n`;
  const RAW = `POST /x HTTP/1.1\r\nA: b\r\n\r\n${BODY}`;

  it("has what the first node sent", () => {
    const ascii = (text: string) => `${text.length}\n${text}\n\t4\nHTTP\n`;
    expect(read(stream("ascii", ascii(RAW)))).toMatchObject({ target: "/x", body: BODY });
    expect(read(stream("ascii", ascii(RAW.replace(BODY, "a..b")))).doubt).toMatch(/points in a row/);
    expect(read(stream("utf8", ascii(RAW.replace(BODY, "a..b")))).doubt).toBeUndefined();
    expect(read(stream("raw", `${Buffer.from(RAW).toString("hex")}\n\t48545450\n`)).body).toBe(BODY);
    expect(() => read(stream("ascii", ""))).toThrow(/has nothing in it/);
  });

  it("begins with its rule", () => {
    expect(() => read(`x${stream("ascii", `${RAW.length}\n${RAW}\n`)}`)).toThrow();
  });
});

describe("JSON", () => {
  const session = (given: object) => read(JSON.stringify({ method: "POST", path: "/hooks", ...given }));
  const header = {
    firstLine: "POST /hooks HTTP/1.1",
    headers: [
      { name: "A", value: "b" },
      { name: ":path", value: "/x" },
    ],
  };

  it("of Charles has the query, no pseudo headers, and a body as a text or in base64", () => {
    expect(session({ query: "a=1", request: { header, body: { text: BODY } } })).toMatchObject({
      ...{ target: "/hooks?a=1", headers: { A: "b" }, body: BODY },
    });
    const encoded = Buffer.from(BODY).toString("base64");
    expect(session({ query: null, request: { header, body: { encoded } } })).toMatchObject({
      target: "/hooks",
      body: BODY,
    });
    expect(session({ request: { header } }).body).toBe("");
  });

  const edge = (request: object) =>
    read(
      JSON.stringify({
        Records: [
          {
            cf: {
              request: {
                method: "POST",
                uri: "/hooks",
                headers: { a: [{ key: "A", value: "b" }] },
                ...request,
              },
            },
          },
        ],
      }),
    );

  it("of CloudFront says what the trigger has left out or cut", () => {
    const data = Buffer.from(BODY).toString("base64");
    expect(
      edge({ querystring: "a=1", body: { data, encoding: "base64", inputTruncated: false } }),
    ).toMatchObject({
      ...{ target: "/hooks?a=1", headers: { a: "b" }, body: BODY },
    });
    expect(edge({ querystring: "", body: { data: BODY, encoding: "text" } })).toMatchObject({
      target: "/hooks",
      body: BODY,
    });
    expect(edge({ body: { data, encoding: "base64", inputTruncated: true } }).doubt).toBe(
      "CloudFront has cut it",
    );
    expect(edge({}).lacksBody).toBe("the trigger does not include the body");
    for (const records of [[], {}, [{ cf: {} }], [null]])
      expect(() => read(JSON.stringify({ Records: records }))).toThrow(/none of the captures/);
  });

  it("that is headers alone, or has its body parsed, is told as that", () => {
    for (const name of ["Webhook-Signature", "svix-id", "Content-Type", "authorization"])
      expect(() => read(JSON.stringify({ [name]: "x" })), name).toThrow("This JSON is headers alone.");
    expect(() => read(JSON.stringify({ "content-type": "x", body: { a: 1 } }))).toThrow(/its body parsed/);
    for (const name of ["my-webhook-id", "content-types", "xauthorization", "authorizations"])
      expect(() => read(JSON.stringify({ [name]: "x" })), name).toThrow(/none of the captures/);
  });

  it("of headers has no line for what is null, and long files of --headers are looked at by their beginning", () => {
    expect(parseHeaders('{"A":null,"B":["c",null],"D":0}')).toEqual([
      ["B", "c"],
      ["D", "0"],
    ]);
    expect(parseHeaders(`A: b\nB: [1]\n${"C: d\n".repeat(200)}Import: 1`).slice(0, 2)).toEqual([
      ["A", "b"],
      ["B", "[1]"],
    ]);
  });
});

describe("two captures of one request", () => {
  const folder = () => {
    const path = temporaryFolder("two-captures");
    const file = (name: string, content: string) => {
      writeFileSync(join(path, name), content);
      return join(path, name);
    };
    return {
      sent: file("sent.http", `POST /x HTTP/1.1\r\nA: b\r\n\r\n${BODY}`),
      received: file("received.http", `POST /x HTTP/1.1\r\nA: b\r\n\r\n{"a": 1}`),
      cut: file("cut.http", 'POST /x HTTP/1.1\r\nA: b\r\n\r\n{"a":['),
      bare: file("bare.http", "POST /x HTTP/1.1\r\nA: b"),
    };
  };
  async function verify(...words: string[]) {
    const said = { out: "", err: "" };
    const sink = (name: "out" | "err") =>
      new Writable({
        write(chunk, _encoding, done) {
          said[name] += String(chunk);
          done();
        },
      });
    const exit = await run(["verify", ...words], {
      stdin: Readable.from([]),
      stdout: sink("out"),
      stderr: sink("err"),
      env: { NO_COLOR: "1" },
      stopSignal: new AbortController().signal,
    });
    return { exit, ...said };
  }

  it("are compared, with what a listener minds and what it does not", async () => {
    const { sent, received } = folder();
    const { exit, out } = await verify("--sent", sent, "--received", received);
    expect([exit, out]).toEqual([
      7,
      expect.stringMatching(/body-json-whitespace[\s\S]*fix[\s\S]*: 1 change\.\n$/),
    ]);
    const same = await verify("--sent", sent, "--received", sent);
    expect([same.exit, same.out]).toEqual([0, expect.stringMatching(/^Both requests are the same\./)]);
  });

  it("belong together, of which one may come from standard input, and nothing of the other way", async () => {
    const { sent, received } = folder();
    for (const words of [
      ["--sent", sent],
      ["--received", received],
    ])
      expect(await verify(...words)).toMatchObject({
        exit: 2,
        err: expect.stringContaining("belong together"),
      });
    expect((await verify("--sent", "-", "--received", "-")).err).toContain(
      "Only one of --sent and --received",
    );
    expect(
      (await verify("--sent", sent, "--received", received, "--at", "2026-01-01T00:00:00Z")).err,
    ).toContain("exclude --at:");
    expect((await verify(sent, "--sent", sent, "--received", received)).err).toContain("exclude a file:");
  });

  it("are told where one has no body, or a doubtful one", async () => {
    const { sent, cut, bare } = folder();
    const doubtful = await verify("--sent", sent, "--received", cut);
    expect(doubtful.err).toContain(`The body in ${cut} may not be what it was`);
    expect(doubtful.err).not.toContain(sent);
    expect((await verify("--sent", bare, "--received", sent)).err).toContain(`${bare} has no body`);
  });
});
