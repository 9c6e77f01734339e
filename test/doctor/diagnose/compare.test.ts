import { execFileSync } from "node:child_process";
import { deflateSync, gzipSync } from "node:zlib";
import { type ComparedRequest, changes, compare, mistakes } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTools } from "../../kit/outside-tool.js";

const HEADERS: Record<string, string> = {
  Host: "tenant.example.com",
  "Content-Type": "application/json",
  "Webhook-Timestamp": "1767225600",
  "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  "Webhook-Signature": "7-54msTR9uMmvhpr3-qGIc2iObvDWsxrUQcu01JjJ3k",
};
const PATH = "/api/v1/webhooks/incoming/lst_1";
const BODY = '{"type":"user.offboarded","userId":"u_123","url":"https://a/b?c=1&d=<é>","n":1,"e":{}}';
const SENT = { method: "POST", url: PATH, headers: HEADERS, body: BODY };
const TOKEN = "Bearer eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ";

const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(HEADERS).filter(([name]) => !names.includes(name)));

async function ids(
  received: Partial<ComparedRequest>,
  sent: Partial<ComparedRequest> = {},
): Promise<string[]> {
  const found = await compare({ sent: { ...SENT, ...sent }, received: { ...SENT, ...sent, ...received } });
  expect(found.equal).toBe(found.changes.length === 0);
  return found.changes.map(({ id }) => id);
}

it("says that two requests are equal", async () => {
  expect(await compare({ sent: SENT, received: SENT })).toEqual({ equal: true, changes: [], through: [] });
  const bytes = new TextEncoder().encode(BODY);
  expect(await ids({ headers: Object.entries(HEADERS), body: bytes })).toEqual([]);
});

it("compares requests without a Host, as a capture may have lost it", async () => {
  expect(await ids({}, { headers: without("Host") })).toEqual([]);
  expect(await ids({ body: "" }, { headers: without("Host") })).toEqual(["body-lost"]);
});

it("reads both sides strictly", async () => {
  await expect(compare({ sent: SENT, received: {} as never })).rejects.toThrow(/^received\.headers must be/);
  await expect(compare({ sent: { ...SENT, headers: null as never }, received: SENT })).rejects.toThrow(
    /^sent\.headers must be/,
  );
  const body = { a: 1 } as never;
  await expect(compare({ sent: { ...SENT, body }, received: SENT })).rejects.toThrow(/^sent\.body must be/);
});

describe("method, host, path and query", () => {
  it.each<[what: string, received: Partial<ComparedRequest>, expected: string[]]>([
    ["a redirect", { method: "GET", body: "" }, ["method-changed", "body-lost"]],
    ["the prefix cut off", { url: "/incoming/lst_1" }, ["path-prefix-lost"]],
    ["a stage in front", { url: `/prod${PATH}` }, ["path-prefix-added"]],
    ["a slash at the end", { url: `${PATH}/` }, ["path-slash"]],
    ["slashes doubled", { url: PATH.replace("/v1", "//v1") }, ["path-normalised"]],
    ["escapes", { url: PATH.replace("lst_1", "lst%5F1") }, ["path-normalised"]],
    ["another path", { url: "/hooks" }, ["path-rewritten"]],
    ["a query", { url: `${PATH}?utm_source=x` }, ["query-changed"]],
    ["the whole URL", { url: `https://tenant.example.com${PATH}` }, []],
    ["the default port", { headers: { ...HEADERS, Host: "tenant.example.com:443" } }, []],
    ["another host", { headers: { ...HEADERS, Host: "backend:8080" } }, ["host-changed"]],
    ["neither method nor URL known", { method: undefined, url: undefined }, []],
  ])("%s", async (_what, received, expected) => {
    expect(await ids(received)).toEqual(expected);
  });

  it("a host matters only to a token", async () => {
    const received = { ...SENT, headers: { ...HEADERS, Host: "backend" } };
    const {
      changes: [found],
    } = await compare({ sent: SENT, received });
    expect(found?.matters).toBe(false);
    const withToken = (host: string) => ({
      ...SENT,
      headers: { ...HEADERS, Host: host, Authorization: TOKEN },
    });
    const token = await compare({ sent: withToken("a"), received: withToken("b") });
    expect(token.changes[0]).toMatchObject({ id: "host-changed", matters: true });
  });
});

describe("headers", () => {
  const signature = HEADERS["Webhook-Signature"] as string;
  const rest = Object.entries(without("Webhook-Signature"));
  it.each<[what: string, received: [string, string][], expected: string[]]>([
    ["lost", rest, ["header-lost"]],
    ["renamed", [...rest, ["X-Original-Signature", signature]], ["header-renamed"]],
    ["as CGI has it", [...rest, ["HTTP_WEBHOOK_SIGNATURE", signature]], ["header-renamed"]],
    [
      "doubled",
      [...rest, ["Webhook-Signature", signature], ["webhook-signature", signature]],
      ["header-doubled", "header-case"],
    ],
    [
      "doubled in one line",
      [...rest, ["Webhook-Signature", `${signature}, ${signature}`]],
      ["header-doubled"],
    ],
    ["cut", [...rest, ["Webhook-Signature", signature.slice(0, 32)]], ["header-cut"]],
    ["changed", [...rest, ["Webhook-Signature", "x".repeat(43)]], ["header-changed"]],
    [
      "folded",
      [...rest, ["Webhook-Signature", `${signature.slice(0, 9)}\r\n ${signature.slice(9)}`]],
      ["header-folded"],
    ],
    ["in other capitals", [...rest, ["webhook-signature", signature]], ["header-case"]],
    [
      "an Accept with the type's value",
      [...Object.entries(without("Content-Type")), ["Accept", "application/json"]],
      ["header-lost", "other-headers"],
    ],
    [
      "a charset",
      [...rest, ["Webhook-Signature", signature], ["X-Forwarded-For", "10.0.0.1"]],
      ["other-headers"],
    ],
  ])("%s", async (_what, headers, expected) => {
    expect(await ids({ headers })).toEqual(expected);
  });

  it("several lines, joined or reduced to one", async () => {
    const twice: [string, string][] = [
      ...rest,
      ["Webhook-Signature", "a".repeat(43)],
      ["Webhook-Signature", signature],
    ];
    const once = (value: string) => ({ headers: [...rest, ["Webhook-Signature", value] as const] });
    expect(await ids(once(`${"a".repeat(43)}, ${signature}`), { headers: twice })).toEqual(["header-joined"]);
    expect(await ids(once(signature), { headers: twice })).toEqual(["header-lines-lost"]);
  });

  it("a name with an underscore, and one that Connection names", async () => {
    const headers = { ...without("Webhook-Signature"), Webhook_Signature: signature };
    expect(await ids({ headers: without("Webhook-Signature") }, { headers })).toEqual([
      "header-with-underscore-lost",
    ]);
    const named = { ...HEADERS, Connection: "close, Webhook-Signature" };
    expect(await ids({ headers: without("Webhook-Signature") }, { headers: named })).toEqual([
      "header-named-in-connection",
    ]);
  });

  it.each<[what: string, received: Record<string, string>, expected: string[]]>([
    ["lost", {}, ["token-lost"]],
    ["moved", { "X-Forwarded-Authorization": TOKEN }, ["token-moved"]],
    ["moved by API Gateway", { "x-amzn-Remapped-Authorization": TOKEN }, ["token-moved"]],
    ["moved without its scheme", { "X-Forwarded-Access-Token": TOKEN.slice(7) }, ["token-moved"]],
    [
      "moved and replaced",
      { "X-Forwarded-Authorization": TOKEN, Authorization: "Bearer a.b.c" },
      ["token-moved", "token-replaced"],
    ],
    ["replaced", { Authorization: "Basic dXNlcjpwYXNz" }, ["token-replaced"]],
    [
      "without its signature",
      { Authorization: TOKEN.replace(/[^.]+$/, "SIGNATURE_REMOVED_BY_GOOGLE") },
      ["token-signature-removed"],
    ],
    [
      "with its signature cut off",
      { Authorization: TOKEN.replace(/\.[^.]+$/, "") },
      ["token-signature-removed"],
    ],
  ])("a token %s", async (_what, received, expected) => {
    const bare = without("Webhook-Signature");
    const sent = { headers: { ...bare, Authorization: TOKEN } };
    expect(await ids({ headers: { ...bare, ...received } }, sent)).toEqual(expected);
  });

  it("names who left headers", async () => {
    const headers = { ...HEADERS, "CF-Ray": "1", "X-Amzn-Trace-Id": "2", "X-Forwarded-For": "3" };
    const { through, changes: found } = await compare({ sent: SENT, received: { ...SENT, headers } });
    expect(through).toEqual(["Cloudflare", "AWS (load balancer or API Gateway)", "a proxy or load balancer"]);
    expect(found).toMatchObject([{ id: "other-headers", matters: false }]);
  });
});

describe("the body", () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);
  const value = JSON.parse(BODY);
  const misread = Buffer.from(BODY).toString("latin1");
  it.each<[what: string, received: string | Uint8Array, expected: string[], sent?: string | Uint8Array]>([
    ["lost", "", ["body-lost"]],
    ["from nowhere", "{}", ["body-appeared"], ""],
    ["compressed", gzipSync(BODY), ["body-compressed"]],
    ["decompressed", BODY, ["body-decompressed"], gzipSync(BODY)],
    ["decompressed from zlib", BODY, ["body-decompressed"], deflateSync(BODY)],
    [
      "decompressed and sorted",
      '{"a":2,"b":1}',
      ["body-decompressed", "body-json-order"],
      gzipSync('{"b":1,"a":2}'),
    ],
    ["a BOM added", `\ufeff${BODY}`, ["body-bom-added"]],
    ["a BOM lost", BODY, ["body-bom-lost"], `\ufeff${BODY}`],
    ["in latin1", Buffer.from(BODY, "latin1"), ["body-charset"]],
    ["in UTF-16", Buffer.from(BODY, "utf16le"), ["body-charset"]],
    ["encoded twice", misread, ["body-encoded-twice"]],
    ["with ?", BODY.replace("é", "?"), ["body-characters-lost"]],
    ["as ASCII with ??", BODY.replace("é", "??"), ["body-characters-lost"]],
    ["without accents' characters", BODY.replace("é", ""), ["body-characters-lost"]],
    ["decomposed", BODY.normalize("NFD"), ["body-unicode-normalised"]],
    ["with CRLF", '{\r\n"a":1}', ["body-line-ends"], '{\n"a":1}'],
    ["with its lines joined, as curl -d does", '{"a":1}', ["body-line-ends"], '{\n"a":1\n}\n'],
    ["with a newline at its end", `${BODY}\n`, ["body-trimmed"]],
    ["without one", BODY, ["body-trimmed"], `${BODY}\n`],
    ["cut", BODY.slice(0, 60), ["body-cut"]],
    ["without its beginning", BODY.slice(10), ["body-beginning-lost"]],
    ["with more behind", `${BODY}<!-- x -->`, ["body-extended"]],
    [
      "in chunks",
      `a\r\n${BODY.slice(0, 10)}\r\n${(utf8(BODY).length - 10).toString(16)}\r\n${BODY.slice(10)}\r\n0\r\n\r\n`,
      ["body-with-chunks"],
    ],
    [
      "in chunks with line feeds alone",
      `a\n${BODY.slice(0, 10)}\n${(utf8(BODY).length - 10).toString(16)}\n${BODY.slice(10)}\n0\n\n`,
      ["body-with-chunks"],
    ],
    ["in base64", Buffer.from(BODY).toString("base64"), ["body-arrived-in-base64"]],
    ["as a JSON text", JSON.stringify(BODY), ["body-stringified"]],
    ["as a form", new URLSearchParams([[BODY, ""]]).toString(), ["body-escaped"]],
    ["as a component", encodeURIComponent(BODY), ["body-escaped"]],
    [
      "for HTML",
      BODY.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
      ["body-escaped"],
    ],
    ["with backslashes", BODY.replaceAll('"', '\\"'), ["body-escaped"]],
    ["as a member that is a text", JSON.stringify({ body: BODY, x: 1 }), ["body-wrapped"]],
    ["as a member that is an object", `{"data":${BODY}}`, ["body-wrapped"]],
    ["indented", JSON.stringify(value, null, 2), ["body-json-whitespace"]],
    ["sorted", '{"a":2,"b":1}', ["body-json-order"], '{"b":1,"a":2}'],
    ["sorted and spaced", '{"a": 2, "b": 1}', ["body-json-order", "body-json-whitespace"], '{"b":1,"a":2}'],
    ["escaped by PHP", BODY.replaceAll("/", "\\/").replace("é", "\\u00e9"), ["body-json-escapes"]],
    ["with an escaped name", '{"\\u00e9":1}', ["body-json-escapes"], '{"é":1}'],
    ["with 1.0", BODY.replace('"n":1', '"n":1.0'), ["body-json-numbers"]],
    ["with lost digits", '{"id":12345678901234567000}', ["body-json-numbers"], '{"id":12345678901234567890}'],
    ["with one of two", '{"a":2}', ["body-json-duplicates"], '{"a":1,"a":2}'],
    ["in camelCase", '{"userId":1}', ["body-json-names"], '{"user_id":1}'],
    ["without nulls", '{"b":1}', ["body-json-nulls"], '{"a":null,"b":1}'],
    ["with null for an empty text", '{"a":null}', ["body-json-nulls"], '{"a":""}'],
    ["with a value for null", '{"a":"x"}', ["body-json-values"], '{"a":null}'],
    ["with null for a value", '{"a":null}', ["body-json-values"], '{"a":"x"}'],
    ["with trimmed texts", '{"a":"x"}', ["body-json-trimmed"], '{"a":" x "}'],
    ["redacted", '{"a":"***"}', ["body-json-values"], '{"a":"secret"}'],
    ["another type", '{"a":"1"}', ["body-json-values"], '{"a":1}'],
    ["a longer list", "[1,2]", ["body-json-values"], "[1]"],
    ["something else", "oops", ["body-changed"]],
    ["other bytes", new Uint8Array([0xff, 1]), ["body-changed"], new Uint8Array([0xfe, 2])],
  ])("%s", async (_what, received, expected, sent = BODY) => {
    expect(await ids({ body: received }, { body: sent })).toEqual(expected);
  });

  it("cut where the length was counted in characters", async () => {
    const sent = '{"name":"Grüße, 世界"}';
    const body = Buffer.from(sent).subarray(0, sent.length);
    const found = await compare({ sent: { ...SENT, body: sent }, received: { ...SENT, body } });
    expect(found.changes[0]?.message).toContain("which is the number of its characters");
  });

  itWith("python3", hasTools("python3"))("as Python's json writes it", async () => {
    const program = "import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin), sort_keys=True))";
    const body = execFileSync("python3", ["-c", program], { input: BODY });
    expect(await ids({ body })).toEqual(["body-json-order", "body-json-escapes", "body-json-whitespace"]);
  });
});

it("gives every change an id of its own, a fix, and shows no value", async () => {
  const named = [...changes, ...(await mistakes())];
  expect(new Set(named.map(({ id }) => id)).size).toBe(named.length);
  for (const { fix, message } of changes)
    expect([fix, message]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
  // Anything may do these; of every other change somebody is named who does it.
  const byAnything = ["other-headers", "body-compressed", "body-changed"];
  expect(changes.filter(({ by }) => by.length === 0).map(({ id }) => id)).toEqual(byAnything);
  const secret = "s3cr3t-s3cr3t-s3cr3t";
  const sent = {
    ...SENT,
    url: `${PATH}?key=${secret}1`,
    headers: {
      ...HEADERS,
      Authorization: `Bearer ${secret}.b.c`,
      Cookie: secret,
      "Webhook-Signature": secret,
    },
    body: `{"password":"${secret}"}`,
  };
  const received = {
    ...SENT,
    url: `${PATH}?key=${secret}2`,
    headers: {
      ...HEADERS,
      Authorization: `Basic ${secret}`,
      Cookie: `${secret}2`,
      "Webhook-Signature": `${secret}.`,
      "X-Copy": secret,
    },
    body: `{"password":"${secret}2"}`,
  };
  const found = await compare({ sent, received });
  expect(found.changes.length).toBeGreaterThan(4);
  expect(JSON.stringify(found)).not.toContain(secret);
});
