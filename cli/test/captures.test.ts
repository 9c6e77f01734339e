import { execFile, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { inspect, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { run } from "../src/main.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const TIMESTAMP = "1767225600";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const URL_OF_LISTENER = `https://tenant.example.com${PATH}`;

let folder: string;
const path = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-captures-"));
  mkdirSync(path("data"), { mode: 0o700 });
  writeFileSync(path("secret.txt"), SECRET, { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

interface Seen {
  readonly exit: number;
  readonly ok?: boolean;
  readonly code?: string;
  readonly unread?: string;
  readonly mistakes: readonly string[];
  readonly text: string;
}

function verified(content: string | Uint8Array, ...flags: string[]): Promise<Seen> {
  writeFileSync(path("captured"), content);
  return verifiedBy(path("captured"), ...flags);
}

async function verifiedBy(...words: string[]): Promise<Seen> {
  const written: Buffer[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(Buffer.from(chunk));
        done();
      },
    });
  const exit = await run(
    ["verify", ...words, "--secret-file", path("secret.txt"), "--ignore-time", "--json"],
    {
      stdin: Readable.from([]),
      stdout: sink(),
      stderr: sink(),
      env: { HOOKPROOF_HOME: path("data"), NO_COLOR: "1" },
      stopSignal: new AbortController().signal,
    },
  );
  const text = Buffer.concat(written).toString("utf8");
  const document = text.startsWith("{") ? JSON.parse(text.split("\n", 1)[0] ?? "") : {};
  const { ok, code = document.error?.code, unread, mistakes = [] } = document;
  return { exit, ok, code, unread, text, mistakes: mistakes.map(({ id }: { id: string }) => id) };
}

function headersOf(body: string | Uint8Array, more: Record<string, string> = {}): Record<string, string> {
  const mac = createHmac("sha256", SECRET).update(`${TIMESTAMP}.${ID}.`).update(body);
  return {
    "Content-Type": "application/json",
    "Webhook-Timestamp": TIMESTAMP,
    "Webhook-Event-Id": ID,
    "Webhook-Signature": mac.digest("base64url"),
    ...more,
  };
}

const BODY = '{"name":"O\'Brien & \\"Söhne\\" 100% ^ | <b> {x} !","path":"C:\\\\a","n":[1.5,2]}';
const ASCII = BODY.replace("ö", "oe");
const length = (body: string | Uint8Array) => ({ "Content-Length": String(Buffer.byteLength(body)) });

function wire(body: string | Uint8Array, { end = "\r\n", after = "", lengths = true } = {}): Buffer {
  const headers = headersOf(body, lengths ? length(body) : {});
  const lines = [
    `POST ${PATH} HTTP/1.1`,
    "Host: tenant.example.com",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(lines.join(end) + end + end), Buffer.from(body), Buffer.from(after)]);
}

/** As Chrome's network panel writes an argument for cmd.exe (front_end/panels/network/NetworkLogView.ts). */
function chromeCmd(text: string): string {
  return `^"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replace(/[^a-zA-Z0-9\s_\-:=+~'/.',?;()*`]/g, "^$&")
    .replace(/%(?=[a-zA-Z0-9_])/g, "%^")
    .replace(/\r?\n/g, "^\n\n")}^"`;
}

/** The same of some years before. */
function chromeCmdOld(text: string): string {
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replace(/[^a-zA-Z0-9\s_\-:=+~'/.',?;()*`]/g, "^$&")
    .replace(/%(?=[a-zA-Z0-9_])/g, "%^")
    .replace(/\r?\n/g, "^\n\n")}"`;
}

function cmdCommand(quoted: (text: string) => string, body: string, end = "\n"): string {
  const headers = Object.entries(headersOf(body)).map(
    ([name, value]) => `-H ${quoted(`${name.toLowerCase()}: ${value}`)}`,
  );
  return [`curl ${quoted(URL_OF_LISTENER)}`, ...headers, `--data-raw ${quoted(body)}`].join(` ^${end}  `);
}

/** As Chrome writes a text for PowerShell. */
function powershellText(text: string): string {
  return `"${text.replace(/[`$"]/g, "`$&").replace(/[^\x20-\x7E]/g, (char) => `$([char]${char.charCodeAt(0)})`)}"`;
}

function powershell(body: string): string {
  const { "Content-Type": type = "", ...headers } = headersOf(body);
  const lines = Object.entries(headers).map(
    ([name, value]) => `${powershellText(name.toLowerCase())}=${powershellText(value)}`,
  );
  const isAscii = /^[\x20-\x7e]*$/.test(body);
  const text = powershellText(body);
  return [
    "$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession",
    '$session.UserAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"',
    `Invoke-WebRequest -UseBasicParsing -Uri "${URL_OF_LISTENER}" \``,
    '-Method "POST" `',
    "-WebSession $session `",
    `-Headers @{\n"authority"="tenant.example.com"\n  ${lines.join("\n  ")}\n} \``,
    `-ContentType "${type}" \``,
    `-Body ${isAscii ? text : `([System.Text.Encoding]::UTF8.GetBytes(${text}))`}`,
  ].join("\n");
}

function fetchCall(body: string, start = "fetch"): string {
  const options = {
    credentials: "omit",
    headers: headersOf(body),
    referrer: "https://a.example.com/",
    body,
    method: "POST",
    mode: "cors",
  };
  return `${start}(${JSON.stringify(URL_OF_LISTENER)}, ${JSON.stringify(options, null, 2)});`;
}

const lists = (record: Record<string, string>) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name.toLowerCase(), [value]]));
const lower = (record: Record<string, string>) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]));

function webhookSite(body: string) {
  return {
    uuid: ID,
    type: "web",
    token_id: ID,
    ip: "203.0.113.7",
    hostname: "webhook.site",
    method: "POST",
    user_agent: "curl/8",
    content: body,
    query: null,
    headers: lists(headersOf(body, length(body))),
    url: `https://webhook.site/${ID}`,
    size: Buffer.byteLength(body),
    files: [],
    created_at: "2026-01-01 00:00:00",
  };
}

function csv(rows: readonly object[]): string {
  const cell = (value: unknown) =>
    `"${(typeof value === "string" ? value : JSON.stringify(value)).replaceAll('"', '""')}"`;
  const names = Object.keys(rows[0] ?? {});
  return [names.join(","), ...rows.map((row) => Object.values(row).map(cell).join(","))].join("\n");
}

function ngrok(body: string) {
  const raw = wire(body).toString("base64");
  const request = { method: "POST", proto: "HTTP/1.1", headers: lists(headersOf(body)), uri: PATH, raw };
  const get = {
    method: "GET",
    proto: "HTTP/1.1",
    headers: {},
    uri: "/",
    raw: Buffer.from("GET / HTTP/1.1\r\n\r\n").toString("base64"),
  };
  return {
    uri: "/api/requests/http",
    requests: [
      { uri: "/api/requests/http/1", id: "1", request },
      { id: "2", request: get },
    ],
  };
}

function gateway(kind: "rest" | "http" | "alb", body: string, isBase64Encoded: boolean) {
  const text = isBase64Encoded ? Buffer.from(body).toString("base64") : body;
  const headers = headersOf(body, length(body));
  if (kind === "http")
    return {
      version: "2.0",
      routeKey: "$default",
      rawPath: PATH,
      rawQueryString: "",
      headers: lower(headers),
      requestContext: {
        domainName: "x.lambda-url.eu-west-1.on.aws",
        http: { method: "POST", path: PATH, protocol: "HTTP/1.1" },
      },
      body: text,
      isBase64Encoded,
    };
  return {
    ...(kind === "rest" ? { resource: "/{proxy+}" } : {}),
    path: PATH,
    httpMethod: "POST",
    headers,
    multiValueHeaders: kind === "rest" ? lists(headers) : undefined,
    queryStringParameters: null,
    requestContext:
      kind === "rest" ? { stage: "prod", path: `/prod${PATH}` } : { elb: { targetGroupArn: "arn:x" } },
    body: text,
    isBase64Encoded,
  };
}

function postman(body: string) {
  const header = Object.entries(headersOf(body))
    .filter(([name]) => name !== "Content-Type")
    .map(([key, value]) => ({ key, value, type: "text" }));
  const request = {
    method: "POST",
    header: [...header, { key: "Webhook-Signature", value: "old", disabled: true }],
    body: { mode: "raw", raw: body, options: { raw: { language: "json" } } },
    url: { raw: URL_OF_LISTENER, protocol: "https", host: ["tenant", "example", "com"] },
  };
  return {
    info: { name: "c", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    item: [
      { name: "folder", item: [{ name: "send", request, response: [] }] },
      { name: "get", request: { method: "GET", url: "https://a/" } },
    ],
  };
}

function hexDump(bytes: Uint8Array, style: "wireshark" | "xxd" | "hexdump", indent = ""): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    const offset = at.toString(16).padStart(8, "0");
    const halves = [hex.slice(0, 8).join(" "), hex.slice(8).join(" ")].join("  ");
    if (style === "wireshark")
      lines.push(`${indent}${offset}  ${halves.padEnd(49)}   ${text.slice(0, 8)} ${text.slice(8)}`.trimEnd());
    else if (style === "hexdump") lines.push(`${offset}  ${halves.padEnd(48)}  |${text}|`);
    else {
      const groups = Array.from({ length: Math.ceil(hex.length / 2) }, (_, n) =>
        hex.slice(2 * n, 2 * n + 2).join(""),
      );
      lines.push(`${offset}: ${groups.join(" ").padEnd(39)}  ${text}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const RULE = "=".repeat(67);

function tshark(kind: "ascii" | "raw" | "hex", body: string): string {
  const request = wire(body);
  const shown = (bytes: Uint8Array) =>
    [...bytes]
      .map((byte) =>
        (byte >= 0x20 && byte < 0x7f) || byte === 10 || byte === 13 ? String.fromCharCode(byte) : ".",
      )
      .join("");
  const parts = {
    ascii: `${request.length}\n${shown(request)}\n\t${ANSWER.length}\n${ANSWER}\n`,
    raw: `${request.toString("hex")}\n\t${Buffer.from(ANSWER).toString("hex")}\n`,
    hex: hexDump(request, "wireshark") + hexDump(Buffer.from(ANSWER), "wireshark", "    "),
  };
  return `\n${RULE}\nFollow: tcp,${kind}\nFilter: tcp.stream eq 0\nNode 0: 10.0.0.1:50000\nNode 1: 10.0.0.2:80\n${parts[kind]}${RULE}\n`;
}

function http2(body: string): string {
  const headers = Object.entries(lower(headersOf(body, length(body)))).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [
    ":method: POST",
    `:path: ${PATH}`,
    ":scheme: https",
    ":authority: tenant.example.com",
    ...headers,
    "",
    body,
  ].join("\n");
}

function har(body: string, withText = true): string {
  const headers = Object.entries(headersOf(body)).map(([name, value]) => ({ name, value }));
  const request = {
    method: "POST",
    url: URL_OF_LISTENER,
    headers,
    bodySize: Buffer.byteLength(body),
    ...(withText ? { postData: { mimeType: "application/json", text: body } } : {}),
  };
  return JSON.stringify({ log: { entries: [{ request }] } });
}

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
const LINES = '{\n  "a": "ö",\r\n  "b": 1\n}\n';

/** Each as the tool that it is of writes it. */
const READ: readonly (readonly [name: string, content: () => string | Uint8Array])[] = [
  ["a request on the wire", () => wire(LINES)],
  ["one after blank lines", () => `\n \r\n${wire(BODY)}`],
  ["one with its answer behind it, as Follow TCP Stream shows it", () => wire(LINES, { after: ANSWER })],
  ["one with the next request behind it", () => wire(BODY, { after: `POST ${PATH} HTTP/1.1\r\n\r\n` })],
  ["one in UTF-16", () => utf16(wire(ASCII).toString())],
  ["one in UTF-16, of a file with a mark", () => utf16(`\uFEFF${wire(ASCII)}`)],
  ["Chrome's copy as cURL (cmd)", () => cmdCommand(chromeCmd, BODY)],
  ["the same with line ends of Windows", () => cmdCommand(chromeCmd, BODY, "\r\n")],
  ["the same with a body of several lines", () => cmdCommand(chromeCmd, LINES.replaceAll("\r", ""))],
  ["Chrome's older copy as cURL (cmd)", () => cmdCommand(chromeCmdOld, '{"a":"b&c","d":1}')],
  ["Chrome's copy for PowerShell", () => powershell(ASCII)],
  ["the same beyond ASCII and with line breaks", () => powershell(LINES)],
  ["Chrome's copy as fetch", () => fetchCall(LINES)],
  ["Firefox's copy as fetch", () => fetchCall(BODY, "await fetch")],
  ["webhook.site's request", () => JSON.stringify(webhookSite(LINES))],
  [
    "webhook.site's list of requests",
    () => JSON.stringify({ data: [webhookSite(BODY)], total: 1, per_page: 50 }, null, 2),
  ],
  ["webhook.site's CSV", () => csv([webhookSite(LINES)])],
  ["ngrok's list of requests", () => JSON.stringify(ngrok(LINES))],
  ["ngrok's single request", () => JSON.stringify(ngrok(BODY).requests[0])],
  ["an event of API Gateway, REST", () => JSON.stringify(gateway("rest", LINES, false))],
  ["the same in base64", () => JSON.stringify(gateway("rest", LINES, true))],
  [
    "an event of API Gateway, HTTP, and of a function's URL",
    () => JSON.stringify(gateway("http", BODY, false)),
  ],
  ["the same in base64 and several lines", () => JSON.stringify(gateway("http", BODY, true), null, 2)],
  ["an event of a load balancer", () => JSON.stringify(gateway("alb", BODY, false))],
  [
    "a JSON with method, url, headers and body",
    () => JSON.stringify({ method: "POST", url: PATH, headers: headersOf(BODY), body: BODY }),
  ],
  ["a collection of Postman", () => JSON.stringify(postman(BODY), null, "\t")],
  ["a HAR file", () => har(LINES)],
  ["HTTP/2 with its pseudo headers", () => http2(BODY)],
  [
    "Wireshark's hex dump",
    () => hexDump(wire(LINES), "wireshark") + hexDump(Buffer.from(ANSWER), "wireshark", "    "),
  ],
  ["a dump of xxd", () => hexDump(wire(LINES), "xxd")],
  ["a dump of hexdump -C", () => hexDump(wire(LINES), "hexdump")],
  ["tshark's followed stream as ASCII", () => tshark("ascii", ASCII)],
  ["tshark's followed stream as raw", () => tshark("raw", LINES)],
  ["tshark's followed stream as a hex dump", () => tshark("hex", LINES)],
];

const HEADERS = headersOf(BODY, length(BODY));
const inJson = (headers: unknown, more: object = { body: BODY }) =>
  JSON.stringify({ method: "POST", url: PATH, headers, ...more });
const curl = (body: string) =>
  `curl ${URL_OF_LISTENER} ${Object.entries(headersOf(body))
    .map(([name, value]) => `-H '${name}: ${value}'`)
    .join(" ")} --data-raw '${body.replaceAll("'", "'\\''")}'`;
const cgi = (name: string) =>
  (/^content-(?:type|length)$/i.test(name) ? name : `HTTP_${name}`).toUpperCase().replaceAll("-", "_");
const keyed = Object.entries(HEADERS).map(([key, value]) => ({ key, value }));
const psCall = (headers: string, body: string, more = "") =>
  `Invoke-RestMethod ${URL_OF_LISTENER} -Method Post -Headers ${headers} -ContentType 'application/json' -Body ${body}${more}`;
const psHeaders = `@{${Object.entries(headersOf(BODY))
  .map(([name, value]) => `'${name}'='${value}'`)
  .join(";")}}`;

/** The same request as other programs hand it over. */
const READ_TOO: readonly (readonly [name: string, content: () => string | Uint8Array])[] = [
  ["headers as Node's flat list", () => inJson(Object.entries(HEADERS).flat())],
  ["headers as lines", () => inJson(Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`))],
  [
    "headers as one text",
    () =>
      inJson(
        Object.entries(HEADERS)
          .map((pair) => pair.join(": "))
          .join("\r\n"),
      ),
  ],
  ["headers as key and value", () => inJson(keyed)],
  [
    "headers as CGI names them",
    () => inJson(Object.fromEntries(Object.entries(HEADERS).map(([n, v]) => [cgi(n), v]))),
  ],
  [
    "an event of Lambda at CloudFront",
    () =>
      JSON.stringify({
        Records: [
          {
            cf: {
              request: {
                method: "POST",
                uri: PATH,
                querystring: "",
                headers: Object.fromEntries(keyed.map((one) => [one.key.toLowerCase(), [one]])),
                body: {
                  data: Buffer.from(BODY).toString("base64"),
                  encoding: "base64",
                  inputTruncated: false,
                },
              },
            },
          },
        ],
      }),
  ],
  [
    "Pipedream's event",
    () => JSON.stringify({ event: JSON.parse(inJson(HEADERS, { bodyRaw: BODY, body: {} })) }),
  ],
  [
    "Insomnia's export",
    () =>
      JSON.stringify({
        resources: [
          { _type: "workspace" },
          {
            _type: "request",
            method: "POST",
            url: URL_OF_LISTENER,
            headers: Object.entries(headersOf(BODY)).map(([name, value]) => ({ name, value })),
            body: { mimeType: "application/json", text: BODY },
          },
        ],
      }),
  ],
  [
    "a cassette of VCR for Python, as JSON",
    () =>
      JSON.stringify({
        version: 1,
        interactions: [
          {
            request: { method: "POST", uri: URL_OF_LISTENER, body: BODY, headers: lists(HEADERS) },
            response: { status: { code: 401, message: "Unauthorized" }, headers: {}, body: { string: "" } },
          },
        ],
      }),
  ],
  [
    "one of Ruby's, with the body in base64",
    () => {
      const body = { encoding: "UTF-8", base64_string: Buffer.from(BODY).toString("base64") };
      const request = { method: "post", uri: URL_OF_LISTENER, body, headers: lists(HEADERS) };
      return JSON.stringify({ http_interactions: [{ request, response: {} }], recorded_with: "VCR 6.2.0" });
    },
  ],
  [
    "a JSON session of Charles",
    () => {
      const headers = Object.entries(HEADERS).map(([name, value]) => ({ name, value }));
      const header = { firstLine: `POST ${PATH} HTTP/1.1`, headers };
      const of = { method: "POST", scheme: "https", host: "tenant.example.com", path: PATH, query: null };
      const request = { mimeType: "application/json", header, body: { text: BODY, charset: "UTF-8" } };
      const tunnel = { method: "CONNECT", host: "other.example.com", request: {}, response: {} };
      return JSON.stringify([{ ...of, request, response: { status: 401 } }, tunnel]);
    },
  ],
  [
    "a dump of requests_toolbelt",
    () => {
      const [head = ""] = String(wire(BODY)).split("\r\n\r\n");
      const lines = head.split("\r\n").map((line) => `< ${line}\r\n`);
      return `${lines.join("")}< \r\n< ${BODY}\r\n\r\n> HTTP/1.1 401 Unauthorized\r\n> \r\n{}`;
    },
  ],
  ["a collection of Postman's API", () => JSON.stringify({ collection: postman(BODY) })],
  ["a fence of Markdown", () => `\`\`\`http\n${wire(BODY, { end: "\n" })}\n\`\`\`\n`],
  [
    "a file of an HTTP client",
    () => `### send\n@host = x\n${wire(BODY, { end: "\n", lengths: false })}\n\n### next\n`,
  ],
  ["a mail that quotes it", () => String(wire(BODY, { end: "\n" })).replace(/^/gm, "> ")],
  ["a request with colours", () => `\u001b[32m${wire(ASCII)}`.replace("POST", "POST\u001b[39m")],
  ["a hex stream", () => wire(BODY).toString("hex")],
  ["the same in base64", () => wire(BODY).toString("base64")],
  ["a request in a JSON text", () => JSON.stringify(String(wire(BODY)))],
  ["the same without the quotes around it", () => JSON.stringify(String(wire(BODY))).slice(1, -1)],
  ["a request behind the head of a mail", () => `From: a@b.example\nSubject: 401\n\n${wire(BODY)}`],
  ["a fence with words around it", () => `This one:\n\`\`\`\n${wire(BODY)}\n\`\`\`\nThanks.`],
  ["a line of Fiddler behind it", () => wire(LINES, { after: `\r\n${"-".repeat(66)}\r\n${ANSWER}` })],
  ["the console of Postman", () => String(wire(ASCII, { end: "\n" })).replace(/\n\n/, "\n \n")],
  ["spaces of a chat", () => String(wire(BODY, { end: "\n" })).replaceAll(": ", ":\u00a0")],
  ...Object.entries({
    "an indented request": () => "    ",
    "one with a tab before each line": () => "\t",
    "a quoted quotation": () => "> > ",
    "a diff": () => "+",
    "docker's log": () => "web-1  | ",
    "a log with times": () => "2026-01-01T00:00:00.123Z ",
    "a listing with numbers": (line: number) => `${String(line + 1).padStart(6)}\t`,
  }).map(([name, margin]): [string, () => string] => [
    name,
    () =>
      String(wire(BODY, { end: "\n" }))
        .split("\n")
        .map((line, at) => margin(at) + line)
        .join("\n"),
  ]),
  ["a quoted curl command of several lines", () => cmdCommand(chromeCmd, BODY).replace(/^/gm, "> ")],
  [
    "Bruno's export as JSON",
    () => {
      const headers = Object.entries(headersOf(BODY)).map(([name, value]) => ({
        name,
        value,
        enabled: true,
      }));
      headers.push({ name: "Webhook-Signature", value: "old", enabled: false });
      const request = { url: URL_OF_LISTENER, method: "POST", headers, body: { mode: "json", json: BODY } };
      return JSON.stringify({ name: "c", items: [{ type: "folder", items: [{ type: "http", request }] }] });
    },
  ],
  [
    "Hoppscotch's collections",
    () => {
      const headers = keyed.map((one) => ({ ...one, active: true }));
      const body = { contentType: "application/json", body: BODY };
      const request = { endpoint: URL_OF_LISTENER, method: "POST", headers, body };
      return JSON.stringify([{ v: 2, name: "c", folders: [], requests: [request] }]);
    },
  ],
  [
    "Thunder Client's collection",
    () => {
      const headers = Object.entries(HEADERS).map(([name, value]) => ({ name, value }));
      const body = { type: "json", raw: BODY, form: [] };
      return JSON.stringify({ requests: [{ url: URL_OF_LISTENER, method: "POST", headers, body }] });
    },
  ],
  [
    "members as .NET names them",
    () => JSON.stringify({ Method: "POST", Url: URL_OF_LISTENER, Headers: HEADERS, Body: BODY }),
  ],
  [
    "OpenWhisk's raw arguments",
    () =>
      JSON.stringify({
        __ow_method: "post",
        __ow_path: PATH,
        __ow_headers: HEADERS,
        __ow_body: Buffer.from(BODY).toString("base64"),
      }),
  ],
  ["pino's line with a body", () => JSON.stringify({ level: 30, req: JSON.parse(inJson(HEADERS)) })],
  ["header lines and a body", () => String(wire(BODY)).split("\r\n").slice(1).join("\r\n")],
  ["a sign of no width in front", () => `\u200b${wire(BODY)}`],
  ["curl in a script", () => `#!/bin/sh\n# sends it\ntime /usr/bin/${curl(BODY)}`],
  ["curl behind a prompt", () => `me@host:~/a b$ ${curl(BODY)}`],
  ["a call of fetch with numbers", () => fetchCall(BODY).replace(`"${TIMESTAMP}"`, TIMESTAMP)],
  [
    "PowerShell with the headers above",
    () => `$h = ${psHeaders}\n${psCall("$h", `'${BODY.replaceAll("'", "''")}'`)}`,
  ],
  ["PowerShell with a here-string", () => psCall(psHeaders, `@'\n${BODY}\n'@`)],
];

it.each(READ_TOO)("reads %s as it is", async (_name, content) => {
  expect(await verified(content())).toMatchObject({ exit: 0, ok: true });
});

it("reads headers of --headers that are JSON", async () => {
  writeFileSync(path("headers.json"), JSON.stringify(Object.entries(HEADERS).flat()));
  writeFileSync(path("body.json"), BODY);
  const flags = ["--headers", `@${path("headers.json")}`, "--body", `@${path("body.json")}`];
  expect(await verifiedBy(...flags)).toMatchObject({ exit: 0, ok: true });
});

describe("what a capture does not have is no cause", () => {
  const proof = headersOf(BODY)["Webhook-Signature"] ?? "";
  it.each([
    ["a masked signature", String(wire(BODY)).replace(proof, "[REDACTED]"), "masked or cut"],
    ["a signature of stars", String(wire(BODY)).replace(proof, "********"), "masked or cut"],
    [
      "a signature that was cut",
      inJson({ ...HEADERS, "Webhook-Signature": `${proof.slice(0, 8)}...` }),
      "masked or cut",
    ],
    [
      "a signature that was masked behind its beginning",
      String(wire(BODY)).replace(proof, `${proof.slice(0, 6)}***`),
      "masked or cut",
    ],
    ["a request that ends in its headers", String(wire(BODY)).split("\r\n\r\n")[0] ?? "", "headers alone"],
    [
      "curl -v that ends in its headers",
      `* Trying\n> POST ${PATH} HTTP/1.1\n> Webhook-Timestamp: 1\n`,
      "ends in its headers",
    ],
    [
      "an error tracker's context",
      JSON.stringify({ request: { url: PATH, method: "POST", headers: Object.entries(HEADERS) } }),
      "no member with a body",
    ],
    ["a masked value in the body", curl(BODY).replace("Söhne", "[REDACTED]"), "masked value"],
    [
      "a body that ends early",
      inJson(headersOf(BODY), { body: BODY.slice(0, 30) }),
      "in the middle of its JSON",
    ],
    [
      "a body with quotes of an editor",
      inJson(headersOf(ASCII), { body: ASCII.replace(/"/g, "\u201d") }),
      "typographic quotes",
    ],
    [
      "a body that somebody has encoded",
      inJson(headersOf(BODY), { body: Buffer.from(BODY).toString("base64") }),
      "isBase64Encoded: true",
    ],
    ["a request without a body", inJson(HEADERS, {}), "no member with a body"],
    ["a body that is null", inJson(HEADERS, { body: null }), "no member with a body"],
    [
      "a body that a log cut",
      inJson(headersOf(BODY), { body: `${BODY.slice(0, 20)}...` }),
      "what a log has cut",
    ],
    ["headers of HTTP/2 alone", http2(BODY).split("\n\n")[0] ?? "", "headers alone"],
    ["a HAR file with half a body", har(BODY).replace(JSON.stringify(BODY), '"{\\"a"'), "by bodySize"],
    ["fetch without its body", fetchCall("").replace('"body": "",', ""), "leave out what is no text"],
    ["a body of -InFile", psCall(psHeaders, "", "").replace(" -Body ", " -InFile a.json"), "-InFile"],
    [
      "a body of standard input",
      `cat a.json | ${curl(BODY).replace(/--data-raw.*/s, "-d @-")}`,
      "standard input",
    ],
    [
      "Guzzle's output",
      `* Trying\n> ${String(wire(BODY)).split("\r\n\r\n")[0]}\n\n* sent`,
      "does not show the body",
    ],
    [
      "curl -v behind a note",
      `Note: Unnecessary use of -X\n> ${String(wire(BODY)).split("\r\n\r\n")[0]?.replaceAll("\r\n", "\n> ")}\n> \n`,
      "does not show the body",
    ],
  ])("%s", async (_name, content, words) => {
    const seen = await verified(content);
    expect([seen.exit, seen.mistakes]).toEqual([3, []]);
    expect(seen.text).toContain(words);
  });
});

it.each(READ)("reads %s to the byte", async (_name, content) => {
  const seen = await verified(content());
  expect(seen.text).not.toContain("error[");
  expect(seen).toMatchObject({ exit: 0, ok: true, mistakes: [] });
});

/** A text whose bytes are others than were sent gives no verdict; bytes may be in any encoding. */
it.each<[name: string, content: () => string]>([
  ["Chrome's copy as cURL (cmd)", () => cmdCommand(chromeCmd, BODY)],
  ["Chrome's copy as fetch", () => fetchCall(LINES)],
  ["webhook.site's request", () => JSON.stringify(webhookSite(LINES))],
  ["webhook.site's CSV", () => csv([webhookSite(LINES)])],
  ["an event of API Gateway", () => JSON.stringify(gateway("rest", LINES, false))],
  ["a HAR file", () => har(LINES)],
])("gives no verdict over %s in Latin-1", async (_name, content) => {
  const latin1 = Buffer.from(content(), "latin1");
  expect(latin1.includes(0xf6)).toBe(true);
  expect(await verified(latin1)).toMatchObject({
    exit: 3,
    code: "TEXT_ENCODING",
    text: expect.stringContaining("The capture is not UTF-8."),
  });
});

/** The same captures with a mistake of the sender's in them: it is named, whatever the form. */
it.each(READ.filter(([name]) => !name.startsWith("ngrok")))(
  "names the sender's mistake in %s",
  async (_name, content) => {
    const right = Buffer.from(content()).toString("latin1");
    const late = right.replaceAll("ebhook-event-id", "ebhook-id").replaceAll("ebhook-Event-Id", "ebhook-Id");
    const seen = await verified(Buffer.from(late, "latin1"));
    // In base64, hex and UTF-16 the name is not found.
    if (late === right) return;
    expect(seen.exit).toBe(7);
    expect(seen.mistakes).toContain("header-misnamed");
  },
);

describe("what real curl writes about a request", () => {
  async function traced(body: string, ...flags: string[]): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().once("end", () => response.end("ok"));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
    writeFileSync(path("body"), body);
    const headers = Object.entries(headersOf(body)).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const { stderr } = await promisify(execFile)(
      "curl",
      ["-sS", "-o", path("out"), ...flags, ...headers, "--data-binary", `@${path("body")}`, url],
      { maxBuffer: 1e7 },
    );
    return stderr;
  }

  itWith("curl", hasCurl)("--trace has every byte", async () => {
    for (const body of [BODY, LINES, `{"a":"${"x".repeat(70_000)}"}`]) {
      for (const flags of [[], ["--trace-time"]]) {
        await traced(body, "--trace", path("trace"), ...flags);
        const seen = await verified(readFileSync(path("trace")));
        if (body.length < 65_536) expect(seen).toMatchObject({ exit: 0, ok: true });
        else expect(seen.code).toBe("BODY_TOO_LARGE");
      }
    }
  });

  itWith("curl", hasCurl)("--trace-ascii has ASCII and CRLF; what it loses is said", async () => {
    for (const body of ['{"a":1}', '{"a":1,\r\n\r\n"b":"x.y"}\r\n', `{"a":"${"x".repeat(500)}"}`]) {
      await traced(body, "--trace-ascii", path("trace"));
      expect(await verified(readFileSync(path("trace")))).toMatchObject({ exit: 0, ok: true });
    }
    await traced(LINES, "--trace-ascii", path("trace"));
    const seen = await verified(readFileSync(path("trace")));
    expect(seen).toMatchObject({ exit: 3, code: "CAPTURE_INCOMPLETE", mistakes: [] });
    expect(seen.unread).toContain("curl --trace writes every byte");
  });

  itWith("curl", hasCurl)(
    "-v has no body, and takes it from --body or from the command above it",
    async () => {
      const output = await traced(LINES, "-v");
      expect(await verified(output)).toMatchObject({ exit: 3, code: "CAPTURE_INCOMPLETE" });
      expect(await verified(output, "--body", `@${path("body")}`)).toMatchObject({ exit: 0, ok: true });
      writeFileSync(path("headers"), output);
      // Of this folder alone, as anybody may have written the command.
      const above = await verified(`$ curl -v --data-binary @${path("body")} ${URL_OF_LISTENER}\n${output}`);
      expect(above).toMatchObject({ exit: 3, ok: false });
      const name = `captured-body-${process.pid}`;
      onTestFinished(() => rmSync(name));
      copyFileSync(path("body"), name);
      const here = await verified(`$ curl -v --data-binary @${name} ${URL_OF_LISTENER}\n${output}`);
      expect(here).toMatchObject({ exit: 0, ok: true });
    },
  );
});

describe("what was not read is no cause", () => {
  const signed = wire(LINES);
  const OF_CAPTURE: readonly (readonly [string, string | Uint8Array, string])[] = [
    ["cut off", signed.subarray(0, signed.length - 5), "it is cut off"],
    [
      "with other line ends",
      signed
        .toString()
        .replaceAll("\r\n", "\n")
        .replaceAll(/(?<=\{)\n/g, "\n"),
      "it is cut off",
    ],
    [
      "written again",
      wire('{"a":1}').toString().replace('{"a":1}', '{\n    "a": 1\n}\n'),
      "written it again",
    ],
    [
      "with characters that could not be read",
      JSON.stringify({ ...webhookSite(BODY), content: BODY.replace("ö", "\uFFFD") }),
      "replacement characters",
    ],
    ["in UTF-16 beyond ASCII", utf16(wire(BODY, { lengths: false }).toString().replace("ö", "÷")), "UTF-16"],
    [
      "with variables of Postman",
      JSON.stringify(postman(BODY)).replace("{x}", "{{x}}"),
      "variables of Postman",
    ],
    ["of tshark as ASCII", tshark("ascii", BODY), "points in a row"],
  ];

  it.each(OF_CAPTURE)("a body that is %s", async (_name, content, why) => {
    const seen = await verified(content);
    expect(seen).toMatchObject({ exit: 3, ok: false, code: "CAPTURE_INCOMPLETE", mistakes: [] });
    expect(seen.unread).toContain(why);
  });

  it("headers are judged all the same", async () => {
    const content = signed
      .subarray(0, signed.length - 5)
      .toString("latin1")
      .replace("Webhook-Timestamp: 1767225600", "Webhook-Timestamp: 1767225600123");
    expect(await verified(content)).toMatchObject({ exit: 7, mistakes: ["timestamp-milliseconds"] });
  });

  it("a HAR file without bodies, and a capture with its headers alone", async () => {
    for (const content of [har(BODY, false), signed.subarray(0, signed.indexOf("\r\n\r\n") + 4)]) {
      const seen = await verified(content);
      expect(seen).toMatchObject({ exit: 3, code: "CAPTURE_INCOMPLETE" });
      expect(seen.text).toContain("--body @file");
    }
  });

  it("a compressed body is not also a body in another encoding", async () => {
    for (const [coding, body] of [
      ["gzip", gzipSync(BODY)],
      ["br", Buffer.from([0x0b, 0x0f, 0x80, 0xff, 0xc3, 0x28])],
    ] as const) {
      const content = wire(body)
        .toString("latin1")
        .replace("Content-Type", `Content-Encoding: ${coding}\r\nContent-Type`);
      const { mistakes } = await verified(Buffer.from(content, "latin1"));
      expect(mistakes).toContain("content-encoding");
      expect(mistakes.join()).not.toMatch(/body-in-other-encoding|body-not-json/);
      const other = await verified(
        Buffer.from(content.replace(/Signature: ..../, "Signature: AAAA"), "latin1"),
      );
      if (coding === "br") expect(other.mistakes).toEqual(["content-encoding"]);
    }
  });
});

describe("a form that is known and cannot be read is named, with the way to one that can", () => {
  it.each([
    [
      "nginx's log",
      '203.0.113.7 - - [01/Jan/2026:00:00:00 +0000] "POST /a HTTP/1.1" 401 12 "-" "curl/8"',
      "access log",
      "hookproof listen",
    ],
    [
      "tcpdump -A",
      "12:34:56.789012 IP 10.0.0.1.5000 > 10.0.0.2.80: Flags [P.], length 197: HTTP: POST /a HTTP/1.1\nE..#@.@.",
      "tcpdump",
      "tcpdump -w",
    ],
    [
      "tcpdump with an interface",
      "2026-01-01 12:34:56.789012 lo    In  IP 10.0.0.1.5000 > 10.0.0.2.80: Flags [P.]",
      "tcpdump",
      "Follow",
    ],
    ["a file of packets", Buffer.from([0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]), "pcap", "Follow"],
    [
      "a file of packets of Wireshark",
      Buffer.from([0x0a, 0x0d, 0x0d, 0x0a, 0x9c, 0, 0, 0]),
      "pcap",
      "Follow",
    ],
    ["a zip archive", Buffer.from([0x50, 0x4b, 3, 4, 20, 0]), "zip", "Unpack"],
    ["a compressed file", gzipSync("x"), "gzip", "gunzip"],
    ["XML of Burp", '<?xml version="1.0"?>\n<items burpVersion="2024">', "Burp", "Copy to file"],
    [
      "XML of Charles",
      '<?xml version="1.0" encoding="UTF-8" ?>\n<charles-session><transaction method="POST">',
      "a session of Charles",
      "JSON Session",
    ],
    ["a cassette of VCR", "interactions:\n- request:\n    body: '{}'\n", "VCR in YAML", "serializer='json'"],
    [
      "one of Ruby's",
      "---\nhttp_interactions:\n- request:\n    method: post\n",
      "VCR in YAML",
      "serialize_with",
    ],
    [
      "CloudWatch of Lambda",
      `2026-01-01T00:00:00.123Z\t${ID}\tINFO\t{ "headers": { host: 'a' } }`,
      "CloudWatch",
      "JSON.stringify(event)",
    ],
    [
      "CloudWatch of Lambda with Python",
      `[INFO]\t2026-01-01T00:00:00.123Z\t${ID}\t{'headers': {}}`,
      "CloudWatch",
      "json.dumps(event)",
    ],
    [
      "CloudWatch's tail",
      `2026-01-01T00:00:00.123000+00:00 2026/01/01/[$LATEST]0b0f2b3e START RequestId: ${ID} Version: $LATEST`,
      "CloudWatch",
      "alone",
    ],
    [
      "CloudWatch of API Gateway",
      `(${ID}) Method request headers: {Webhook-Timestamp=1767225600}`,
      "CloudWatch",
      "listen",
    ],
    ["flows of mitmproxy", "4092:9:websocket;0:~8:response;", "mitmproxy", "export.file"],
    ["an answer", ANSWER, "answer", "sent"],
    ["parsed JSON", JSON.stringify({ headers: headersOf("{}"), body: { a: 1 } }), "parsed JSON", "raw body"],
    [
      "a form of Postman",
      JSON.stringify({
        ...postman("x"),
        item: [{ request: { method: "POST", body: { mode: "formdata" }, url: "https://a/" } }],
      }),
      "formdata",
      "hookproof listen",
    ],
    [
      "a log of uvicorn",
      'INFO:     127.0.0.1:5 - "POST /a HTTP/1.1" 401 Unauthorized',
      "server's log",
      "listen",
    ],
    [
      "a log of a load balancer",
      'https 2026-01-01T00:00:00Z app/lb/1 1.2.3.4:1 "POST https://a:443/ HTTP/1.1" "c=d"',
      "server's log",
      "listen",
    ],
    ["a log of morgan", "POST /a/b 401 2.345 ms - 22", "server's log", "listen"],
    [
      "a print of Node",
      inspect({ host: "a", "webhook-timestamp": TIMESTAMP }),
      "console.log",
      "isBase64Encoded",
    ],
    ["a print of Python", "{'Host': 'a', 'Webhook-Timestamp': '1'}", "Python", "isBase64Encoded"],
    ["a print of PHP", "Array\n(\n    [Host] => a\n)", "PHP", "isBase64Encoded"],
    ["a print of Go", "map[Host:[a] Webhook-Timestamp:[1]]", "Go", "isBase64Encoded"],
    ["what Python's client prints", "send: b'POST /a HTTP/1.1\\r\\n'", "debugging", "listen"],
    ["the log of OkHttp", "--> POST https://a/ http/1.1\nA: b", "OkHttp", "--> END"],
    ["program code", 'import requests\nrequests.post("x")', "program code", "listen"],
    ["a browser's panel", "Request URL\nhttps://a/\nRequest Method\nPOST", "panel", "HAR"],
    ["Wireshark as C", "char peer0_0[] = { /* Packet 4 */\n0x50 };", "Wireshark", "Raw"],
    ["ngrep", "interface: lo\nfilter: port 80\n", "ngrep", "tcpdump -w"],
    ["a dump of od", "0000000   P   O   S   T", "od", "xxd"],
    ["a page", "<!DOCTYPE html><title>Log in</title>", "HTML", "sent"],
    ["a token", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "token", "hookproof inspect"],
    ["what cat -A shows", String(wire("{}")).replaceAll("\r\n", "^M$\n"), "cat -A", "file itself"],
    ["wget -d", "DEBUG output created by Wget 1.21.3 on linux-gnu.\n", "wget -d", "listen"],
    ["Insomnia's YAML", "type: collection.insomnia.rest/5.0\nname: x\n", "Insomnia", "v4"],
    ["JMeter", "POST https://a.example.com/x\n\nPOST data:\n{}\n", "JMeter", "listen"],
    ["a mail without a request", "From: a@b.example\nSubject: x\n\nwebhook-id: 1\n", "mail", "alone"],
    ["curl that was cut", curl(BODY).slice(0, -20), "it was cut", "Copy all"],
    ["curl for cmd.exe that was cut", cmdCommand(chromeCmd, BODY).slice(0, -20), "it was cut", "Copy all"],
    ["curl without its next line", `curl https://a.example.com/ -H 'a: b' \\\n`, "it was cut", "Copy all"],
    ["PowerShell that was cut", powershell(ASCII).slice(0, -20), "it was cut", "Copy all"],
    ["nothing", " \n", "empty", ""],
    ["headers in JSON alone", JSON.stringify(HEADERS), "headers alone", "--headers"],
    ["headers of an unknown form", inJson([1, 2]), "form that is not known", "rawHeaders"],
    ["curl with variables", `curl https://a/ -H "Webhook-Timestamp: $TS" -d '{}'`, "$TS", "--trace"],
    ["curl of PowerShell", "PS C:\\a> curl.exe https://a/ -d '{}'", "PowerShell", "--trace"],
    ["curl with typographic quotes", "curl https://a/ -H \u201ca: b\u201d", "typographic", "--trace"],
    ["a template", String(wire("{}")).replace(TIMESTAMP, "{{$timestamp}}"), "variable", "listen"],
    ["PowerShell with unknown headers", psCall("$headers", "'{}'"), "-Headers", "browser"],
    ["a form of curl", "curl -F a=@b https://a.example.com/", "curl -F", "--trace"],
    ["fetch with a variable", "fetch(url, { body })", "plain texts", "network panel"],
    [
      "PowerShell with a variable",
      'Invoke-WebRequest -Uri "https://a/" -Method POST -Body $body',
      "-Body",
      "browser",
    ],
  ] as const)("%s", async (_name, content, what, instead) => {
    const seen = await verified(content);
    expect(seen).toMatchObject({ exit: 2, mistakes: [] });
    expect(seen.text).toContain(what);
    expect(seen.text).toContain(instead);
  });
});

it("the help lists the forms", async () => {
  const { text } = await verified("x", "--help");
  for (const form of [
    "HAR",
    "ngrok",
    "Postman",
    "webhook.site",
    "cmd",
    "PowerShell",
    "--trace-ascii",
    "Lambda",
  ])
    expect(text).toContain(form);
});
