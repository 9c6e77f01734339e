// Requests received by hand under the receiver's own promises, with Node alone: the least that keeps all of them.
import { createHmac, timingSafeEqual } from "node:crypto";

const MAX_BYTES = 65_536;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const RESERVED_MS = 60_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What each check demands; a verdict says which were made, and what the request had. */
const RULES = {
  listener: "the path is the listener's",
  method: "the method is POST",
  headers: "the server has kept every header line",
  size: `the body is complete and has at most ${MAX_BYTES} bytes`,
  timestamp: "the timestamp is digits, once",
  "event-id": "the event id is a UUID, once",
  "content-type": "the content type is JSON, once, and not encoded",
  window: "the timestamp is at most 5 minutes away",
  signature: "the signature is the HMAC of the bytes",
  body: "the body is JSON in UTF-8",
  replay: "the event id was not processed in the last 7 days",
  trigger: "the trigger is enabled",
  run: "the automation accepts the event",
};

/** A store that may be elsewhere: an id is reserved, and then committed or released. */
export function reservingStore() {
  const reserved = new Map();
  const processed = new Map();
  const forget = (ids, now) => {
    for (const [id, { until }] of ids) {
      if (until > now) break;
      ids.delete(id);
    }
  };
  let tokens = 0;
  return {
    async reserve(id) {
      const now = performance.now();
      forget(reserved, now);
      forget(processed, now);
      if (processed.has(id)) return { state: "processed" };
      if (reserved.has(id)) return { state: "in-flight" };
      const token = ++tokens;
      reserved.set(id, { token, until: now + RESERVED_MS });
      return { state: "reserved", token };
    },
    async commit(id, token) {
      if (reserved.get(id)?.token !== token) throw new Error("the reservation was lost");
      reserved.delete(id);
      processed.set(id, { token, until: performance.now() + WEEK_MS });
    },
    async release(id, token) {
      if (reserved.get(id)?.token === token) reserved.delete(id);
    },
  };
}

/** A listener for `node:http` whose requests are verified, run once, and answered, with a verdict on each. */
export function receivedByHand({ path, secret, store, isActive, run, onVerdict }) {
  return async (req, res) => {
    const verdict = await verdictOn({ path, secret, store, isActive, run }, req);
    onVerdict(verdict);
    const text = verdict.status === 200 ? "{}" : JSON.stringify({ message: verdict.checks.at(-1).rule });
    if (!req.complete) res.setHeader("Connection", "close");
    res.writeHead(verdict.status, {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(text)),
    });
    res.end(text);
  };
}

async function verdictOn({ path, secret, store, isActive, run }, req) {
  const checks = [];
  const pass = (step, seen) => void checks.push({ step, ok: true, rule: RULES[step], seen });
  const refuse = (status, step, seen) => {
    checks.push({ step, ok: false, rule: RULES[step], seen });
    return { status, checks };
  };
  if (req.url !== path) return refuse(404, "listener", req.url);
  pass("listener", req.url);
  if (req.method !== "POST") return refuse(405, "method", req.method);
  pass("method", req.method);
  const lines = req.rawHeaders;
  if (lines.length >= 2_000) return refuse(431, "headers", String(lines.length));
  pass("headers", String(lines.length));
  const body = await bodyOf(req);
  if (body === undefined) return refuse(413, "size");
  pass("size", String(body.length));

  const timestamp = only(lines, "webhook-timestamp");
  if (timestamp === undefined || !/^[0-9]{1,12}$/.test(timestamp)) return refuse(400, "timestamp", timestamp);
  pass("timestamp", timestamp);
  const id = only(lines, "webhook-event-id");
  if (id === undefined || !UUID.test(id)) return refuse(400, "event-id", id);
  pass("event-id", id);
  const type = only(lines, "content-type");
  if (type === undefined || !/^application\/json[ \t]*(?:;|$)/i.test(type) || has(lines, "content-encoding"))
    return refuse(415, "content-type", type);
  pass("content-type", type);
  if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > 300)
    return refuse(400, "window", timestamp);
  pass("window", timestamp);
  const given = only(lines, "webhook-signature");
  if (given === undefined || !/^[\w-]{43}$/.test(given)) return refuse(401, "signature");
  const expected = createHmac("sha256", secret)
    .update(`${timestamp}.${id}.`)
    .update(body)
    .digest("base64url");
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return refuse(401, "signature");
  pass("signature");
  let payload;
  try {
    payload = JSON.parse(utf8.decode(body));
  } catch {
    return refuse(400, "body");
  }
  pass("body");
  const event = { id: id.toLowerCase(), timestamp: Number(timestamp), body, payload };
  return accepted({ store, isActive, run }, event, { checks, pass, refuse });
}

async function accepted({ store, isActive, run }, event, { checks, pass, refuse }) {
  let token;
  try {
    const from = performance.now();
    for (let pause = 5; token === undefined; pause = Math.min(pause * 2, 100)) {
      const asked = await store.reserve(event.id);
      if (asked.state === "processed") return refuse(409, "replay", event.id);
      if (asked.state === "in-flight" && performance.now() - from >= 5_000)
        return refuse(503, "replay", event.id);
      if (asked.state === "in-flight") await new Promise((resolve) => setTimeout(resolve, pause));
      token = asked.token;
    }
    pass("replay", event.id);
    if (!(await isActive())) {
      await store.release(event.id, token);
      return refuse(409, "trigger");
    }
    pass("trigger");
    await run(event);
    await store.commit(event.id, token);
    pass("run");
    return { status: 200, checks, event };
  } catch {
    await store.release(event.id, token).catch(() => {});
    return refuse(503, "run");
  }
}

/** The body, up to its bound; nothing where it is longer or broke off. */
function bodyOf(req) {
  return new Promise((resolve) => {
    const chunks = [];
    let length = 0;
    req.on("data", (chunk) => {
      length += chunk.length;
      if (length > MAX_BYTES) resolve(undefined);
      else chunks.push(chunk);
    });
    req.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    req.on("error", () => resolve(undefined));
    req.on("close", () => resolve(undefined));
  });
}

/** The value of a header that was sent once, which `req.headers` cannot tell. */
function only(lines, name) {
  let found;
  for (let at = 0; at < lines.length; at += 2) {
    if (lines[at].length !== name.length || lines[at].toLowerCase() !== name) continue;
    if (found !== undefined) return undefined;
    found = lines[at + 1];
  }
  return found;
}

function has(lines, name) {
  return lines.some((line, at) => at % 2 === 0 && line.toLowerCase() === name);
}
