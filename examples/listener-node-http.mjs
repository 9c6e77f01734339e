// A webhook listener in plain node:http and node:crypto, without any library: both methods by hand.
//
//   SIGNING_SECRET=... node examples/listener-node-http.mjs
//   JWKS_URL=https://... node examples/listener-node-http.mjs
//
// Prints its URL, then a line for every event it accepts. Further settings, from the environment: LISTENER_ID
// (lst_node), BASE_URL (the server's own), PORT (0 takes a free one). It listens on 127.0.0.1 only.
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { createServer } from "node:http";

const MAX_BODY_BYTES = 65_536;
const TOLERANCE_SECONDS = 300;
const MAX_TOKEN_LIFE_SECONDS = 600;
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
const KEYS_FRESH_MS = 5 * 60 * 1000;

const { SIGNING_SECRET, JWKS_URL, LISTENER_ID = "lst_node", PORT = "0" } = process.env;
const PATH = `/api/v1/webhooks/incoming/${LISTENER_ID}`;

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Checks a request and gives its event id, or throws Refused. `headers` is Node's headersDistinct: every line counts. */
async function check(headers, body, baseUrl) {
  const now = Math.floor(Date.now() / 1000);
  const timestamp = once(headers, "webhook-timestamp", 400);
  const eventId = once(headers, "webhook-event-id", 400);
  const contentType = once(headers, "content-type", 400);
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(timestamp))
    throw new Refused(400, "Webhook-Timestamp must be Unix seconds");
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(eventId))
    throw new Refused(400, "Webhook-Event-Id must be a UUID of version 4");
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new Refused(400, "Webhook-Timestamp is more than 5 minutes off");

  if (JWKS_URL) await checkToken(headers, { eventId, body, baseUrl, now });
  else checkSignature(headers, `${timestamp}.${eventId}.`, body);

  if (contentType.split(";")[0].trim().toLowerCase() !== "application/json" || headers["content-encoding"])
    throw new Refused(415, "the body must be application/json, and not encoded");
  if (strictJson(body) === undefined) throw new Refused(400, "the body is not JSON");
  return eventId.toLowerCase();
}

function once(headers, name, status) {
  const values = headers[name] ?? [];
  if (values.length !== 1) throw new Refused(status, `${name} must be sent once`);
  return values[0];
}

/** The value in an array, because it may be null; undefined where the bytes are not JSON in UTF-8. */
function strictJson(bytes) {
  try {
    return [JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))];
  } catch {
    return undefined;
  }
}

function checkSignature(headers, head, body) {
  const given = Buffer.from(once(headers, "webhook-signature", 401), "latin1");
  // The key is the text of the secret, not what it decodes to; the body is the bytes as they came.
  const digest = createHmac("sha256", SIGNING_SECRET).update(head, "latin1").update(body).digest("base64url");
  const expected = Buffer.from(digest);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Refused(401, "the signature does not match");
}

async function checkToken(headers, { eventId, body, baseUrl, now }) {
  const token = /^bearer ([\x21-\x7e]{1,8192})$/i.exec(once(headers, "authorization", 401))?.[1];
  const segments = token?.split(".") ?? [];
  if (segments.length !== 3 || !segments.every(isCanonical)) throw new Refused(401, "this is not a token");
  const [header, claims] = segments.slice(0, 2).map(membersOf);
  if (!header || !claims) throw new Refused(401, "header and claims must be JSON objects");
  // A token must not bring its own key, nor say what its verifier should understand.
  if (["crit", "b64", "jwk", "jku", "x5u", "x5c"].some((name) => name in header))
    throw new Refused(401, "the header has a member that is refused");

  const key = typeof header.kid === "string" ? (await keySet()).get(header.kid) : undefined;
  const input = Buffer.from(`${segments[0]}.${segments[1]}`);
  // The key says how it verifies; the token's alg must only agree.
  if (!key || key.alg !== header.alg || !isSignedBy(key, input, Buffer.from(segments[2], "base64url")))
    throw new Refused(401, "the token is not signed by a key of the set");

  const { exp, nbf, sub, aud, jti, htm, htb_s256: bodyHash } = claims;
  const holds =
    Number.isSafeInteger(exp) &&
    exp > now &&
    exp <= now + MAX_TOKEN_LIFE_SECONDS &&
    (nbf === undefined || (typeof nbf === "number" && nbf <= now)) &&
    sub === baseUrl &&
    aud === baseUrl + PATH &&
    htm === "POST" &&
    typeof jti === "string" &&
    jti.toLowerCase() === eventId.toLowerCase() &&
    bodyHash === createHash("sha256").update(body).digest("base64url");
  if (!holds) throw new Refused(401, "a claim is missing or wrong");
}

/** Base64url without padding, and in the one spelling its bytes have. */
function isCanonical(segment) {
  return Buffer.from(segment, "base64url").toString("base64url") === segment;
}

/** The members of a segment that is a flat JSON object in which no name stands twice. */
function membersOf(segment) {
  const bytes = Buffer.from(segment, "base64url");
  const [value] = strictJson(bytes) ?? [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // Written again, a member that stood twice is gone; spacing outside texts is not compared.
  const names = bytes.toString().match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
  return names === (JSON.stringify(value).match(/"(?:[^"\\]|\\.)*":/g)?.length ?? 0) ? value : undefined;
}

function isSignedBy({ alg, publicKey }, input, signature) {
  if (alg === "EdDSA") return verify(null, input, publicKey, signature);
  return verify("sha256", input, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature);
}

let fetched = { at: 0, keys: new Map() };

/** The keys of the set by kid. Fetched again after five minutes; a set that cannot be fetched has no keys. */
async function keySet() {
  if (Date.now() - fetched.at < KEYS_FRESH_MS) return fetched.keys;
  const keys = new Map();
  try {
    const response = await fetch(JWKS_URL, { redirect: "error", signal: AbortSignal.timeout(5_000) });
    for (const jwk of (await response.json()).keys) {
      const isUsable = jwk.use === "sig" && ["RS256", "ES256", "EdDSA"].includes(jwk.alg);
      if (isUsable)
        keys.set(jwk.kid, { alg: jwk.alg, publicKey: createPublicKey({ key: jwk, format: "jwk" }) });
    }
    fetched = { at: Date.now(), keys };
  } catch {
    return new Map();
  }
  return keys;
}

/** Event ids of the last seven days. In memory: they are lost when the process ends; use a database. */
const processed = new Map();

/** Whether an id is new; nothing else runs between looking it up and storing it. */
function isNew(eventId) {
  for (const [old, until] of processed) {
    if (until > Date.now()) break;
    processed.delete(old);
  }
  if (processed.has(eventId)) return false;
  processed.set(eventId, Date.now() + RETENTION_MS);
  return true;
}

/** The body's bytes, or undefined past the limit; what is over it is read and dropped, so that the answer arrives. */
async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    if (length > 2_000_000) request.destroy();
  }
  return length > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
}

async function handle(request, baseUrl) {
  if (request.url !== PATH) throw new Refused(404, "there is no such listener");
  if (request.method !== "POST") throw new Refused(405, "webhooks are sent with POST");
  const body = await bodyOf(request);
  if (!body) throw new Refused(413, "the body is larger than 65,536 bytes");
  const eventId = await check(request.headersDistinct, body, baseUrl);
  if (!isNew(eventId)) throw new Refused(409, "this event id was processed before");
  console.log(`event ${eventId}: ${body.length} bytes`);
}

if (!SIGNING_SECRET && !JWKS_URL) {
  console.error("Neither SIGNING_SECRET nor JWKS_URL is set.");
  process.exit(1);
}
const server = createServer(async (request, response) => {
  const baseUrl = process.env.BASE_URL ?? `http://127.0.0.1:${server.address().port}`;
  let [status, answer] = [200, {}];
  try {
    await handle(request, baseUrl);
  } catch (error) {
    [status, answer] = [error.status ?? 500, { message: error.status ? error.message : "unexpected" }];
  }
  if (status === 405) response.setHeader("Allow", "POST");
  request.resume();
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
});
server.listen(Number(PORT), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}${PATH}`),
);
