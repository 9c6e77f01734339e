// The parsers of captured requests, one for each form that people keep them in.
import { parseCaptured } from "../../../cli/src/capture/captured-request.js";
import { curlCommand } from "../../../cli/src/capture/curl.js";
import { parseCurl } from "../../../cli/src/capture/read-curl.js";
import { ownTime } from "../../../cli/src/capture/request-time.js";
import { CliError } from "../../../cli/src/failure.js";
import { inertLine } from "../../../cli/src/output.js";
import { holds, type Parser } from "../parser.js";

const URL_ = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const BODY = '{"type":"user.created","n":1}';
const HEAD = `POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1\r\nHost: tenant.example.com\r\nContent-Type: application/json\r\nWebhook-Timestamp: 1767225600`;
const HAR = {
  method: "POST",
  url: URL_,
  headers: [{ name: "Content-Type", value: "application/json" }],
  postData: { mimeType: "application/json", text: BODY },
};

function hexDump(text: string): string {
  const rows =
    Buffer.from(text)
      .toString("hex")
      .match(/.{1,32}/g) ?? [];
  return rows
    .map((row, at) => {
      const pairs = row.match(/../g) ?? [];
      return `${(at * 16).toString(16).padStart(8, "0")}  ${pairs.join(" ").padEnd(48)} ................`;
    })
    .join("\n");
}

/** Valid captures by form. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  raw: [
    `${HEAD}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    `${HEAD}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2;x=1\r\n1}\r\n0\r\n\r\n`,
    `${HEAD}\n folded: x\n\n${BODY}`,
  ],
  curl: [
    `curl -sS -i \\\n  -H 'Content-Type: application/json' \\\n  --data-binary '${BODY}' \\\n  '${URL_}'`,
    `$ curl --json $'{"a":"\\u00e9\\'"}' -XPUT --url ${URL_} -o /dev/null | jq .`,
    `curl "${URL_}" -H "a: \\"b\\"" -d a=1 -d @missing --data-binary @./none`,
    `curl ^"${URL_}^" ^\n  -H ^"content-type: application/json^" ^\n  --data-raw ^"^{^\\^"a^\\^":1^}^"`,
  ],
  verbose: [
    `* Connected to tenant.example.com\n> ${HEAD.replaceAll("\r\n", "\n> ")}\n> \n} [29 bytes data]\n< HTTP/1.1 200 OK\n< \n{}`,
    `curl -v -d '${BODY}' ${URL_}\n> ${HEAD.replaceAll("\r\n", "\n> ")}\n>\n< HTTP/1.1 200 OK`,
  ],
  trace: [
    `== Info: Connected\n=> Send header, 44 bytes (0x2c)\n0000: POST /a HTTP/1.1\n0012: Content-Type: application/json\n0033: \n=> Send data, 7 bytes (0x7)\n0000: {"a":1}\n`,
    `=> Send header, 20 bytes (0x14)\n0000: 50 4f 53 54 20 2f 61 20 48 54 54 50 2f 31 2e 31 POST /a HTTP/1.1\n0010: 0d 0a 0d 0a                                     ....\n=> Send data, 7 bytes (0x7)\n0000: 7b 22 61 22 3a 31 7d                            {"a":1}\n`,
  ],
  fetch: [
    `fetch("${URL_}", {\n  "headers": { "content-type": "application/json" },\n  "body": ${JSON.stringify(BODY)},\n  "method": "POST"\n});`,
    `await fetch('${URL_}', { method: "POST", body: '{"a":1}', headers: { 'a': "b" } })`,
  ],
  powershell: [
    `$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\nInvoke-WebRequest -UseBasicParsing -Uri "${URL_}" \`\n-Method "POST" \`\n-Headers @{\n"content-type"="application/json"\n} \`\n-ContentType "application/json" \`\n-Body "{\`"a\`":1}"`,
    `Invoke-RestMethod -Uri '${URL_}' -Method Post -Body '{"a":1}' -Headers @{ 'a' = 'b'; c = "d" }`,
  ],
  csv: [
    `uuid,type,method,ip,url,headers,content,created_at\nabc,web,POST,203.0.113.7,${URL_},"{""content-type"":[""application/json""]}","${BODY.replaceAll('"', '""')}",2026-01-01 00:00:00\n`,
  ],
  hex: [
    hexDump(`${HEAD}\r\n\r\n${BODY}`),
    hexDump(`${HEAD}\r\n\r\n${BODY}`).replaceAll(/^(\d{8}) {2}((?:.. ){8})/gm, "$1: $2 "),
  ],
  followed: [
    `${"=".repeat(67)}\nFollow: tcp,ascii\nFilter: tcp.stream eq 0\nNode 0: 10.0.0.1:50000\nNode 1: 10.0.0.2:80\n${HEAD.length + 4 + BODY.length}\n${HEAD}\r\n\r\n${BODY}\n${"=".repeat(67)}\n`,
    `${"=".repeat(67)}\nFollow: tcp,raw\nFilter: tcp.stream eq 0\nNode 0: a:1\nNode 1: b:2\n${Buffer.from(`${HEAD}\r\n\r\n${BODY}`).toString("hex")}\n${"=".repeat(67)}\n`,
    `:method: POST\n:authority: tenant.example.com\n:scheme: https\n:path: /a\ncontent-type: application/json\n\n${BODY}`,
  ],
  json: [
    JSON.stringify({
      log: { version: "1.2", entries: [{ startedDateTime: "2026-01-01T00:00:00Z", request: HAR }] },
    }),
    JSON.stringify({
      method: "POST",
      url: URL_,
      headers: { "Content-Type": "application/json" },
      body: BODY,
    }),
    JSON.stringify({
      ...{ v: 1, at: 1, eventId: "x", url: URL_, method: "hmac", headers: { a: "b" } },
      ...{ bodyBase64: Buffer.from(BODY).toString("base64"), outcome: "accepted" },
    }),
    JSON.stringify({
      version: "2.0",
      requestContext: { http: { method: "POST", path: "/a" } },
      rawPath: "/a",
      headers: { a: "b" },
      body: "e30=",
      isBase64Encoded: true,
    }),
    JSON.stringify({
      httpMethod: "POST",
      path: "/a",
      multiValueHeaders: { a: ["b", "c"] },
      body: BODY,
      isBase64Encoded: false,
    }),
    JSON.stringify({ data: [{ method: "POST", url: URL_, headers: { a: ["b"] }, content: BODY }] }),
    JSON.stringify({
      requests: [
        {
          request: {
            method: "POST",
            uri: "/a",
            raw: Buffer.from(`${HEAD}\r\n\r\n${BODY}`).toString("base64"),
          },
        },
      ],
    }),
    JSON.stringify({
      v: 1,
      type: "request",
      n: 1,
      at: 1,
      method: "POST",
      url: URL_,
      headers: [["a", "b"]],
      bodyBase64: "e30=",
      status: 200,
    }),
  ],
  other: [
    '203.0.113.7 - - [01/Jan/2026:00:00:00 +0000] "POST / HTTP/1.1" 200 2\n',
    "\u00d4\u00c3\u00b2\u00a1",
    "PK\u0003\u0004",
  ],
};

const WORDS = [
  ...[
    "curl ",
    "-H ",
    "--data-binary ",
    "@",
    "$'",
    "\\x",
    "\\u",
    "^",
    "`",
    "@{",
    "\r\n\r\n",
    "> ",
    "< ",
    "0000: ",
  ],
  ...[
    "=> Send header",
    "fetch(",
    ":method: ",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 9\r\n",
    "isBase64Encoded",
  ],
  ...[
    '"headers":',
    '"body":',
    '"postData":',
    "HTTP/1.1",
    "POST ",
    "ffffffff\r\n",
    "Follow: tcp,raw\n",
    ',""',
    "|",
    "'",
  ],
];

export const CAPTURE_PARSERS: readonly Parser[] = Object.entries(FORMS).map(
  ([form, examples]): Parser => ({
    name: `capture-${form}`,
    examples,
    words: WORDS,
    shownBy: inertLine,
    refuses: (error) => error instanceof CliError && error.exit !== 1,
    read(input) {
      const { method, target, headers, body, doubt, lacksBody } = parseCaptured(input);
      holds(typeof method === "string" && typeof target === "string", "method and target are texts");
      holds(
        headers.every((line) => line.length === 2 && line.every((part) => typeof part === "string")),
        "header lines are pairs of texts",
      );
      holds(body instanceof Uint8Array, "a body is bytes");
      ownTime(headers.map(([, value]) => value));
      isSentAgain(target, body);
      return [doubt ?? "", lacksBody ?? ""];
    },
  }),
);

/** What is written as a curl command is read again with the same bytes. */
function isSentAgain(target: string, body: Uint8Array): void {
  const text = Buffer.from(body).toString("utf8");
  if (!Buffer.from(text).equals(body) || !/^https?:\/\/[\x21-\x7e]+$/.test(target) || text.startsWith("@"))
    return;
  const again = parseCurl(curlCommand({ url: target, headers: { a: "b" }, body }));
  holds(Buffer.from(again.body).equals(body) && again.target === target, "curl sends the same again");
}
