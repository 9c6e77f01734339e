// The parsers of what a stranger sends to a receiver, and of what a listener or a key set's host answers.
import { createHmac } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { httpSignatureVerifier } from "hookproof/http-signature";
import { remoteKeys } from "hookproof/jwks";
import { createReceiver, type Receiver } from "hookproof/receiver";
import { classifyAnswer } from "hookproof/schemes";
import { securityEventVerifier } from "hookproof/set";
import { standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { fixedClock } from "hookproof/testing";
import { parseRawRequest } from "../../../cli/src/capture/raw-request.js";
import { CliError } from "../../../cli/src/failure.js";
import { formatIp, parseCidr, parseIp } from "../../../src/core/address.js";
import { decodeBase64, decodeBase64url, encodeBase64, encodeBase64url } from "../../../src/core/bytes.js";
import { CODES, HookproofError } from "../../../src/core/errors.js";
import { createEvent } from "../../../src/core/event.js";
import { httpDate, jsonTypeFault, receivedHeaders } from "../../../src/core/headers.js";
import { duplicateMember, lostByParsing, parseJson, rewrittenJson } from "../../../src/core/json.js";
import { shown } from "../../../src/core/shown.js";
import { parseTargetUrl } from "../../../src/core/target-url.js";
import { readDigest } from "../../../src/doctor/diagnose/digest-text.js";
import { jsonTree } from "../../../src/doctor/texts/json-tree.js";
import { bearerToken, parseMembers, readToken } from "../../../src/jwt/token.js";
import { parseListenerUrl } from "../../../src/schemes/access-governance/listener-url.js";
import { readSignatures } from "../../../src/schemes/http-signature/signature-fields.js";
import { clockDifference } from "../../../src/sender/clock-offset.js";
import { holds, never, type Parser } from "../parser.js";

const NOW = 1_767_225_600;
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const BODY = '{"type":"user.created","user":{"id":7,"name":"Zoë"}}';
const TOKEN = `${['{"alg":"EdDSA","kid":"k1","typ":"JWT"}', `{"iss":"x","exp":${NOW + 60},"jti":"${ID}"}`]
  .map((text) => Buffer.from(text).toString("base64url"))
  .join(".")}.${"A".repeat(86)}`;
const clock = fixedClock(NOW * 1_000);

const isOurs = (error: unknown) => error instanceof HookproofError && Object.hasOwn(CODES, error.code);

/** The secret of every receiver here; nothing in an input is signed with it. */
const SECRET = "GhwS7pYvQ2dJk0nXzL5mB9cR3fT8aE1uKoWiV4xPqHs";
const noKeys = { resolve: async () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "" }) as const };
const baseUrl = "https://tenant.example.com";
const RECEIVERS: readonly Receiver[] = [
  createReceiver({
    listener: {
      id: "lst_1",
      baseUrl,
      auth: { method: "hmac", secret: SECRET },
      allowedCidrs: ["10.0.0.0/8"],
    },
    trustedProxies: ["10.0.0.0/8"],
    clock,
  }),
  createReceiver({ listener: { id: "lst_1", baseUrl, auth: { method: "jwt", keys: noKeys } }, clock }),
  createReceiver({ verifier: standardWebhooksVerifier({ secrets: `whsec_${"c2VjcmV0".repeat(4)}` }), clock }),
  createReceiver({
    verifier: httpSignatureVerifier({ url: `${baseUrl}${PATH}`, secrets: { k1: SECRET } }),
    clock,
  }),
  createReceiver({
    verifier: securityEventVerifier({ issuer: "https://idp.example.com/", audience: "a", keys: noKeys }),
    clock,
  }),
];

const LINES = [
  ...[`Webhook-Timestamp: ${NOW}`, `Webhook-Event-Id: ${ID}`, `Webhook-Signature: ${"A".repeat(43)}`],
  ...["Content-Type: application/json", "X-Forwarded-For: 10.0.0.1", `Authorization: Bearer ${TOKEN}`],
  ...[`webhook-id: ${ID}`, `webhook-timestamp: ${NOW}`, `webhook-signature: v1,${"A".repeat(43)}= v1a,AAAA`],
  `Signature-Input: sig1=("@method" "@target-uri" "content-digest" "webhook-id");created=${NOW};keyid="k1";alg="hmac-sha256"`,
  ...[`Signature: sig1=:${"A".repeat(43)}=:`, `Content-Digest: sha-256=:${"A".repeat(43)}=:`],
];
const raw = (...lines: string[]) => `POST ${PATH} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${BODY}`;
const REQUESTS = [raw(...LINES), raw(...LINES.slice(0, 4)), raw(...LINES.slice(6)), `${raw(LINES[5] ?? "")}`];

/** The request of a raw text, where it is one. */
function requestIn(input: Buffer) {
  try {
    const { method, target: url, headers, body } = parseRawRequest(input);
    return { method, url, headers, body, sourceAddress: "10.0.0.1" };
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

const text = (input: Buffer) => input.toString("utf8");

export const REQUEST_PARSERS: readonly Parser[] = [
  {
    name: "receivers",
    examples: REQUESTS,
    words: LINES,
    refuses: never,
    async read(input) {
      const request = requestIn(input);
      if (request === undefined) return undefined;
      const seen: string[] = [];
      for (const receiver of RECEIVERS) {
        let ran = 0;
        const { status, verdict } = await receiver.receive(request, async () => ran++);
        holds(ran === 0 && !verdict.ok && status >= 400, "nothing runs that nobody has signed");
        seen.push(...verdict.checks.map((check) => check.seen ?? ""));
      }
      return seen;
    },
  },
  {
    name: "diagnosis",
    examples: REQUESTS,
    words: LINES,
    most: 4_096,
    quick: 40,
    hidden: SECRET,
    refuses: never,
    async read(input) {
      const request = requestIn(input);
      if (request === undefined) return undefined;
      const { mistakes } = await diagnose({ request, secret: SECRET, clock });
      return mistakes.flatMap(({ id, title, message, fix }) => [id, title, message, fix]);
    },
  },
  {
    name: "headers",
    examples: ['Content-Type: application/json; charset="utf-8"', LINES.join("\n")],
    refuses: never,
    read(input) {
      const pairs = text(input)
        .split("\n")
        .map((line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1)] as const);
      jsonTypeFault(receivedHeaders(pairs));
      return undefined;
    },
  },
  {
    name: "signature-fields",
    examples: LINES.slice(9, 11).map((line) => line.slice(line.indexOf(" ") + 1)),
    words: ['("@method")', ";created=1", ';keyid="k"', "sig1=", ":AAAA:", "?1", "@1", '"\\"', ";a", ", b=2"],
    most: 16_384,
    refuses: never,
    read(input) {
      const line = text(input);
      const [given = "", signature = line] = line.split("\n");
      const read = readSignatures(given, signature, 8);
      holds(read === undefined || read.length <= 8, "no more signatures than the most");
      for (const one of read ?? [])
        holds(/^[\x20-\x7e]*$/.test(one.shown + one.signature), "what is signed again is printable ASCII");
      return undefined;
    },
  },
  {
    name: "tokens",
    examples: [`Bearer ${TOKEN}`, TOKEN, '{"alg":"EdDSA","kid":"a","typ":"JWT"}'],
    words: ["Bearer ", "e30", ".", "eyJhbGciOiJub25lIn0", '"alg":"none"', '"crit":["exp"]'],
    most: 16_384,
    refuses: never,
    read(input) {
      const line = text(input);
      parseMembers(input);
      const read = readToken(bearerToken(line) ?? line, { allowEd25519: true });
      return "detail" in read ? [String(read.detail)] : undefined;
    },
  },
  {
    name: "json",
    examples: [BODY, '[1,2.50,1e3,"\\u00e9",{"a":{"a":null}}]', '"text"', "-0.0"],
    refuses: never,
    read(input) {
      const parsed = parseJson(input);
      if (!parsed.ok) return undefined;
      const whole = text(input);
      duplicateMember(whole);
      lostByParsing(whole);
      jsonTree(whole);
      const again = rewrittenJson(whole);
      if (again !== undefined)
        holds(
          JSON.stringify(JSON.parse(again)) === JSON.stringify(parsed.value),
          "JSON that is written again has the same value",
        );
      return undefined;
    },
  },
  {
    name: "base64",
    examples: ["AAECAw", "AAECAw==", "-_-_", "+/+/"],
    words: ["A", "=", "-", "_", "+", "/"],
    refuses: never,
    read(input) {
      const line = text(input);
      const [plain, url] = [decodeBase64(line), decodeBase64url(line)];
      if (url) holds(encodeBase64url(url) === line, "base64url is read in its canonical spelling only");
      if (plain) holds(encodeBase64(plain) === line, "base64 is read in its canonical spelling only");
      return undefined;
    },
  },
  {
    name: "dates",
    examples: [
      ...["Thu, 01 Jan 2026 00:00:00 GMT", "Thursday, 01-Jan-26 00:00:00 GMT", "Thu Jan  1 00:00:00 2026"],
      ...["120", "1.5", "Fri, 31 Dec 9999 23:59:60 GMT"],
    ],
    words: ["GMT", " 00", ":60", "Feb", "31 ", "0000"],
    most: 16_384,
    refuses: never,
    read(input) {
      const date = text(input);
      const time = httpDate(date, NOW * 1_000);
      holds(time === undefined || Number.isFinite(time), "a date is a finite time");
      const moments = { sentAt: NOW * 1_000, receivedAt: NOW * 1_000, offsetMs: 0 };
      const headers = [
        ["Date", date],
        ["Retry-After", date],
      ] as const;
      clockDifference({ status: 400, headers, body: input, truncated: false }, moments);
      const read = classifyAnswer({ status: 503, headers }, 1, NOW * 1_000);
      const after = read.outcome === "retry" ? (read.retryAfterMs ?? 0) : 0;
      holds(after >= 0 && !Number.isNaN(after), "a wait is not negative");
      return undefined;
    },
  },
  {
    name: "answers",
    examples: [
      '{"code":"TOKEN_EXPIRED","message":"x"}',
      '{"err":"invalid_key","description":"no"}',
      "<html>",
    ],
    refuses: never,
    read(input) {
      return [301, 400, 401, 403, 404, 409, 413, 429, 500].flatMap((status) => {
        const read = classifyAnswer({ status, headers: [], body: input }, 1, NOW * 1_000);
        return "hints" in read ? read.hints : [];
      });
    },
  },
  {
    name: "key-set-answers",
    examples: [
      'max-age=300, private="a,b", s-maxage=1\n5\n{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"AAAA"}]}',
      "no-store\n\n{}",
    ],
    words: ["max-age=", 'max-age="60"', ",", "=", '"', "\\"],
    refuses: never,
    async read(input) {
      const [control = "", age = "", ...rest] = text(input).split("\n");
      const headers = [
        ["Cache-Control", control],
        ["Age", age],
      ] as const;
      const body = Buffer.from(rest.join("\n"));
      const transport = async () => ({ status: 200, headers, body, truncated: false });
      const found = await remoteKeys("https://keys.example.com/jwks.json", { transport }).resolve(
        "k",
        "EdDSA",
      );
      return "detail" in found ? [String(found.detail)] : undefined;
    },
  },
  {
    name: "addresses",
    examples: ["203.0.113.7", "2001:db8::1", "::ffff:10.0.0.1", "10.0.0.0/8", "2001:db8::/32"],
    words: ["::", "/", "0", "ffff", ".", "255", "%eth0"],
    most: 16_384,
    refuses: isOurs,
    read(input) {
      const line = text(input);
      const address = parseIp(line);
      if (address) {
        const again = parseIp(formatIp(address));
        holds(
          again !== undefined && formatIp(again) === formatIp(address),
          "an address is written as it is read",
        );
      }
      parseCidr(line);
      return undefined;
    },
  },
  {
    name: "urls",
    examples: [`${baseUrl}${PATH}`, "http://127.0.0.1:4400/a?b#c", "https://[::1]:8443/"],
    words: ["@", "//", "%2f", "\\", "localhost", ":0", "?", "#", "xn--"],
    refuses: isOurs,
    read(input) {
      const line = text(input);
      const url = parseTargetUrl(line);
      holds(
        /^https?:$/.test(url.protocol) && url.username === "",
        "a target is a plain URL of http or https",
      );
      parseListenerUrl(line);
      return undefined;
    },
  },
  {
    name: "events",
    examples: [BODY, "[]", '"x"'],
    refuses: isOurs,
    read(input) {
      const { id } = createEvent(new Uint8Array(input));
      createEvent({}, { eventId: id });
      createEvent({}, { eventId: text(input).slice(0, 80) });
      return undefined;
    },
  },
  {
    name: "digests",
    examples: [
      createHmac("sha256", "a").digest("hex"),
      createHmac("sha256", "a").digest("base64"),
      "sha256=ab, t=1",
    ],
    words: ["sha256=", "v1,", "%3D", "t=1,"],
    most: 16_384,
    refuses: never,
    read(input) {
      const read = readDigest(text(input));
      return read === undefined ? undefined : [JSON.stringify(Object.keys(read))];
    },
  },
  {
    name: "shown",
    examples: ["plain", '"quoted"', "\u001b[31m", "\u{e0041}", BODY],
    refuses: never,
    read: (input) => [shown(text(input)), shown(input.toString("latin1")), shown({ value: text(input) })],
  },
];
