// Probes about the signature.
import { bodyBytes, concatBytes, decodeBase64url, encodeBase64url, utf8 } from "../../../core/bytes.js";
import {
  SIGNATURE_HEADER,
  signingHead,
  TIMESTAMP_HEADER,
} from "../../../schemes/access-governance/protocol.js";
import { type ProbeDefinition, refuses } from "../probe.js";
import {
  added,
  type HmacKit,
  hexOf,
  padded,
  partsOf,
  replaced,
  type SigningHead,
  telltaleSignature,
  withTrailingBit,
} from "../requests.js";

const AS_TEXT =
  "Compare the header's text with the 43 characters you compute, in constant time, and decode neither.";
const INPUT = "Compute HMAC-SHA256 over {timestamp}.{event_id}.{body} with the header values as received.";

/** A request whose signature is the correct one in another spelling. */
function misspelled(
  id: string,
  title: string,
  spell: (signature: string, kit: HmacKit) => string,
): ProbeDefinition<HmacKit> {
  return refuses<HmacKit>(401, {
    id,
    title,
    section: "5.2",
    means:
      "The listener accepts several spellings of one signature; the specification has one: base64url without padding.",
    fix: AS_TEXT,
    build: (kit) => kit.withSignature(spell(kit.signature(), kit)),
  });
}

/** A request with a text as its signature that no secret makes. Whatever its length and characters, the answer must be 401. */
function garbage(id: string, title: string, signature: string): ProbeDefinition<HmacKit> {
  return refuses<HmacKit>(401, {
    id,
    title,
    section: "7",
    means: "The listener accepts a text that is no signature, or the comparison fails with an error.",
    fix: AS_TEXT,
    build: (kit) => kit.withSignature(signature),
  });
}

function otherInput(id: string, title: string, head: SigningHead): ProbeDefinition<HmacKit> {
  return refuses<HmacKit>(401, {
    id,
    title,
    section: "5.2",
    means: "The signature does not cover all that it must.",
    fix: INPUT,
    build: (kit) => kit.withSignature(kit.signature({}, kit.secret, head)),
  });
}

function otherHash(id: string, hash: string): ProbeDefinition<HmacKit> {
  return refuses<HmacKit>(401, {
    id,
    title: `a signature by HMAC with ${hash}`,
    section: "5.2",
    means: "Another hash than SHA-256 is accepted.",
    fix: INPUT,
    async build(kit) {
      const key = await crypto.subtle.importKey("raw", utf8(kit.secret), { name: "HMAC", hash }, false, [
        "sign",
      ]);
      const { timestamp, eventId, body } = partsOf(kit);
      const input = concatBytes([utf8(signingHead(timestamp, eventId)), bodyBytes(body)]);
      return kit.withSignature(encodeBase64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, input))));
    },
  });
}

/** Probes about `Webhook-Signature`. */
export const SIGNATURE_PROBES: readonly ProbeDefinition<HmacKit>[] = [
  refuses<HmacKit>(401, {
    id: "signature-of-other-secret",
    title: "a signature by another secret",
    section: "7",
    means: "Anybody can run the automation.",
    fix: INPUT,
    build: (kit) => kit.signedWithWrongKey(),
  }),
  refuses<HmacKit>(401, {
    id: "signature-of-decoded-secret",
    title: "a signature by the base64url-decoded secret",
    section: "5.2",
    means: "The listener decodes the secret; correct senders use the text itself.",
    fix: "Use the secret's text as the key: its UTF-8 bytes, not decoded.",
    build(kit) {
      const key = decodeBase64url(kit.secret);
      if (!key || key.length === 0) return { skip: "the secret is not base64url" };
      return kit.withSignature(kit.signature({}, key));
    },
  }),
  refuses<HmacKit>(401, {
    id: "signature-of-empty-secret",
    title: "a signature by an empty secret",
    section: "7",
    means: "The listener runs without its secret, for instance because a variable is not set.",
    fix: "Refuse to start without a secret.",
    build: (kit) => kit.withSignature(kit.signature({}, "")),
  }),
  refuses<HmacKit>(401, {
    id: "signature-of-text-undefined",
    title: "a signature by the secret undefined",
    section: "7",
    means: "The listener turned a missing variable into a text.",
    fix: "Refuse to start without a secret.",
    build: (kit) => kit.withSignature(kit.signature({}, "undefined")),
  }),
  refuses<HmacKit>(401, {
    id: "timestamp-changed",
    title: "another timestamp than the one that was signed",
    section: "5.2",
    means: "A recorded request can be sent with a fresh timestamp.",
    fix: INPUT,
    build: async (kit) => replaced(await kit.signed(), TIMESTAMP_HEADER, String(kit.nowSeconds - 1)),
  }),
  refuses<HmacKit>(401, {
    id: "event-id-signed-in-other-case",
    title: "an event id in upper case, signed in lower case",
    section: "5.2",
    listenerChoice: "status",
    decision: "R10",
    means: "The event id is changed before it is verified, so a signature over the header's text fails.",
    fix: "Verify over the header's text as received, and lower-case the id afterwards, where it is looked up.",
    build: (kit) => kit.withSignature(kit.signature(), { eventId: kit.eventId.toUpperCase() }),
  }),
  refuses<HmacKit>(401, {
    id: "signature-sent-twice",
    title: "Webhook-Signature twice, the correct one first",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: "Read all lines of the header and refuse more than one.",
    build: async (kit) => added(await kit.signed(), SIGNATURE_HEADER, "A".repeat(43)),
  }),
  otherInput(
    "signature-parts-swapped",
    "a signature over event id, timestamp, body",
    (timestamp, eventId) => `${eventId}.${timestamp}.`,
  ),
  otherInput(
    "signature-without-timestamp",
    "a signature over event id and body",
    (_, eventId) => `${eventId}.`,
  ),
  otherInput(
    "signature-without-event-id",
    "a signature over timestamp and body",
    (timestamp) => `${timestamp}.`,
  ),
  otherInput("signature-of-body-only", "a signature over the body alone", () => ""),
  otherInput(
    "signature-without-periods",
    "a signature over the parts without periods",
    (timestamp, eventId) => timestamp + eventId,
  ),
  otherHash("signature-sha-1", "SHA-1"),
  otherHash("signature-sha-512", "SHA-512"),
  misspelled("signature-padded", "the correct signature with padding", padded),
  misspelled("signature-hex", "the correct signature in hexadecimal", hexOf),
  refuses<HmacKit>(401, {
    id: "signature-standard-alphabet",
    title: "the correct signature in base64 with + and /",
    section: "5.2",
    means:
      "The listener accepts several spellings of one signature; the specification has one: base64url without padding.",
    fix: AS_TEXT,
    build(kit) {
      const { body, signature } = telltaleSignature(kit);
      return kit.withSignature(signature.replaceAll("-", "+").replaceAll("_", "/"), { body });
    },
  }),
  misspelled(
    "signature-trailing-bits",
    "the correct signature with its two unused bits set",
    withTrailingBit,
  ),
  misspelled(
    "signature-prefix-sha256",
    "the correct signature after sha256=",
    (signature) => `sha256=${signature}`,
  ),
  misspelled("signature-prefix-v1", "the correct signature after v1,", (signature) => `v1,${signature}`),
  misspelled("signature-42-characters", "the correct signature without its last character", (signature) =>
    signature.slice(0, -1),
  ),
  misspelled(
    "signature-44-characters",
    "the correct signature with one character more",
    (signature) => `${signature}A`,
  ),
  misspelled("signature-other-case", "the correct signature in lower case", (signature) =>
    signature.toLowerCase(),
  ),
  garbage("signature-empty", "an empty Webhook-Signature", ""),
  garbage("signature-of-zeros", "43 times the character A", "A".repeat(43)),
  garbage("signature-one-character", "a signature of one character", "A"),
  garbage("signature-not-ascii", "a signature of characters beyond ASCII", "\u00e9".repeat(43)),
  garbage("signature-4-kb", "a signature of 4,096 characters", "A".repeat(4096)),
];
