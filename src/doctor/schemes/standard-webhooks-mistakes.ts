import { hmacOf } from "#hash";
import {
  bodyBytes,
  decodeBase64url,
  decodeUtf8,
  encodeBase64,
  encodeBase64url,
  utf8,
} from "../../core/bytes.js";
import { type HeadersInput, receivedHeaders } from "../../core/headers.js";
import { rewrittenJson } from "../../core/json.js";
import type { SchemeMistake } from "../../schemes/scheme.js";
import {
  ID_HEADER,
  listOf,
  readKey,
  SIGNATURE_HEADER,
  type StandardWebhooksSecrets,
  TIMESTAMP_HEADER,
} from "../../schemes/standard-webhooks/sign.js";
import { catalogueOf } from "./mistake-rows.js";

/** One way of making a part of the signature; the right way has no mistake. */
interface Way<Make> {
  readonly make: Make;
  readonly mistake?: SchemeMistake;
}

function wrong<Make>(id: string, title: string, message: string, fix: string, ...ways: Make[]): Way<Make>[] {
  return ways.map((make) => ({ make, mistake: { id, title, message, fix } }));
}

const DECODE = "Take whsec_ away and decode the rest: Buffer.from(secret.slice('whsec_'.length), 'base64').";

/** What the key was made of: the whole text of the secret. */
const KEYS: readonly Way<(secret: string) => Uint8Array>[] = [
  { make: (secret) => lenient(secret.slice(6)) },
  ...wrong(
    "secret-not-decoded",
    "Secret not decoded",
    "It matches if the key is the text behind whsec_ itself: the base64 was not decoded.",
    DECODE,
    (secret: string): Uint8Array => utf8(secret.slice(6)),
  ),
  ...wrong(
    "secret-prefix-kept",
    "Prefix kept",
    "It matches if the key is made of the whole text, with whsec_.",
    DECODE,
    (secret: string): Uint8Array => utf8(secret),
    (secret: string): Uint8Array => lenient(secret),
  ),
];

type Head = (id: string, timestamp: string) => string;

const ORDER = "Sign id + '.' + timestamp + '.' + body, with the values of the headers as they are sent.";

/** What stands before the body. */
const HEADS: readonly Way<Head>[] = [
  { make: (id, timestamp) => `${id}.${timestamp}.` },
  ...wrong<Head>(
    "parts-in-other-order",
    "Other order of the parts",
    "It matches if the timestamp stands before the id.",
    ORDER,
    (id, timestamp) => `${timestamp}.${id}.`,
  ),
  ...wrong<Head>(
    "id-not-signed",
    "Id not signed",
    "It matches without the id.",
    ORDER,
    (_, timestamp) => `${timestamp}.`,
  ),
  ...wrong<Head>(
    "timestamp-not-signed",
    "Timestamp not signed",
    "It matches without the timestamp.",
    ORDER,
    (id) => `${id}.`,
  ),
  ...wrong<Head>(
    "body-alone-signed",
    "Body alone signed",
    "It matches without id and timestamp.",
    ORDER,
    () => "",
  ),
  ...wrong<Head>(
    "id-prefix-differs",
    "Prefix of the id",
    "It matches if the id is signed with msg_ before it, or without: another id was signed than sent.",
    ORDER,
    (id, timestamp) => `msg_${id}.${timestamp}.`,
    (id, timestamp) => `${id.replace(/^msg_/, "")}.${timestamp}.`,
  ),
  ...wrong<Head>(
    "timestamp-in-milliseconds",
    "Timestamp in milliseconds",
    "It matches if the timestamp is signed in milliseconds.",
    "Use whole seconds for both: Math.floor(Date.now() / 1000).",
    (id, timestamp) => `${id}.${timestamp}000.`,
  ),
];

/** What the body was when it was signed. */
const BODIES: readonly Way<(body: Uint8Array) => Uint8Array | undefined>[] = [
  { make: (body) => body },
  ...wrong(
    "body-reserialised",
    "Body written again",
    "It matches if the body is parsed and written again: other bytes were signed than sent.",
    "Sign and verify the bytes that are on the wire: express.raw(), await request.arrayBuffer().",
    (body: Uint8Array) => reserialised(body),
    (body: Uint8Array) => reserialised(body, 2),
  ),
  ...wrong(
    "body-line-break",
    "Line break at the end of the body",
    "It matches if the body is signed with a line break at its end, or without the one that was sent.",
    "Sign the bytes that are sent; in a shell printf %s, and curl --data-binary.",
    (body: Uint8Array) => utf8(`${decodeUtf8(body)}\n`),
    (body: Uint8Array) => utf8((decodeUtf8(body) ?? "").trimEnd()),
  ),
];

const BASE64 = "Write v1, and then the digest in base64: 'v1,' + hmac.digest('base64').";

/** How the digest was written. */
const FORMS: readonly Way<(digest: Uint8Array) => string>[] = [
  { make: (digest) => `v1,${encodeBase64(digest)}` },
  ...wrong(
    "version-missing",
    "Version missing",
    "The signature is right, and v1, does not stand before it.",
    BASE64,
    encodeBase64,
  ),
  ...wrong(
    "signature-in-hex",
    "Signature in hex",
    "The digest is right and written in hexadecimal.",
    BASE64,
    (digest: Uint8Array) => `v1,${hex(digest)}`,
    hex,
    (digest: Uint8Array) => `sha256=${hex(digest)}`,
  ),
  ...wrong(
    "signature-in-base64url",
    "Signature in base64url",
    "The digest is right and written in base64url, or without its padding.",
    BASE64,
    (digest: Uint8Array) => `v1,${encodeBase64url(digest)}`,
    (digest: Uint8Array) => `v1,${encodeBase64(digest).replace("=", "")}`,
    encodeBase64url,
  ),
  ...wrong(
    "separator-differs",
    "Another separator behind the version",
    "The signature is right, and v1 is not followed by a comma.",
    BASE64,
    (digest: Uint8Array) => `v1=${encodeBase64(digest)}`,
    (digest: Uint8Array) => `v1:${encodeBase64(digest)}`,
  ),
];

/**
 * Every mistake that `standardWebhooksMistakes` can name, for tools that list or explain them. Ids are stable.
 *
 * @example
 * ```ts
 * import { allStandardWebhooksMistakes } from "hookproof/standard-webhooks";
 *
 * allStandardWebhooksMistakes.find(({ id }) => id === "version-missing")?.title; // "Version missing"
 * ```
 */
export const allStandardWebhooksMistakes: readonly SchemeMistake[] = catalogueOf(
  [...KEYS, ...HEADS, ...BODIES, ...FORMS].flatMap(({ mistake }) => mistake ?? []),
);

/**
 * Finds the mistakes that explain why a request of Standard Webhooks is refused, for `v1`: it makes the signature with one
 * known mistake after another, and with several together, until one is that of the request. Empty if the signature is
 * right, or nothing explains it. For people and tests; a receiver does not need it.
 *
 * @param options.secrets `whsec_…`: one, or several
 * @throws {HookproofError} SECRET_INVALID
 *
 * @example
 * ```ts
 * import { standardWebhooksMistakes } from "hookproof/standard-webhooks";
 *
 * const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
 * const headers = {
 *   "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
 *   "webhook-timestamp": "1614265330",
 *   "webhook-signature": "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
 * };
 * standardWebhooksMistakes({ secrets, headers, body: '{"test": 2432232314}' })[0]?.id; // "version-missing"
 * ```
 */
export function standardWebhooksMistakes({
  secrets,
  headers,
  body,
}: {
  secrets: StandardWebhooksSecrets;
  headers: HeadersInput;
  body: string | Uint8Array;
}): readonly SchemeMistake[] {
  const given = listOf(secrets).filter((text) => readKey(text).kind === "symmetric");
  const received = receivedHeaders(headers);
  const [id = "", timestamp = "", list = ""] = [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map(
    (name) => received.all(name)[0],
  );
  const signatures = new Set([list, ...list.split(" ", MOST)]);
  const bodies = BODIES.flatMap((way) => {
    const signed = way.make(bodyBytes(body));
    return signed === undefined ? [] : [{ way, signed }];
  });
  let best: readonly SchemeMistake[] | undefined;
  for (const secret of given)
    for (const key of KEYS)
      for (const head of HEADS)
        for (const { way, signed } of bodies) {
          const digest = decodeBase64url(
            hmacOf("sha256", key.make(secret), [head.make(id, timestamp), signed]),
          );
          const form = digest && FORMS.find(({ make }) => signatures.has(make(digest)));
          if (!form) continue;
          const found = [key, head, way, form].flatMap(({ mistake }) => mistake ?? []);
          if (best === undefined || found.length < best.length) best = found;
        }
  return best ?? [];
}

const MOST = 16;

/** As Node's own decoder reads base64: whatever alphabet, whatever padding. */
function lenient(text: string): Uint8Array {
  const plain = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return (
    decodeBase64url(plain) ?? decodeBase64url(plain.slice(0, plain.length - (plain.length % 4))) ?? utf8(text)
  );
}

function reserialised(body: Uint8Array, space?: number): Uint8Array | undefined {
  const text = rewrittenJson(decodeUtf8(body) ?? "", space);
  return text === undefined ? undefined : utf8(text);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
