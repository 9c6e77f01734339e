import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the reference listener has it before anything is checked. */
export interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly now: number;
}

/** The checks of a listener, each one replaceable by a wrong one. */
export interface Checks {
  readonly maxBytes: number;
  readonly methods: readonly string[];
  knowsListener(path: string): boolean;
  readonly required: readonly string[];
  isTimestamp(text: string): boolean;
  inWindow(timestamp: number, now: number): boolean;
  isEventId(text: string): boolean;
  authenticates(received: Received): boolean | Promise<boolean>;
  readonly mediaTypes: RegExp;
  parse(body: Buffer): unknown;
  /** The order of the last three steps. */
  readonly order: readonly ("authentication" | "replay" | "body")[];
  /** What an event is recognised by. */
  replayKey(eventId: string, received: Received): string;
  /** How an accepted id is kept; false where it was there already. */
  reserve(ids: Set<string>, key: string): boolean | Promise<boolean>;
}

export const PATH = "/api/v1/webhooks/incoming/lst_reference";

/** What a correct listener checks, written without the library; only `authenticates` is the method's own. */
export const CORRECT: Omit<Checks, "authenticates"> = {
  maxBytes: 65_536,
  methods: ["POST"],
  knowsListener: (path) => path === PATH,
  required: ["webhook-timestamp", "webhook-event-id", "content-type"],
  isTimestamp: (text) => /^(?:0|[1-9][0-9]{0,14})$/.test(text),
  inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 300,
  isEventId: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text),
  mediaTypes: /^application\/json(?:\s*;|$)/i,
  parse: (body) => JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)),
  order: ["authentication", "body", "replay"],
  replayKey: (eventId) => eventId.toLowerCase(),
  reserve: (ids, key) => !ids.has(key) && ids.add(key) !== undefined,
};

/** The HMAC of a request, by node:crypto. */
export function hmacOf(key: string | Buffer, head: string, body: Buffer): Buffer {
  return createHmac("sha256", key).update(head).update(body).digest();
}

/** The HMAC method of a correct listener. */
export function correctHmac(secret: string): Checks["authenticates"] {
  return ({ headers, body }) => {
    const given = headers["webhook-signature"] ?? "";
    const wanted = hmacOf(secret, headOf(headers), body).toString("base64url");
    return (
      given.length === wanted.length && timingSafeEqual(Buffer.from(given, "latin1"), Buffer.from(wanted))
    );
  };
}

/** `{timestamp}.{event_id}.` of a request. */
export function headOf(headers: Received["headers"]): string {
  return `${headers["webhook-timestamp"]}.${headers["webhook-event-id"]}.`;
}

/** SHA-256 in base64url. */
export function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("base64url");
}

/** Starts a listener with these checks on a free port of loopback. */
export async function startReference(checks: Checks): Promise<{ baseUrl: string; stop(): Promise<void> }> {
  const ids = new Set<string>();
  const server = createServer(async (req, res) => {
    let status: number;
    try {
      status = await statusFor(checks, ids, req);
    } catch {
      status = 500;
    }
    if (!req.complete) res.setHeader("Connection", "close");
    req.resume();
    res.writeHead(status).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

async function statusFor(checks: Checks, ids: Set<string>, req: IncomingMessage): Promise<number> {
  const body = await bodyOf(req, checks.maxBytes);
  const received: Received = {
    path: req.url ?? "",
    method: req.method ?? "",
    headers: req.headers as Received["headers"],
    body: body ?? Buffer.alloc(0),
    now: Math.floor(Date.now() / 1000),
  };
  const { headers, now } = received;
  if (!checks.knowsListener(received.path)) return 404;
  if (!checks.methods.includes(received.method)) return 405;
  if (body === undefined) return 413;
  if (checks.required.some((name) => headers[name] === undefined)) return 400;
  if (isTwice(req, "webhook-timestamp") || isTwice(req, "webhook-event-id")) return 400;
  const timestamp = headers["webhook-timestamp"] ?? "";
  const eventId = headers["webhook-event-id"] ?? "";
  if (!checks.isTimestamp(timestamp) || !checks.isEventId(eventId)) return 400;
  if (!checks.inWindow(Number(timestamp), now)) return 400;
  const key = checks.replayKey(eventId, received);
  const steps = {
    authentication: async () => {
      const twice = isTwice(req, "webhook-signature") || isTwice(req, "authorization");
      return !twice && (await checks.authenticates(received)) ? undefined : 401;
    },
    body: async () => {
      if (!checks.mediaTypes.test(headers["content-type"] ?? "")) return 415;
      if (headers["content-encoding"] !== undefined) return 415;
      try {
        checks.parse(received.body);
        return undefined;
      } catch {
        return 400;
      }
    },
    // A look-up that stands before another step must not store yet.
    replay: async () => (ids.has(key) ? 409 : undefined),
  };
  for (const step of checks.order) {
    const refusal = await steps[step]();
    if (refusal !== undefined) return refusal;
  }
  return (await checks.reserve(ids, key)) ? 200 : 409;
}

function isTwice(req: IncomingMessage, name: string): boolean {
  return req.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;
}

async function bodyOf(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
