// Small listeners of the HMAC method with one bug each, correct ones in other styles, and what is no listener.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";

export const SECRET = "kq3Zt8Yw1RjV0uXbNfE7hLcPaGm5sDoi9T2yWQKxAxM";
/** The time of every listener here, in milliseconds. */
export const NOW = 1_767_225_600_000;
export const PATH = "/api/v1/webhooks/incoming/lst_1";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values as they came, in turn. */
  readonly raw: readonly string[];
  readonly body: Buffer;
  readonly timestamp: string;
  readonly eventId: string;
  readonly signature: string | undefined;
}

/** An answer: a status, or 0 to go on. */
type Step = (received: Received) => number | Promise<number>;

/** The steps of a correct listener. A bug replaces one of them, or their order. */
interface Steps {
  readonly order: readonly StepName[];
  method: Step;
  path: Step;
  size: Step;
  type: Step;
  present: Step;
  time: Step;
  id: Step;
  verify: Step;
  json: Step;
  copy: Step;
  run: Step;
  key(): string | Buffer;
  input(received: Received): string | Buffer;
  sign(key: string | Buffer, input: string | Buffer): string;
  nameOf(received: Received): string;
}
const ORDER = [
  "method",
  "path",
  "size",
  "type",
  "present",
  "time",
  "id",
  "verify",
  "json",
  "copy",
  "run",
] as const;
type StepName = (typeof ORDER)[number];

const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const WHOLE = /^(?:0|[1-9]\d{0,11})$/;
export const ageOf = ({ timestamp }: Received) => NOW / 1000 - Number(timestamp);
export const whole = ({ timestamp }: Received) => WHOLE.test(timestamp);

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

export const text = ({ body }: Received) => body.toString("utf8");
export const over = (received: Received, body: string) => `${received.timestamp}.${received.eventId}.${body}`;

/** The body parsed and written again, where it is JSON. */
export function again(received: Received, write: (value: unknown) => string): string {
  try {
    return over(received, write(JSON.parse(text(received))));
  } catch {
    return over(received, text(received));
  }
}

function correct(): Steps {
  const seen = new Set<string>();
  const steps: Steps = {
    order: ORDER,
    method: ({ method }) => (method === "POST" ? 0 : 405),
    path: ({ url }) => (url === PATH ? 0 : 404),
    size: ({ body }) => (body.length > 65_536 ? 413 : 0),
    type: ({ headers }) => {
      if (!headers["content-type"]) return 400;
      return /^application\/json\b/i.test(headers["content-type"]) && !headers["content-encoding"] ? 0 : 415;
    },
    present: ({ timestamp, eventId, signature, raw }) => {
      const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      const once = (name: string) => names.filter((other) => other === name).length === 1;
      if (!timestamp || !eventId || !once("webhook-timestamp") || !once("webhook-event-id")) return 400;
      return signature ? 0 : 401;
    },
    time: (received) => (whole(received) && Math.abs(ageOf(received)) <= 300 ? 0 : 400),
    id: ({ eventId }) => (V4.test(eventId) ? 0 : 400),
    key: () => SECRET,
    input: (received) => Buffer.concat([Buffer.from(over(received, "")), received.body]),
    sign: (key, input) => createHmac("sha256", key).update(input).digest("base64url"),
    verify: (received) => (same(expected(steps, received), received.signature ?? "") ? 0 : 401),
    json: ({ body }) => (isJson(body) ? 0 : 400),
    nameOf: ({ eventId }) => eventId.toLowerCase(),
    copy: (received) => {
      const name = steps.nameOf(received);
      if (seen.has(name)) return 409;
      seen.add(name);
      return 0;
    },
    run: () => 200,
  };
  return steps;
}

function expected(steps: Steps, received: Received): string {
  return steps.sign(steps.key(), steps.input(received));
}

/** What a bug makes of the correct listener. */
export type Bug = (steps: Steps) => Partial<Steps>;

export const verifyBy =
  (isRight: (should: string, given: string) => boolean): Bug =>
  (steps) => ({
    verify: (received) => (isRight(expected(steps, received), received.signature ?? "") ? 0 : 401),
  });
export const overBody =
  (change: (received: Received) => string): Bug =>
  () => ({ input: change });
export const timeBy =
  (isRight: (received: Received) => boolean): Bug =>
  () => ({ time: (received) => (isRight(received) ? 0 : 400) });
export const keyed =
  (key: string | Buffer): Bug =>
  () => ({ key: () => key });
const presentBut =
  (isThere: (received: Received) => boolean): Step =>
  (received) => {
    if (!received.timestamp || !received.eventId) return 400;
    return isThere(received) ? 0 : 401;
  };

/** Each bug with words of the sentence that names it. */
export const BUGS: Readonly<Record<string, readonly [words: string, Bug]>> = {
  "a shortened signature passes": [
    "without its last character",
    verifyBy((should, given) => given !== "" && should.startsWith(given)),
  ],
  "8 characters are compared": [
    "only the first 8 characters are right",
    verifyBy((should, given) => given !== "" && should.slice(0, 8) === given.slice(0, 8)),
  ],
  "the common length is compared": [
    "only as many characters as both have",
    verifyBy((should, given) => {
      const length = Math.min(should.length, given.length);
      return given !== "" && should.slice(0, length) === given.slice(0, length);
    }),
  ],
  "the secret in small letters": ["it changes the case of the secret", keyed(SECRET.toLowerCase())],
  "line ends": [
    "changes the line endings of the body",
    overBody((got) => over(got, text(got).replaceAll("\r\n", "\n"))),
  ],
  "the byte order mark": [
    "byte order mark",
    () => ({
      input: (got) => over(got, text(got).replace(/^\uFEFF/, "")),
      json: (got) => (isJson(Buffer.from(text(got).replace(/^\uFEFF/, ""))) ? 0 : 400),
    }),
  ],
  "10 KB": ["its limit is lower", () => ({ size: ({ body }) => (body.length > 10_240 ? 413 : 0) })],
  "the body is cut at 10 KB": [
    "as if it were cut",
    () => ({ input: (got) => Buffer.concat([Buffer.from(over(got, "")), got.body.subarray(0, 10_240)]) }),
  ],
  "case is ignored": [
    "in lower case",
    verifyBy((should, given) => should.toLowerCase() === given.toLowerCase()),
  ],
  "base64 is read loosely": [
    "with padding",
    verifyBy((should, given) => Buffer.from(should, "base64").equals(Buffer.from(given, "base64"))),
  ],
  "no signature, no check": [
    "lets requests pass that have no proof",
    (steps) => ({
      present: presentBut(() => true),
      verify: (received) => (received.signature ? correctly(steps, received) : 0),
    }),
  ],
  "an empty signature passes": [
    "an empty Webhook-Signature",
    (steps) => ({
      present: presentBut(({ signature }) => signature !== undefined),
      verify: (received) => (received.signature === "" ? 0 : correctly(steps, received)),
    }),
  ],
  "nothing is verified": ["does not verify signatures", () => ({ verify: () => 0 })],
  "the secret is decoded": ["it decodes the secret", keyed(Buffer.from(SECRET, "base64url"))],
  "the secret ends with a line break": ["ends with a line break", keyed(`${SECRET}\n`)],
  "the secret has its quotes": ["has quotes around it", keyed(`"${SECRET}"`)],
  "another secret": ["no known mistake explains it", keyed("another one")],
  hex: [
    "compares hex with base64url",
    () => ({ sign: (key, input) => createHmac("sha256", key).update(input).digest("hex") }),
  ],
  "standard base64": [
    "compares standard base64",
    () => ({ sign: (key, input) => createHmac("sha256", key).update(input).digest("base64") }),
  ],
  "SHA-1": [
    "another hash than SHA-256",
    () => ({ sign: (key, input) => createHmac("sha1", key).update(input).digest("base64url") }),
  ],
  "a prefix": [
    "it expects a prefix",
    () => ({
      sign: (key, input) => `sha256=${createHmac("sha256", key).update(input).digest("base64url")}`,
    }),
  ],
  "the body alone": ["it verifies the body alone", () => ({ input: ({ body }) => body })],
  "no event id": ["leaves the event id out", overBody((got) => `${got.timestamp}.${text(got)}`)],
  "the id first": [
    "puts the event id before the timestamp",
    overBody((got) => `${got.eventId}.${got.timestamp}.${text(got)}`),
  ],
  colons: ["another separator", overBody((got) => `${got.timestamp}:${got.eventId}:${text(got)}`)],
  "JSON.stringify": ["serialises it again", overBody((got) => again(got, (value) => JSON.stringify(value)))],
  "JSON.stringify with two spaces": [
    "serialises it again",
    overBody((got) => again(got, (value) => JSON.stringify(value, null, 2))),
  ],
  trim: ["trims the body", overBody((got) => over(got, text(got).trim()))],
  Latin1: ["Latin-1", overBody((got) => over(got, got.body.toString("latin1")))],
  ASCII: ["it reads the body as ASCII", overBody((got) => over(got, got.body.toString("ascii")))],
  "the body in small letters": [
    "it changes the case of the body",
    overBody((got) => over(got, text(got).toLowerCase())),
  ],
  "[object Object]": ["the parsed body as text", overBody((got) => again(got, String))],
  "the id in lower case": [
    "changes the case of the event id",
    overBody((got) => `${got.timestamp}.${got.eventId.toLowerCase()}.${text(got)}`),
  ],
  "no time": ["does not compare the timestamp with its clock", timeBy(whole)],
  "any time ahead": ["timestamps that are yet to come", timeBy((got) => whole(got) && ageOf(got) <= 300)],
  "milliseconds wanted": [
    "takes Webhook-Timestamp for milliseconds",
    timeBy(({ timestamp }) => Math.abs(NOW - Number(timestamp)) <= 300_000),
  ],
  "30 seconds": ["exactly 300 s old", timeBy((got) => whole(got) && Math.abs(ageOf(got)) <= 30)],
  "not a moment ahead": [
    "exactly 300 s ahead",
    timeBy((got) => whole(got) && ageOf(got) >= 0 && ageOf(got) <= 300),
  ],
  "copies run": ["a processed event id as a new one", () => ({ copy: () => 0 })],
  "copies by their signature": [
    "a processed event id again, freshly signed",
    () => ({ nameOf: ({ signature }) => signature ?? "" }),
  ],
  "the id before the proof": [
    "a processed event id again, signed with a wrong secret or key",
    () => ({
      order: ["method", "path", "size", "type", "present", "time", "id", "copy", "verify", "json", "run"],
    }),
  ],
  "any id": ["an event id that is a word", () => ({ id: () => 0 })],
  "any UUID": ["the nil UUID", () => ({ id: ({ eventId }) => (/^[0-9a-f-]{36}$/i.test(eventId) ? 0 : 400) })],
  "names of headers as they are": [
    "header names in lower case",
    () => ({ present: presentBut(({ raw }) => raw.includes("Webhook-Signature")) }),
  ],
  PUT: ["with PUT instead of POST", () => ({ method: () => 0 })],
  "no JSON": ["a body that is not JSON", () => ({ json: () => 0 })],
  "objects alone": [
    "a body that is a text, not an object",
    () => ({ json: (got) => (isJson(got.body) && /^\s*\{/.test(text(got)) ? 0 : 400) }),
  ],
  "no limit": ["65,537 bytes", () => ({ size: () => 0 })],
  "a comparison that throws": [
    "signatures of another length",
    (steps) => ({
      verify: (got) => (got.signature?.length === expected(steps, got).length ? correctly(steps, got) : 500),
    }),
  ],
  "403 for a wrong signature": [
    "refuses wrong proofs with 403",
    (steps) => ({ verify: (got) => (correctly(steps, got) ? 403 : 0) }),
  ],
  "202 for a right one": ["202 and not 200", () => ({ run: () => 202 })],
  "copies by their body": ["by something else than the event id", () => ({ nameOf: (got) => text(got) })],
  "an hour": ["wider than 5 minutes", timeBy((got) => whole(got) && Math.abs(ageOf(got)) <= 3_600)],
  "any time ago": ["only timestamps that are yet to come", timeBy((got) => whole(got) && ageOf(got) >= -300)],
  "a clock ten minutes behind": [
    "its clock is behind",
    timeBy((got) => whole(got) && Math.abs(ageOf(got) - 600) <= 300),
  ],
};

function correctly(steps: Steps, received: Received): number {
  return same(expected(steps, received), received.signature ?? "") ? 0 : 401;
}

/** Other styles that are as right. */
export const CORRECT: Readonly<Record<string, Bug>> = {
  "as it is written": () => ({}),
  // The specification leaves it open; the probe says so, and no verdict.
  "ids in small letters alone": () => ({
    id: ({ eventId }) => (V4.test(eventId) && !/[A-F]/.test(eventId) ? 0 : 400),
  }),
  "400 for a body that is too large": () => ({ size: ({ body }) => (body.length > 65_536 ? 400 : 0) }),
  "404 for another method": () => ({ method: ({ method }) => (method === "POST" ? 0 : 404) }),
  "the proof before the time": () => ({
    order: ["method", "path", "size", "type", "present", "verify", "time", "id", "json", "copy", "run"],
  }),
  "the copy before the JSON": () => ({
    order: ["method", "path", "size", "type", "present", "id", "time", "verify", "copy", "json", "run"],
  }),
  "with a pause": () => ({
    run: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 200;
    },
  }),
};

/** What answers every request alike, and words of what is said of it. */
export const ELSE: Readonly<Record<string, readonly [words: string, status: number, body: string]>> = {
  "a path that is not there": ["the path is not the listener's", 404, '{"error":"not found"}'],
  "a gateway": ["a gateway before it", 403, '{"message":"Missing Authentication Token"}'],
  "a proxy": ["a proxy in front of it", 502, "<html><h1>502 Bad Gateway</h1></html>"],
  "a maintenance page": ["out of service", 503, "<html>Down for maintenance</html>"],
  "a static host": ["no POST is taken", 405, "<html><h1>405 Not Allowed</h1></html>"],
  "a login page": ["not the listener that answers", 200, "<html><title>Sign in</title></html>"],
  "another program": ["not the listener that answers", 200, '{"ok":false,"error":"invalid_auth"}'],
  "a port for https": [
    "the port is one for https",
    400,
    "<html><h1>400 The plain HTTP request was sent to HTTPS port</h1></html>",
  ],
  "an exception": ["it fails at every request", 500, "Internal Server Error"],
};

/** Starts a listener, and gives its URL. */
export function startWith(bug: Bug): Promise<{ url: string; stop(): void }> {
  const steps = correct();
  Object.assign(steps, bug(steps));
  return serve(async (received) => {
    for (const name of steps.order) {
      const status = await steps[name](received);
      if (status) return { status, body: status < 300 ? "{}" : `{"error":"${status}"}` };
    }
    return { status: 500, body: "" };
  });
}

/** Starts what answers every request alike. */
export function startElse(status: number, body: string): Promise<{ url: string; stop(): void }> {
  return serve(async () => ({ status, body }));
}

type Answer = { readonly status: number; readonly body: string };

async function serve(
  handle: (received: Received) => Promise<Answer>,
): Promise<{ url: string; stop(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { headers, method = "", url = "", rawHeaders } = request;
    const header = (name: string) => headers[name]?.toString();
    const { status, body } = await handle({
      method,
      url,
      headers,
      raw: rawHeaders,
      body: Buffer.concat(chunks),
      timestamp: header("webhook-timestamp") ?? "",
      eventId: header("webhook-event-id") ?? "",
      signature: header("webhook-signature"),
    });
    const type = body.startsWith("<") ? "text/html" : "application/json";
    response.writeHead(status, { "content-type": type, date: new Date(NOW).toUTCString() }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
