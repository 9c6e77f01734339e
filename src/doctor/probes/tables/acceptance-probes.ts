// Probes with correct requests, and with ids that were processed.
import { utf8 } from "../../../core/bytes.js";
import { CONTENT_TYPE_HEADER } from "../../../core/headers.js";
import { MAX_BODY_BYTES } from "../../../core/protocol.js";
import { accepts, type ProbeDefinition, refuses } from "../probe.js";
import { replaced } from "../requests.js";

const EXACT_BYTES = "Verify over the bytes as received, before any parsing, and accept every JSON value.";

/** How many levels the deeply nested JSON value has. */
const DEPTH = 32_000;

/** Correct requests of either method: a correct listener accepts each of them and runs its automation. */
export const ACCEPTANCE_PROBES: readonly ProbeDefinition[] = [
  accepts({
    id: "correct-request",
    title: "a correct request",
    section: "4.10",
    means: "The listener refuses what it must accept; until it accepts it, all other results say little.",
    fix: "Check the listener's id, its secret or key set, and that the automation is published and its trigger enabled.",
    build: (kit) => kit.signed(),
  }),
  accepts({
    id: "timestamp-300-s-old",
    title: "a timestamp that is exactly 300 s old",
    section: "5.2",
    boundary: true,
    means: "The window is narrower than 5 minutes, so slow deliveries are refused.",
    fix: "Accept a timestamp if abs(now - timestamp) <= 300, in whole seconds.",
    build: (kit) => kit.signed({ timestamp: String(kit.nowSeconds - 300) }),
  }),
  accepts({
    id: "timestamp-300-s-ahead",
    title: "a timestamp that is exactly 300 s ahead",
    section: "5.2",
    boundary: true,
    means:
      "The window is narrower than 5 minutes for timestamps in the future, so senders with fast clocks are refused.",
    fix: "Accept a timestamp if abs(now - timestamp) <= 300, in whole seconds.",
    build: (kit) => kit.signed({ timestamp: String(kit.nowSeconds + 300) }),
  }),
  accepts({
    id: "event-id-upper-case",
    title: "an event id in upper case",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R10",
    means: "UUIDs are case-insensitive (RFC 9562 section 4).",
    fix: "Lower-case the event id before it is looked up; sign and verify it as received.",
    build: (kit) => kit.signed({ eventId: kit.eventId.toUpperCase() }),
  }),
  accepts({
    id: "header-names-lower-case",
    title: "header names in lower case",
    section: "5.2",
    means: "Header names are case-insensitive (RFC 9110 section 5.1), and HTTP/2 sends them in lower case.",
    fix: "Look headers up case-insensitively.",
    async build(kit) {
      const request = await kit.signed();
      return { ...request, headers: request.headers.map(([name, value]) => [name.toLowerCase(), value]) };
    },
  }),
  accepts({
    id: "content-type-charset",
    title: "Content-Type: application/json; charset=utf-8",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R7",
    means: "Many clients add the parameter.",
    fix: "Compare the media type only, not its parameters.",
    build: async (kit) =>
      replaced(await kit.signed(), CONTENT_TYPE_HEADER, "application/json; charset=utf-8"),
  }),
  accepts({
    id: "body-scalar",
    title: "a body that is a text, not an object",
    section: "4.10",
    means: "The body may be any valid JSON; this listener accepts objects only.",
    fix: EXACT_BYTES,
    build: (kit) => kit.signed({ body: '"hookproof.probe"' }),
  }),
  accepts({
    id: "body-null",
    title: "a body that is null",
    section: "4.10",
    means: "The body may be any valid JSON, also null; this listener treats null as a missing body.",
    fix: EXACT_BYTES,
    build: (kit) => kit.signed({ body: "null" }),
  }),
  accepts({
    id: "body-exact-bytes",
    title: "a body with unusual spacing, escapes, member order and a newline at its end",
    section: "5.2",
    means: "The listener verifies a body that was parsed and serialised again, so correct signatures fail.",
    fix: EXACT_BYTES,
    build: (kit) =>
      kit.signed({
        body: '{ "z" : 1.0e2 ,\r\n\t"a":"caf\\u00e9 \\/ caf\u00e9 \u{1F512}","2":0,"1":-0 }\n',
      }),
  }),
  accepts({
    id: "body-proto-member",
    title: "a body with the members __proto__ and constructor",
    section: "4.10",
    means: "These members are ordinary JSON.",
    fix: "Do not merge the parsed body into other objects; there is nothing to refuse.",
    build: (kit) => kit.signed({ body: '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}' }),
  }),
  accepts({
    id: "body-deeply-nested",
    title: "a body of 32,000 nested arrays",
    section: "4.10",
    listenerChoice: "refusal",
    decision: "RFC 8259 section 9",
    means: "A parser may set limits, but must not fail with a server error.",
    fix: "Catch the parser's error for deep nesting and answer 400, or parse without recursion.",
    build: (kit) => kit.signed({ body: "[".repeat(DEPTH) + "]".repeat(DEPTH) }),
  }),
  accepts({
    id: "body-64-kb",
    title: "a body of exactly 65,536 bytes",
    section: "8",
    listenerChoice: "refusal",
    decision: "R4",
    means: "The limit is lower than 65,536 bytes, or a body parser or proxy has a limit of its own.",
    fix: "Allow 65,536 bytes, in every proxy and body parser before the listener.",
    // Characters of two bytes, of which one stands on every place where a body may be cut into pieces.
    build: (kit) => kit.signed({ body: utf8(`"${"\u00e9".repeat(MAX_BODY_BYTES / 2 - 1)}"`) }),
  }),
];

const REMEMBER = "Keep processed ids for each listener for 7 days, and answer 409 before anything runs.";

/** Probes about processed event ids. The request that is sent before runs the automation. */
export const REPLAY_PROBES: readonly ProbeDefinition[] = [
  refuses(409, {
    id: "event-id-processed",
    title: "a processed event id again, freshly signed",
    section: "7",
    runsAutomation: true,
    before: { build: (kit) => kit.signed(), status: 200 },
    means: "The automation runs twice whenever a sender retries.",
    fix: REMEMBER,
    // A sender that tries again signs with the time of that moment.
    build: (kit) => kit.signed({ timestamp: String(kit.nowSeconds - 1) }),
  }),
  refuses(409, {
    id: "event-id-processed-other-body",
    title: "a processed event id again with another body, correctly signed",
    section: "6",
    runsAutomation: true,
    before: { build: (kit) => kit.signed(), status: 200 },
    means: "Duplicates are recognised by more than the event id, but the event id alone identifies an event.",
    fix: REMEMBER,
    build: (kit) => kit.signed({ body: '{"type":"hookproof.probe","n":2}' }),
  }),
  refuses(409, {
    id: "event-id-processed-other-case",
    title: "a processed event id again in lower case, first sent in upper case",
    section: "5.2",
    runsAutomation: true,
    listenerChoice: "refusal",
    decision: "R10",
    before: { build: (kit) => kit.signed({ eventId: kit.eventId.toUpperCase() }), status: 200 },
    means: "The same UUID in another spelling runs the automation again.",
    fix: "Lower-case the event id before it is looked up and stored.",
    build: (kit) => kit.signed(),
  }),
  refuses(401, {
    id: "event-id-processed-bad-proof",
    title: "a processed event id again, signed with a wrong secret or key",
    section: "4.10",
    runsAutomation: true,
    before: { build: (kit) => kit.signed(), status: 200 },
    means:
      "The event id is looked up before authentication, so anybody can find out which ids were processed.",
    fix: "Authenticate first, and only then look up the event id.",
    build: (kit) => kit.signedWithWrongKey(),
  }),
  accepts({
    id: "event-id-of-refused-request",
    title: "the event id of a request that was refused before, now correctly signed",
    section: "3",
    listenerChoice: "refusal",
    decision: "R11",
    before: { build: (kit) => kit.signedWithWrongKey(), status: 401 },
    means: "A refused request uses up its id, so anybody can prevent an event from being delivered.",
    fix: "Store the event id only once the event is accepted.",
    build: (kit) => kit.signed(),
  }),
  accepts({
    id: "event-id-copies-at-once",
    title: "five copies of one event at the same time; one is accepted, the others are 409 or 503",
    section: "6",
    copies: 5,
    means: "The id is looked up in one step and stored in another, and copies arrive in between.",
    fix: "Reserve the id in one atomic step (INSERT with a unique key, SET NX) before the automation runs.",
    build: (kit) => kit.signed(),
  }),
];
