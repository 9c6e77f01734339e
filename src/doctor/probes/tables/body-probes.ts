// Probes about the body.
import { concatBytes, utf8 } from "../../../core/bytes.js";
import { newEventId } from "../../../core/event.js";
import { MAX_BODY_BYTES } from "../../../core/protocol.js";
import { EVENT_ID_HEADER } from "../../../schemes/access-governance/protocol.js";
import { type ProbeDefinition, refuses } from "../probe.js";
import { replaced } from "../requests.js";

const STRICT_JSON = "Parse the whole body as strict JSON in UTF-8, and answer 400 if that fails.";
const OVER_BYTES = "Verify over the bytes as received and refuse any difference.";

function notJson(id: string, title: string, body: string | Uint8Array): ProbeDefinition {
  return refuses(400, {
    id,
    title,
    section: "7",
    means:
      "The automation gets a body that is not JSON. If the answer is 401, the listener refused a correct signature or token.",
    fix: STRICT_JSON,
    build: (kit) => kit.signed({ body }),
  });
}

/** Probes about the body: whether it is the signed one, and whether it is JSON. */
export const BODY_PROBES: readonly ProbeDefinition[] = [
  refuses(401, {
    id: "body-changed",
    title: "one byte of the body changed after signing",
    section: "5.2",
    means: "Everybody between sender and listener can change an event.",
    fix: OVER_BYTES,
    build: async (kit) => ({ ...(await kit.signed()), body: utf8('{"type":"hookproof.prob3"}') }),
  }),
  refuses(401, {
    id: "body-reserialised",
    title: "a body with other spacing than the signed one",
    section: "5.2",
    means: "The body is parsed and serialised again before it is verified.",
    fix: OVER_BYTES,
    build: async (kit) => ({
      ...(await kit.signed({ body: '{"type": "hookproof.probe"}' })),
      body: utf8('{"type":"hookproof.probe"}'),
    }),
  }),
  refuses(401, {
    id: "body-newline-added",
    title: "a newline at the body's end that was not signed",
    section: "5.2",
    means: "The body is trimmed before it is verified.",
    fix: OVER_BYTES,
    build: async (kit) => ({ ...(await kit.signed()), body: utf8('{"type":"hookproof.probe"}\n') }),
  }),
  refuses(401, {
    id: "event-id-changed",
    title: "another event id than the signed one",
    section: "5.2",
    means: "A recorded request can be sent with new ids, and runs the automation each time.",
    fix: "Verify over the Webhook-Event-Id header as received (tokens: compare it with jti).",
    build: async (kit) => replaced(await kit.signed(), EVENT_ID_HEADER, newEventId()),
  }),
  refuses(401, {
    id: "body-not-json-bad-proof",
    title: "a body that is not JSON, signed with a wrong secret or key",
    section: "4.10",
    listenerChoice: "status",
    decision: "R1",
    means: "The body is parsed before authentication, so that anybody can attack the parser.",
    fix: "Authenticate over the bytes first, and parse afterwards.",
    build: (kit) => kit.signedWithWrongKey({ body: "{not json" }),
  }),
  refuses(413, {
    id: "body-too-large",
    title: "a body of 65,537 bytes",
    section: "8",
    listenerChoice: "status",
    decision: "R4",
    means: "The listener has no limit, or a higher one, or counts characters.",
    fix: "Count the bytes while they arrive, and answer 413 after 65,536.",
    // Fewer characters than 65,536.
    build: (kit) => kit.signed({ body: utf8(`"${"\u00e9".repeat(MAX_BODY_BYTES / 2 - 1)}a"`) }),
  }),
  refuses(413, {
    id: "body-1-mb",
    title: "a body of one million bytes",
    section: "8",
    listenerChoice: "status",
    decision: "R4",
    means: "Anybody can make the listener use a lot of memory.",
    fix: "Count the bytes while they arrive, and answer 413 after 65,536.",
    build: (kit) => kit.signed({ body: utf8(`"${"a".repeat(999_998)}"`) }),
  }),
  notJson("body-not-json", "a body that is not JSON, correctly signed", "{not json"),
  notJson("body-empty", "an empty body, correctly signed", ""),
  notJson("body-truncated", "a body that ends in the middle", '{"type":"hookproof'),
  notJson("body-two-values", "a body of two JSON values", "{} {}"),
  notJson("body-trailing-comma", "a body with a trailing comma", '{"a":1,}'),
  notJson("body-single-quotes", "a body in single quotes", "{'a':1}"),
  notJson("body-nan", "a body that is NaN, which some parsers accept", '{"a":NaN}'),
  notJson("body-form", "a body in the form a=1&b=2", "a=1&b=2"),
  notJson("body-control-character", "a body with a raw newline inside a text", '"a\nb"'),
  notJson(
    "body-not-utf8",
    "a body that is not UTF-8",
    concatBytes([utf8('{"a":"'), Uint8Array.of(0xff, 0xfe), utf8('"}')]),
  ),
  notJson(
    "body-utf16",
    "a body in UTF-16",
    Uint8Array.from([...'{"a":1}'].flatMap((one) => [one.charCodeAt(0), 0])),
  ),
  {
    ...notJson("body-byte-order-mark", "a body with a byte order mark", '\uFEFF{"a":1}'),
    listenerChoice: "refusal",
    decision: "R9, RFC 8259 section 8.1",
  },
];
