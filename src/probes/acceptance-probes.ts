import { utf8 } from "../primitives/bytes.js";
import { CONTENT_TYPE_HEADER } from "../protocol/headers.js";
import { MAX_BODY_BYTES } from "../protocol/limits.js";
import { replaced } from "./craft.js";
import { accepts, type Recipe } from "./recipe.js";

const EXACT_BYTES = "Verify over the bytes as received, before any parsing, and accept every JSON value.";

/** A JSON value with this many levels. */
const DEPTH = 32_000;

/** Correct requests of either method: a correct listener accepts each of them and runs its automation. */
export const ACCEPTANCE_PROBES: readonly Recipe[] = [
  accepts({
    id: "correct-request",
    title: "a correct request",
    section: "4.10",
    means: "The listener does not take what it should; all other results say little until it does.",
    fix: "Check the listener's id, its secret or key set, and that the automation is published and its trigger enabled.",
    build: (craft) => craft.signed(),
  }),
  accepts({
    id: "timestamp-300-s-old",
    title: "a timestamp that is exactly 300 s old",
    section: "5.2",
    boundary: true,
    means: "The window is narrower than 5 minutes, and slow deliveries are lost.",
    fix: "Accept a timestamp if abs(now - timestamp) <= 300, in whole seconds.",
    build: (craft) => craft.signed({ timestamp: String(craft.nowSeconds - 300) }),
  }),
  accepts({
    id: "timestamp-300-s-ahead",
    title: "a timestamp that is exactly 300 s ahead",
    section: "5.2",
    boundary: true,
    means:
      "The window is narrower than 5 minutes on the side of the future, where senders with fast clocks are.",
    fix: "Accept a timestamp if abs(now - timestamp) <= 300, in whole seconds.",
    build: (craft) => craft.signed({ timestamp: String(craft.nowSeconds + 300) }),
  }),
  accepts({
    id: "event-id-upper-case",
    title: "an event id in upper case",
    section: "5.2",
    leftOpen: "refusal",
    decision: "R10",
    means: "UUIDs are compared without case (RFC 9562 section 4).",
    fix: "Lower-case the event id before it is looked up; sign and verify it as received.",
    build: (craft) => craft.signed({ eventId: craft.eventId.toUpperCase() }),
  }),
  accepts({
    id: "header-names-lower-case",
    title: "header names in lower case",
    section: "5.2",
    means: "Header names have no case (RFC 9110 section 5.1), and HTTP/2 sends them in lower case.",
    fix: "Look headers up without case.",
    async build(craft) {
      const request = await craft.signed();
      return { ...request, headers: request.headers.map(([name, value]) => [name.toLowerCase(), value]) };
    },
  }),
  accepts({
    id: "content-type-charset",
    title: "Content-Type: application/json; charset=utf-8",
    section: "5.2",
    leftOpen: "refusal",
    decision: "R7",
    means: "Many clients add the parameter.",
    fix: "Compare the media type only, without its parameters.",
    build: async (craft) =>
      replaced(await craft.signed(), CONTENT_TYPE_HEADER, "application/json; charset=utf-8"),
  }),
  accepts({
    id: "body-scalar",
    title: "a body that is a text, not an object",
    section: "4.10",
    means: "The body is any valid JSON; this listener wants an object.",
    fix: EXACT_BYTES,
    build: (craft) => craft.signed({ body: '"hookproof.probe"' }),
  }),
  accepts({
    id: "body-null",
    title: "a body that is null",
    section: "4.10",
    means: "The body is any valid JSON, null too; this listener takes null for a missing body.",
    fix: EXACT_BYTES,
    build: (craft) => craft.signed({ body: "null" }),
  }),
  accepts({
    id: "body-exact-bytes",
    title: "a body with unusual spacing, escapes, member order and a newline at its end",
    section: "5.2",
    means: "The listener verifies a body that was parsed and written anew, so correct signatures fail.",
    fix: EXACT_BYTES,
    build: (craft) =>
      craft.signed({
        body: '{ "z" : 1.0e2 ,\r\n\t"a":"caf\\u00e9 \\/ caf\u00e9 \u{1F512}","2":0,"1":-0 }\n',
      }),
  }),
  accepts({
    id: "body-proto-member",
    title: "a body with the members __proto__ and constructor",
    section: "4.10",
    means: "Such members are ordinary JSON.",
    fix: "Keep the parsed body apart from objects with a prototype that code relies on; refuse nothing.",
    build: (craft) =>
      craft.signed({ body: '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}' }),
  }),
  accepts({
    id: "body-deeply-nested",
    title: `a body of ${DEPTH.toLocaleString("en")} nested arrays`,
    section: "4.10",
    leftOpen: "refusal",
    decision: "RFC 8259 section 9",
    means: "A parser may set limits, but must not fail with a server error.",
    fix: "Catch the parser's own error of depth and answer 400, or parse without recursion.",
    build: (craft) => craft.signed({ body: "[".repeat(DEPTH) + "]".repeat(DEPTH) }),
  }),
  accepts({
    id: "body-64-kb",
    title: "a body of exactly 65,536 bytes",
    section: "8",
    leftOpen: "refusal",
    decision: "R4",
    means: "64 KB is read as less than 65,536 bytes, or a body parser in front has a limit of its own.",
    fix: "Allow 65,536 bytes, in every proxy and body parser on the way.",
    build: (craft) => craft.signed({ body: utf8(`"${"a".repeat(MAX_BODY_BYTES - 2)}"`) }),
  }),
];
