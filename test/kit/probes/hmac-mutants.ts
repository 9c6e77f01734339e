import { SECRET } from "./listeners.js";
import type { Mutant } from "./mutant.js";
import {
  type Checks,
  CORRECT,
  correctHmac,
  headOf,
  hmacOf,
  PATH,
  type Received,
} from "./reference-listener.js";

const hmac = correctHmac(SECRET);

const signatureOf = ({ headers }: Received) => headers["webhook-signature"] ?? "";
const wanted = ({ headers, body }: Received, key: string | Buffer = SECRET) =>
  hmacOf(key, headOf(headers), body);
const mangled = (body: Buffer) => Buffer.from(JSON.stringify(JSON.parse(body.toString())));

export const HMAC_MUTANTS: readonly Mutant<Partial<Checks>>[] = [
  {
    name: "has no time window",
    flaw: { inWindow: () => true },
    fails: [
      "timestamp-too-old",
      "timestamp-too-far-ahead",
      "timestamp-301-s-old",
      "timestamp-301-s-ahead",
      "timestamp-in-milliseconds",
    ],
  },
  {
    name: "looks at the past only",
    flaw: { inWindow: (timestamp, now) => now - timestamp <= 300 },
    fails: ["timestamp-too-far-ahead", "timestamp-301-s-ahead", "timestamp-in-milliseconds"],
  },
  {
    name: "allows ten minutes",
    flaw: { inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 600 },
    fails: ["timestamp-301-s-old", "timestamp-301-s-ahead"],
  },
  {
    name: "allows four minutes",
    flaw: { inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 240 },
    fails: ["timestamp-300-s-old", "timestamp-300-s-ahead"],
  },
  {
    name: "parses timestamps loosely",
    flaw: { isTimestamp: () => true, inWindow: (timestamp, now) => !(Math.abs(now - timestamp) > 300) },
    fails: ["timestamp-iso-date", "timestamp-nan"],
    unclear: [
      "timestamp-plus-sign",
      "timestamp-leading-zero",
      "timestamp-fraction",
      "timestamp-exponent",
      "timestamp-hexadecimal",
    ],
  },
  {
    name: "decodes the secret as well",
    flaw: {
      authenticates: (received) =>
        [SECRET, Buffer.from(SECRET, "base64url")].some(
          (key) => wanted(received, key).toString("base64url") === signatureOf(received),
        ),
    },
    fails: ["signature-of-decoded-secret"],
  },
  {
    name: "never answers 409",
    flaw: { order: ["authentication", "body"], reserve: () => true },
    fails: ["event-id-processed", "event-id-processed-other-body", "event-id-copies-at-once"],
    unclear: ["event-id-processed-other-case"],
  },
  {
    name: "looks ids up before authentication",
    flaw: { order: ["replay", "authentication", "body"] },
    fails: ["event-id-processed-bad-proof"],
  },
  {
    name: "recognises an event by its id and body",
    flaw: { replayKey: (eventId, { body }) => `${eventId.toLowerCase()} ${body}` },
    fails: ["event-id-processed-other-body"],
  },
  {
    name: "looks an id up and stores it in two steps",
    flaw: {
      async reserve(ids, key) {
        await new Promise((later) => setTimeout(later, 300));
        ids.add(key);
        return true;
      },
    },
    fails: ["event-id-copies-at-once"],
  },
  {
    name: "uses up the ids of refused requests",
    flaw: (() => {
      const burnt = new Set<string>();
      const idOf = ({ headers }: Received) => headers["webhook-event-id"]?.toLowerCase() ?? "";
      return {
        authenticates: (received: Received) => hmac(received) || !burnt.add(idOf(received)),
        reserve: (ids: Set<string>, key: string) => !burnt.has(key) && CORRECT.reserve(ids, key),
      };
    })(),
    fails: [],
    unclear: ["event-id-of-refused-request"],
  },
  {
    name: "decodes the signature before it compares",
    flaw: {
      authenticates: (received) => Buffer.from(signatureOf(received), "base64").equals(wanted(received)),
    },
    fails: ["signature-padded", "signature-standard-alphabet", "signature-trailing-bits"],
  },
  {
    name: "verifies the event id in lower case",
    flaw: {
      authenticates: (received) => {
        const id = received.headers["webhook-event-id"]?.toLowerCase() ?? "";
        return hmac({ ...received, headers: { ...received.headers, "webhook-event-id": id } });
      },
    },
    fails: ["event-id-signed-in-other-case"],
    unclear: ["event-id-upper-case"],
  },
  {
    name: "takes hexadecimal signatures as well",
    flaw: {
      authenticates: (received) =>
        ["base64url" as const, "hex" as const].some(
          (form) => wanted(received).toString(form) === signatureOf(received),
        ),
    },
    fails: ["signature-hex"],
  },
  {
    name: "breaks on signatures of another length",
    flaw: {
      authenticates: (received) => {
        const given = Buffer.from(signatureOf(received), "latin1");
        const right = Buffer.from(wanted(received).toString("base64url"));
        if (given.length !== right.length)
          throw new RangeError("Input buffers must have the same byte length");
        return given.equals(right);
      },
    },
    fails: [
      "proof-missing",
      "proof-of-other-method",
      "signature-sha-1",
      "signature-sha-512",
      "signature-padded",
      "signature-hex",
      "signature-prefix-sha256",
      "signature-prefix-v1",
      "signature-42-characters",
      "signature-44-characters",
      "signature-empty",
      "signature-one-character",
      "signature-4-kb",
    ],
  },
  {
    name: "verifies only where there is a signature",
    flaw: { authenticates: (received) => signatureOf(received) === "" || hmac(received) },
    fails: ["proof-missing", "proof-of-other-method", "signature-empty"],
  },
  {
    name: "takes an empty secret as well",
    flaw: { authenticates: (received) => hmac(received) || correctHmac("")(received) },
    fails: ["signature-of-empty-secret"],
  },
  {
    name: "verifies a body that was written again",
    flaw: {
      authenticates: (received) => {
        try {
          return hmac({ ...received, body: mangled(received.body) });
        } catch {
          return hmac(received);
        }
      },
    },
    fails: ["body-exact-bytes", "body-newline-added", "body-not-utf8"],
  },
  {
    name: "takes a signature over the body alone as well",
    flaw: {
      authenticates: (received) =>
        hmac(received) || hmacOf(SECRET, "", received.body).toString("base64url") === signatureOf(received),
    },
    fails: ["signature-of-body-only"],
  },
  {
    name: "has no size limit",
    flaw: { maxBytes: Number.POSITIVE_INFINITY },
    fails: ["body-too-large", "body-1-mb"],
  },
  {
    name: "allows 32 KiB only",
    flaw: { maxBytes: 32_768 },
    fails: [],
    unclear: ["body-deeply-nested", "body-64-kb"],
  },
  {
    name: "takes UUIDs of any version",
    flaw: { isEventId: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) },
    fails: [
      "event-id-nil",
      "event-id-max",
      "event-id-version-1",
      "event-id-version-5",
      "event-id-version-7",
      "event-id-wrong-variant",
    ],
  },
  {
    name: "takes any event id",
    flaw: { isEventId: () => true },
    fails: [
      "event-id-empty",
      "event-id-not-a-uuid",
      "event-id-nil",
      "event-id-max",
      "event-id-version-1",
      "event-id-version-5",
      "event-id-version-7",
      "event-id-wrong-variant",
      "event-id-braces",
      "event-id-urn",
      "event-id-without-hyphens",
    ],
  },
  {
    name: "takes bodies that are not JSON",
    flaw: { parse: (body) => body.toString() },
    fails: [
      "body-not-json",
      "body-empty",
      "body-truncated",
      "body-two-values",
      "body-trailing-comma",
      "body-single-quotes",
      "body-nan",
      "body-form",
      "body-control-character",
      "body-not-utf8",
      "body-utf16",
    ],
    unclear: ["body-byte-order-mark"],
  },
  {
    name: "parses bodies loosely",
    flaw: { parse: (body) => JSON.parse(body.toString().trim().replace(/NaN/g, "0") || "null") },
    fails: ["body-empty", "body-nan", "body-not-utf8"],
    unclear: ["body-byte-order-mark"],
  },
  {
    name: "parses before authentication",
    flaw: { order: ["body", "authentication", "replay"] },
    fails: [],
    unclear: ["body-not-json-bad-proof"],
  },
  {
    name: "wants an object",
    flaw: { parse: (body) => Object.keys(CORRECT.parse(body) as object) },
    fails: ["body-null"],
  },
  {
    name: "does without a Content-Type",
    flaw: { required: [], mediaTypes: /^/ },
    fails: ["content-type-missing"],
    unclear: ["content-type-text"],
  },
  { name: "takes PUT", flaw: { methods: ["POST", "PUT"] }, fails: ["method-put"] },
  {
    name: "takes any listener id",
    flaw: { knowsListener: (path) => path.startsWith(PATH.slice(0, 20)) },
    fails: ["listener-unknown"],
  },
];
