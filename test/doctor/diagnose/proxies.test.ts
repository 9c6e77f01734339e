import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { gzipSync } from "node:zlib";
import { createEvent, generateSecret, hmacSigner, signRequest } from "hookproof";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../../cli/src/main.js";
import { describeWith } from "../../kit/needs.js";
import { exchange, type Line, requestBytes } from "../../kit/raw-http.js";
import { hasProxy, type ReverseProxy, type RunningProxy, startProxy } from "../../kit/reverse-proxy.js";
import { temporaryFolder } from "../../kit/temporary-folder.js";

const PATH = "/api/v1/webhooks/incoming/lst_1";
const TOKEN = "Bearer eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ";

/** What stands in the listener's place: it keeps the bytes of each request, and answers 200. */
let captured: Buffer;
let capture: Server;
let backend: string;
beforeAll(async () => {
  capture = createServer((socket) => {
    const chunks: Buffer[] = [];
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      captured = Buffer.concat(chunks);
      if (isWhole(captured)) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => capture.listen(0, "127.0.0.1", resolve));
  backend = `127.0.0.1:${(capture.address() as AddressInfo).port}`;
});
afterAll(() => {
  capture.close();
});

function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = bytes.toString("latin1", 0, end);
  const length = /^content-length: *([0-9]+)/im.exec(head)?.[1];
  return length === undefined
    ? !/^transfer-encoding:/im.test(head) || bytes.toString("latin1").endsWith("\r\n0\r\n\r\n")
    : bytes.length >= end + 4 + Number(length);
}

/** A signed request as its sender writes it. */
async function sentRequest({ path = PATH, more = [] as Line[], gzip = false } = {}): Promise<Buffer> {
  const event = createEvent({ type: "user.offboarded", user: "u_1" });
  const url = `https://tenant.example.com${PATH}`;
  const { headers, body } = await signRequest({
    url,
    signer: hmacSigner({ secret: generateSecret() }),
    event,
  });
  const bytes = gzip ? gzipSync(body as Uint8Array) : (body as Uint8Array);
  const lines: Line[] = [
    ["Host", "tenant.example.com"],
    ...(Object.entries(headers) as Line[]),
    ...more,
    ...(gzip ? ([["Content-Encoding", "gzip"]] as const) : []),
    ["Content-Length", String(bytes.length)],
    ["Connection", "close"],
  ];
  return requestBytes({ target: path, headers: lines, body: bytes });
}

/** Sends a request through a proxy, and gives what `verify --sent --received` prints. */
async function verified(proxy: RunningProxy, sent: Buffer, received = () => captured) {
  const folder = temporaryFolder("proxies");
  const answer = await exchange(proxy.port, sent);
  expect(answer.status).toBe(200);
  writeFileSync(join(folder, "sent.http"), sent);
  writeFileSync(join(folder, "received.http"), received());
  const argv = ["verify", "--sent", join(folder, "sent.http"), "--received", join(folder, "received.http")];
  const [text, json] = [await printed(folder, argv), JSON.parse(await printed(folder, [...argv, "--json"]))];
  const shown = (json.changes as { id: string; matters: boolean }[]).map(
    ({ id, matters }) => `${matters ? "✖" : "!"} ${id}`,
  );
  for (const line of shown) expect(text).toContain(`${line}  `);
  return { shown, text, through: json.through as string[] };
}

async function printed(folder: string, argv: readonly string[]): Promise<string> {
  let text = "";
  const sink = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          text += chunk;
          done();
        },
      }),
      { isTTY: false, columns: 80 },
    );
  await run(argv, {
    stdin: Object.assign(Readable.from([]), { isTTY: false }),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: folder, HOME: folder, NO_COLOR: "1" },
    stopSignal: new AbortController().signal,
  });
  return text;
}

/** One proxy for all tests of a group. */
function proxyWith(name: ReverseProxy, harm: (folder: string) => string): () => RunningProxy {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(name, harm, backend);
  });
  afterAll(() => proxy?.stop());
  return () => proxy;
}

describeWith("nginx", hasProxy("nginx"))("nginx", () => {
  const proxy = proxyWith(
    "nginx",
    () => `
    location / { proxy_pass http://backend; }
    location /api/v1/webhooks/ { proxy_pass http://backend/; }
    location /renaming/ {
      proxy_pass http://backend;
      proxy_set_header Host $host;
      proxy_set_header X-Original-Signature $http_webhook_signature;
      proxy_set_header Webhook-Signature "";
      proxy_set_header X-Real-IP $remote_addr;
    }
    location /wrapping/ { proxy_pass http://backend; proxy_set_body '{"data":$request_body}'; }
    location /gateway/ { proxy_pass http://backend; proxy_set_header Authorization "Bearer the.gateways.own"; }`,
  );

  it("as it comes changes the host only, which no signature covers", async () => {
    const { shown, text } = await verified(proxy(), await sentRequest({ path: "/hooks" }));
    expect(shown).toEqual(["! host-changed"]);
    expect(text).toContain("Nothing that a listener checks was changed on the way.");
  });

  it("drops headers with an underscore", async () => {
    const sent = await sentRequest({ path: "/hooks", more: [["Webhook_Signature", "x".repeat(43)]] });
    const { shown, text } = await verified(proxy(), sent);
    expect(shown).toEqual(["✖ header-with-underscore-lost", "! host-changed"]);
    expect(text).toContain("known from      nginx (underscores_in_headers is off by default)");
  });

  it("cuts off the path in front of proxy_pass, and merges slashes", async () => {
    expect((await verified(proxy(), await sentRequest())).shown).toEqual([
      "✖ path-prefix-lost",
      "! host-changed",
    ]);
    const slashes = await sentRequest({ path: PATH.replace("/incoming", "//incoming") });
    expect((await verified(proxy(), slashes)).text).toContain('became "/incoming/lst_1".');
  });

  it("renames the signature", async () => {
    const { shown, text, through } = await verified(proxy(), await sentRequest({ path: "/renaming/a" }));
    expect(shown).toEqual(["✖ header-renamed", "! other-headers"]);
    expect(text).toContain('"Webhook-Signature" stands in "X-Original-Signature".');
    expect(through).toEqual(["nginx or Traefik, as usually configured"]);
  });

  it("wraps the body, and sets a token of its own", async () => {
    const wrapped = await verified(proxy(), await sentRequest({ path: "/wrapping/a" }));
    expect(wrapped.shown).toEqual(["✖ body-wrapped", "! host-changed"]);
    const replaced = await verified(
      proxy(),
      await sentRequest({ path: "/gateway/a", more: [["Authorization", TOKEN]] }),
    );
    expect(replaced.shown).toEqual(["✖ host-changed", "✖ token-replaced"]);
  });
});

describeWith("haproxy", hasProxy("haproxy"))("HAProxy", () => {
  const proxy = proxyWith(
    "haproxy",
    () => `
  option forwardfor
  http-request set-header X-Forwarded-Authorization %[req.hdr(Authorization)] if { path_beg /token }
  http-request del-header Authorization if { path_beg /token }
  http-request add-header Webhook-Signature %[req.fhdr(Webhook-Signature)] if { path_beg /doubling }
  http-request del-header Webhook-Event-Id if { path_beg /losing }
  http-request set-header Webhook-Signature %[req.hdr(Webhook-Signature),bytes(0,32)] if { path_beg /cutting }
  http-request set-path /prod%[path] if { path_beg /api }`,
  );

  it("writes header names in lower case, and puts a stage in front of the path", async () => {
    const { shown, through } = await verified(proxy(), await sentRequest());
    expect(shown).toEqual(["✖ path-prefix-added", "! other-headers", "! header-case"]);
    expect(through).toEqual(["a proxy or load balancer"]);
  });

  it.each<[path: string, more: Line[], expected: string]>([
    ["/token", [["Authorization", TOKEN]], "✖ token-moved"],
    ["/doubling", [], "✖ header-doubled"],
    ["/losing", [], "✖ header-lost"],
    ["/cutting", [], "✖ header-cut"],
  ])("%s", async (path, more, expected) => {
    const { shown } = await verified(proxy(), await sentRequest({ path, more }));
    expect(shown).toEqual([expected, "! other-headers", "! header-case"]);
  });
});

describeWith("apache2", hasProxy("apache2"))("Apache", () => {
  const proxy = proxyWith("apache2", (folder) => {
    // What a CGI program sees of a request, written as a request.
    const script = `#!/bin/sh
PATH=/usr/bin:/bin
{ echo "POST $REQUEST_URI HTTP/1.1"; env | sed -n 's/^\\(HTTP_[A-Z_]*\\)=/\\1: /p'
echo "Content-Type: $CONTENT_TYPE"; echo; cat; } > ${folder}/tmp/received.http
printf 'Status: 200\\r\\nContent-Type: text/plain\\r\\n\\r\\n'
`;
    mkdirSync(join(folder, "cgi"), { mode: 0o755 });
    writeFileSync(join(folder, "cgi", "hook"), script, { mode: 0o755 });
    return `
ExtFilterDefine spaces mode=input cmd="/bin/sed -u s/:/:\\ /g"
ExtFilterDefine cut mode=input cmd="/usr/bin/head -c 20"
<Location /hooks>
  RequestHeader unset Webhook-Timestamp
</Location>
<Location /inflating>
  SetInputFilter DEFLATE
</Location>
<Location /spacing>
  SetInputFilter spaces
</Location>
<Location /cutting>
  SetInputFilter cut
</Location>
ScriptAlias /cgi/ ${folder}/cgi/
<Directory ${folder}/cgi>
  Require all granted
</Directory>
ProxyPass /cgi/ !
ProxyPass / \${backend}/
`;
  });

  it("loses a header by RequestHeader unset", async () => {
    const { shown, through } = await verified(proxy(), await sentRequest({ path: "/hooks" }));
    expect(shown).toEqual(["✖ header-lost", "! host-changed", "! other-headers"]);
    expect(through).toEqual(["Apache or Traefik", "a proxy or load balancer"]);
  });

  it("decompresses a body with mod_deflate", async () => {
    const { shown } = await verified(proxy(), await sentRequest({ path: "/inflating", gzip: true }));
    expect(shown).toContain("✖ body-decompressed");
  });

  it("writes the body again, and cuts it off, by a filter", async () => {
    const spaced = await verified(proxy(), await sentRequest({ path: "/spacing" }));
    expect(spaced.shown).toEqual(["✖ body-json-whitespace", "! host-changed", "! other-headers"]);
    const cut = await verified(proxy(), await sentRequest({ path: "/cutting" }));
    expect(cut.shown).toEqual(["✖ body-cut", "! host-changed", "! other-headers"]);
  });

  it("hides the token from CGI, and drops what has an underscore", async () => {
    const sent = await sentRequest({
      path: "/cgi/hook",
      more: [
        ["Authorization", TOKEN],
        ["Webhook_Signature", "x".repeat(43)],
      ],
    });
    const { shown, text } = await verified(proxy(), sent, () =>
      readFileSync(join(proxy().folder, "tmp", "received.http")),
    );
    expect(shown).toContain("✖ token-lost");
    expect(shown).toContain("✖ header-with-underscore-lost");
    expect(shown.filter((line) => line === "✖ header-renamed")).toHaveLength(3);
    expect(text).toContain('"Webhook-Event-Id" stands in "HTTP_WEBHOOK_EVENT_ID".');
  });
});
