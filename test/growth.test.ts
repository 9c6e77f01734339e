import { createSender, hmacSigner } from "hookproof";
import { type ComparedRequest, compare, diagnose } from "hookproof/diagnose";
import type { KeyResolver } from "hookproof/jwks";
import { checkKeySet, createKeySet, jwksHandler, remoteKeys } from "hookproof/jwks";
import { createReceiver, type ReceiverOptions } from "hookproof/receiver";
import { generateStandardSecret } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";
import { parseCapturedJson } from "../cli/src/capture/captured-json.js";
import { parseCaptured } from "../cli/src/capture/captured-request.js";
import { parseHeaderLines, parseRawRequest } from "../cli/src/capture/raw-request.js";
import { parseCurl } from "../cli/src/capture/read-curl.js";
import { maskedFields } from "../service/src/api/routes/update-mask.js";
import { parseTemplates } from "../service/src/automations/template.js";
import type { Entry } from "../service/src/inspector/entry.js";
import { readImport } from "../service/src/inspector/import-file.js";
import { withoutSecrets } from "../service/src/inspector/mask-secrets.js";
import { matcher } from "../service/src/inspector/query.js";
import { readToken } from "../service/src/inspector/token-detail.js";
import { parseMembers } from "../src/jwt/token.js";
import { costOf, tooMuch } from "./kit/cost.js";
import {
  applied,
  compiled,
  expressionsIn,
  type FoundExpression,
  hostileTexts,
  isUnbounded,
} from "./kit/expressions.js";
import { BASE_URL, clock, hmacParts, NOW, pathOf, SECRET, unsignedParts } from "./kit/hostile-target.js";
import { mistakesOf } from "./kit/mistakes-of.js";

/** What one text of a stranger may cost, in milliseconds of processor time, beside a known work. */
const MAX_MS = 5;
/** And what a text may cost that a person hands to the command line, or imports, where nobody else waits. */
const MAX_OF_A_PERSON_MS = 25;
/** Node takes so many bytes of headers, and hands on a single one of nearly that length. */
const HEADER = 16_000;
const BODY = 65_536;
/** What doubles its time with each character is found out here, before it runs for an hour. */
const SHORT = [16, 20, 24];

/** Costs at a quarter of the limit and at the limit; quadratic is 16 times as much, and more than `most` in the end. */
async function faultOf(
  call: (length: number) => () => unknown,
  limit: number,
  most = MAX_MS,
): Promise<string | undefined> {
  // The short ones first: what grows faster than anything would never end at the limit.
  for (const length of [...SHORT, 256, 1_024, Math.ceil(limit / 4)]) {
    const cost = await tooMuch(call(length), most);
    if (cost !== undefined) return `${length} characters cost ${cost} ms`;
  }
  const dear = await tooMuch(call(limit), most);
  if (dear !== undefined) return `${limit} characters cost ${dear} ms`;
  let cost = await costOf(call(limit), most / 4);
  if (cost < 1) return undefined;
  let quarter = await costOf(call(Math.ceil(limit / 4)), 0);
  const grows = () => cost > 10 * quarter && cost > most / 4;
  // What the garbage of one length costs and of the other does not is no growth: it differs when both are measured again.
  for (let again = 0; again < 12 && grows(); again++) {
    cost = Math.min(cost, await costOf(call(limit), 0));
    quarter = Math.max(quarter, await costOf(call(Math.ceil(limit / 4)), 0));
  }
  if (!grows()) return undefined;
  // The first garbage, or a table that no longer fits the cache, costs once; what really grows is as bad at the next step.
  // A reader may refuse a text of that length, and so take less time: then what was measured before counts.
  const beyond = await costOf(call(4 * limit), 0);
  if (beyond > cost && beyond < 8 * cost) return undefined;
  return `4 times the length cost ${(cost / quarter).toFixed(1)} times as much`;
}

/**
 * The expressions that no text of a stranger comes to, by file, and why. Every other one in the three folders is measured
 * with hostile texts of up to 64 KiB, whatever it is for: a new one is measured without being added here.
 */
const UNREACHABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

const isExcused = ({ path, text }: FoundExpression) => UNREACHABLE[path]?.[text] !== undefined;

describe("every regular expression", () => {
  const expressions = expressionsIn(["src", "service/src", "cli/src"]);

  it("is found, and none is put together at run time", () => {
    expect(expressions.length).toBeGreaterThan(150);
    expect(expressions.filter(({ text }) => !text.startsWith("/"))).toEqual([]);
    for (const [path, texts] of Object.entries(UNREACHABLE))
      for (const text of Object.keys(texts))
        expect(
          expressions.some((one) => one.path === path && one.text === text),
          `${path} ${text}`,
        ).toBe(true);
  });

  it("takes linear time for what it may be given", async () => {
    const slow: string[] = [];
    for (const found of expressions.filter((one) => isUnbounded(one) && !isExcused(one))) {
      const expression = compiled(found);
      const suspects = hostileTexts(found).filter((make) => {
        const texts = [...SHORT, 1_024].map(make);
        return texts.some((text) => costs(() => applied(expression, found.use, text)) > 0.1);
      });
      for (const make of suspects) {
        const fault = await faultOf((length) => {
          const text = make(length);
          return () => applied(expression, found.use, text);
        }, BODY);
        if (fault === undefined) continue;
        slow.push(`${found.path} ${found.text} ${JSON.stringify(make(8).slice(0, 40))}: ${fault}`);
        break;
      }
    }
    expect(slow).toEqual([]);
  });

  it.each([
    '/"(?:[^"\\\\]|\\\\.)*"/g',
    "/\\s+$/",
    "/^(a|a)*$/",
    "/\\s*=\\s*/",
    "/^([^:]+):[ \\t]*(.*?)[ \\t]*$/",
  ])("and %s would be found out", async (text) => {
    const found: FoundExpression = { path: "x", text, use: "search" };
    const expression = compiled(found);
    let slowest = "";
    for (const make of hostileTexts(found)) {
      const fault = await faultOf(
        (length) => () => applied(expression, found.use, make(length)),
        Math.min(BODY, 20_000),
      );
      if (fault) slowest = fault;
      if (fault) break;
    }
    expect(slowest).not.toBe("");
  });

  /** A first look, by the wall clock: what is below a tenth of a millisecond is not looked at again. */
  function costs(call: () => unknown): number {
    let least = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 4 && least > 0.1; tries++) {
      const start = performance.now();
      call();
      least = Math.min(least, performance.now() - start);
    }
    return least;
  }
});

/** What hostile texts are made of: each of them, again and again, alone and around what is right. */
const PUMPS = [
  ..."{[\"'\\=a0.-_/+%,;: \t(<é",
  '\\"',
  "\\'",
  "{{",
  "}}",
  "{}",
  "[]",
  '"a":',
  "::",
  "e30.",
  "Bearer ",
  "v1=",
  "{i}",
  "{t}",
  "/api/v1/webhooks/incoming/",
  ";a=",
  ", ",
  "10.0.0.1,",
  'W/"a",',
  "\r\n",
  "$'",
  "-H a:b ",
];

const texts = (right = "", pumps = PUMPS): ((length: number) => string)[] =>
  pumps.flatMap((pump) => {
    const row = (length: number) => pump.repeat(Math.ceil(length / pump.length)).slice(0, length);
    return [row, (length) => `${right}${row(length)}`, (length) => `x${row(length)}x`];
  });

/** Headers of a good request, with one replaced or added. */
function headersWith(
  parts: { headers: readonly (readonly [string, string])[] },
  name: string,
  value: string,
) {
  return [...parts.headers.filter(([one]) => one !== name), [name, value] as const];
}

const noKeys: KeyResolver = { resolve: async () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "" }) };
const hmac = { method: "hmac", secret: SECRET } as const;
const receiverWith = (auth: ReceiverOptions["listener"]["auth"]) =>
  createReceiver({
    listener: { id: "lst_1", baseUrl: BASE_URL, auth, allowedCidrs: ["10.0.0.0/8", "127.0.0.0/8"] },
    trustedProxies: ["10.0.0.0/8", "127.0.0.0/8"],
    clock,
  });
const [hmacReceiver, jwtReceiver] = [receiverWith(hmac), receiverWith({ method: "jwt", keys: noKeys })];

/** Asks a receiver with one hostile header. */
const asking = (receiver: typeof hmacReceiver, name: string) => (text: string) => {
  const parts = hmacParts("lst_1");
  const headers = headersWith(parts, name, text);
  const { method, target: url, body } = parts;
  return () => receiver.verify({ method, url, headers, body, sourceAddress: "127.0.0.1" });
};

const signedBody = (text: string) => {
  const { method, target: url, headers, body } = hmacParts("lst_1", { body: text });
  return () => hmacReceiver.verify({ method, url, headers, body, sourceAddress: "127.0.0.1" });
};

/** A transport that answers with one hostile header, or a hostile body. */
const answering = (name: string, text: string, status: number) => async () => ({
  status,
  headers: name === "body" ? [] : [[name, text] as const],
  body: new TextEncoder().encode(name === "body" ? text : '{"keys":[]}'),
  truncated: false,
});

const sending = (name: string, status: number) => (text: string) => {
  const sender = createSender({
    url: `${BASE_URL}${pathOf("lst_1")}`,
    signer: hmacSigner({ secret: SECRET }),
    transport: answering(name, text, status),
    retry: { maxAttempts: 1 },
  });
  return () => sender.send({}).catch(() => {});
};

const KEY_SET = "https://keys.example.com/jwks.json";
const fetching = (name: string) => (text: string) => {
  const transport = answering(name, text, 200);
  return () => remoteKeys(KEY_SET, { transport }).resolve("k", "ES256");
};
const checking = (name: string) => (text: string) => {
  const transport = answering(name, text, 200);
  return () => checkKeySet(KEY_SET, { transport });
};

const handler = jwksHandler(createKeySet([]));
const explaining = (name: string, auth: "hmac" | "jwt") => (text: string) => {
  const parts = unsignedParts("lst_1", {});
  const known = auth === "hmac" ? hmac : ({ method: "jwt", keys: noKeys } as const);
  const headers = headersWith(
    {
      headers: [
        ...parts.headers,
        ["Webhook-Signature", "A".repeat(43)],
        ["Authorization", "Bearer e30.e30.AA"],
      ],
    },
    name,
    text,
  );
  const request = { method: "POST", url: parts.target, headers, body: parts.body };
  return () =>
    diagnose({ request, secret: SECRET, listener: { id: "lst_1", baseUrl: BASE_URL, auth: known }, clock });
};

const entryWith = (text: string) =>
  ({ row: {}, target: "/", headers: [["a", text]], body: Buffer.from(text), checks: [] }) as unknown as Entry;

const failing = (call: () => unknown) => () => {
  try {
    call();
  } catch {
    // A refusal is an answer; what counts is what it cost.
  }
};

/** Compares a good request with a hostile one, and the hostile one with itself but for its end. */
const comparing = (hostile: (text: string) => Partial<ComparedRequest>) => (text: string) => {
  const good = {
    method: "POST",
    url: "/a",
    headers: [["Webhook-Timestamp", "1767225600"]] as const,
    body: '{"é":1}',
  };
  const [one, other] = [hostile(text), hostile(`${text.slice(0, -3)}]}1`)];
  return async () => {
    await compare({ sent: good, received: { ...good, ...one } });
    await compare({ sent: { ...good, ...one }, received: { ...good, ...other } });
  };
};

/** Whatever reads a stranger's text: its limit, what may stand in front of the hostile part, and a call of it. */
const READERS: readonly [
  name: string,
  limit: number,
  call: (text: string) => () => unknown,
  right?: string,
][] = [
  ["receiver: Content-Type", HEADER, asking(hmacReceiver, "Content-Type"), "application/json;"],
  ["receiver: Webhook-Timestamp", HEADER, asking(hmacReceiver, "Webhook-Timestamp"), String(NOW)],
  ["receiver: Webhook-Event-Id", HEADER, asking(hmacReceiver, "Webhook-Event-Id"), "0b0f2b3e"],
  ["receiver: Webhook-Signature", HEADER, asking(hmacReceiver, "Webhook-Signature")],
  ["receiver: X-Forwarded-For", HEADER, asking(hmacReceiver, "X-Forwarded-For"), "10.0.0.1,"],
  ["receiver: Content-Encoding", HEADER, asking(hmacReceiver, "Content-Encoding")],
  ["receiver: Authorization", HEADER, asking(jwtReceiver, "Authorization"), "Bearer e30."],
  ["receiver: body", BODY, signedBody, "["],
  ["receiver: body of a text", BODY - 2, (text) => signedBody(JSON.stringify(text).slice(0, BODY))],
  ["token: header or claims", 8_192, (text) => () => parseMembers(Buffer.from(text)), '{"a":'],
  ["token: members", 8_192, (text) => () => parseMembers(Buffer.from(`{"a": ${JSON.stringify(text)}}`))],
  ["sender: Retry-After", HEADER, sending("Retry-After", 503)],
  ["sender: Date", HEADER, sending("Date", 400), "Mon, 01 Jan 2026"],
  ["sender: body of the answer", BODY, sending("body", 400), '{"code":"'],
  ["key set: Cache-Control", HEADER, fetching("Cache-Control"), "max-age="],
  ["key set: Age", HEADER, fetching("Age"), "1"],
  ["key set: body", BODY, fetching("body"), '{"keys":['],
  ["key set check: Cache-Control", HEADER, checking("Cache-Control"), "max-age"],
  ["key set check: Content-Type", HEADER, checking("Content-Type"), "application/json"],
  [
    "key set host: If-None-Match",
    HEADER,
    (text) =>
      failing(() =>
        handler(new Request("http://x/", { headers: { "If-None-Match": text.replace(/[^ -~]/g, "") } })),
      ),
    'W/"',
  ],
  ["service: template", BODY, (text) => failing(() => parseTemplates({ text })), "{{"],
  [
    "service: template, a text in it",
    BODY,
    (text) => failing(() => parseTemplates({ text: `{{ ${text}` })),
    'r"',
  ],
  ["service: update mask", HEADER, (text) => failing(() => maskedFields(text, ["name"], "a", {})), "name,"],
  ["inspector: search", BODY, (text) => () => matcher({ q: `${text.slice(0, 199)}\u0001` })(entryWith(text))],
  ["inspector: token", HEADER, (text) => () => readToken(text), "Bearer e30."],
  ["inspector: masking", BODY, (text) => () => withoutSecrets(entryWith(text), [SECRET, text.slice(0, 40)])],
  ["inspector: imported file", BODY, (text) => failing(() => readImport(text)), '{"log":'],
  [
    "command line: raw request",
    BODY,
    (text) => failing(() => parseRawRequest(Buffer.from(text))),
    "POST / HTTP/1.1\r\na:",
  ],
  [
    "command line: raw request in chunks",
    BODY,
    (text) =>
      failing(() => parseRawRequest(Buffer.from(`POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n${text}`))),
    "1\r\na\r\n",
  ],
  ["command line: received body", BODY, comparing((text) => ({ body: text })), '{"a":'],
  ["command line: received text", BODY, comparing((text) => ({ body: JSON.stringify(text) })), "é"],
  ["command line: received header", BODY, comparing((text) => ({ headers: [["Webhook-Signature", text]] }))],
  ["command line: received names", BODY, comparing((text) => ({ headers: [[text, "1767225600"]] })), "_"],
  [
    "command line: received target",
    BODY,
    comparing((text) => ({ url: text, headers: [["host", text]] })),
    "/%",
  ],
  ["command line: header line", BODY, (text) => failing(() => parseHeaderLines([text])), "a: x"],
  ["command line: curl command", BODY, (text) => failing(() => parseCurl(text)), "curl -H '"],
  ["command line: captured JSON", BODY, (text) => failing(() => parseCapturedJson(text)), '{"log":'],
  ...[
    'curl ^"http://x/^" ^',
    "curl -v -d x http://x/\n> POST / HTTP/1.1\n> ",
    "* Trying\n> POST / HTTP/1.1\n> ",
    "== Info: x\n=> Send header, 9 bytes (0x9)\n0000: ",
    'fetch("http://x/", {"body":"',
    '$s = 1\nInvoke-WebRequest -Uri "http://x/" -Headers @{ "a"="',
    'uuid,method,headers,content\n"',
    ":method: POST\n",
    "00000000  50 4f ",
    `${"=".repeat(67)}\nFollow: tcp,ascii\nNode 1: a:1\n9\n`,
    "203.0.113.7 - - [",
    "\n \n",
  ].map((start): (typeof READERS)[number] => [
    `command line: a capture that begins with ${JSON.stringify(start.slice(0, 24))}`,
    BODY,
    (text) => failing(() => parseCaptured(Buffer.from(`${start}${text}`))),
  ]),
];

describe("every reader of a stranger's text", () => {
  it.each(READERS)("%s", async (name, limit, call, right) => {
    const slow: string[] = [];
    const most = /^command line:|imported/.test(name) ? MAX_OF_A_PERSON_MS : MAX_MS;
    for (const make of texts(right)) {
      const fault = await faultOf((length) => call(make(length)), limit, most);
      if (fault !== undefined) slow.push(`${JSON.stringify(make(8).slice(0, 40))}: ${fault}`);
      if (slow.length === 3) break;
    }
    expect(slow).toEqual([]);
  });

  /** A diagnosis searches for as much work as it says in its documentation; hostile headers must not make it more. */
  it.each<[name: string, auth: "hmac" | "jwt", right?: string]>([
    ["Webhook-Timestamp", "hmac"],
    ["Webhook-Event-Id", "hmac"],
    ["Webhook-Signature", "hmac"],
    ["Content-Type", "hmac"],
    ["Authorization", "jwt", "Bearer e30."],
  ])("diagnose: %s", async (name, auth, right) => {
    const slow: string[] = [];
    for (const make of texts(right, ["{", "0", "=", "{i}"])) {
      const cost = await tooMuch(explaining(name, auth)(make(HEADER)), 50);
      if (cost !== undefined) slow.push(`${JSON.stringify(make(8))} cost ${cost} ms`);
    }
    expect(slow).toEqual([]);
  });

  /** Indented, such a body is as long as the square of its own length. */
  describe.each([6_000, BODY])("a body of %i characters, nested deeply", (length) => {
    const body = `${"[".repeat(2_500)}${"0,".repeat(length / 2 - 2_501)}0${"]".repeat(2_500)}`;

    it.each<[scheme: string, mistakes: () => unknown]>([
      [
        "Standard Webhooks",
        () => {
          const headers = { "webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,a" };
          return mistakesOf("standard-webhooks", { secrets: generateStandardSecret(), headers, body });
        },
      ],
      [
        "HTTP message signatures",
        () => {
          const digest = `sha-256=:${"A".repeat(43)}=:`;
          return mistakesOf("http-signature", {
            url: "https://a.example/",
            headers: { "content-digest": digest },
            body,
          });
        },
      ],
    ])("%s name its mistakes", async (_, mistakes) => {
      expect(await tooMuch(mistakes, 200)).toBeUndefined();
    });
  });
});
