// Probes about method, address and headers.
import { newEventId } from "../../../core/event.js";
import { CONTENT_TYPE_HEADER } from "../../../core/headers.js";
import { listenerUrl } from "../../../schemes/access-governance/listener-url.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "../../../schemes/access-governance/protocol.js";
import { type ProbeDefinition, refuses } from "../probe.js";
import { added, partsOf, type RequestKit, replaced, requestOf, without } from "../requests.js";

const WINDOW = "Refuse a timestamp unless abs(now - timestamp) <= 300, in whole seconds.";
const SPELLING =
  "Accept the timestamp only if it matches ^(0|[1-9][0-9]{0,14})$: number parsers accept more than that.";
const ONE_LINE = "Read all lines of the header and refuse more than one.";
const UUID_V4 = "Accept the id only if it is a UUID of version 4 and of the RFC's variant.";

/** A correctly signed request with this timestamp. */
function timed(timestamp: (now: number) => string) {
  return (kit: RequestKit) => kit.signed({ timestamp: timestamp(kit.nowSeconds) });
}

function spelled(id: string, title: string, timestamp: (now: number) => string): ProbeDefinition {
  return refuses(400, {
    id,
    title,
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R5",
    means: "The listener accepts several spellings of one timestamp.",
    fix: SPELLING,
    build: timed(timestamp),
  });
}

function badEventId(id: string, title: string, spell: (eventId: string) => string): ProbeDefinition {
  return refuses(400, {
    id,
    title,
    section: "7",
    means: "The listener accepts event ids that are not a UUID v4.",
    fix: UUID_V4,
    build: (kit) => kit.signed({ eventId: spell(kit.eventId) }),
  });
}

const withDigit = (eventId: string, at: number, digit: string) =>
  eventId.slice(0, at) + digit + eventId.slice(at + 1);

/** Probes about the method, the address and all headers but the signature or token; each is correctly signed. */
export const HEADER_PROBES: readonly ProbeDefinition[] = [
  refuses(404, {
    id: "listener-unknown",
    title: "a correct request to a listener id that does not exist",
    section: "4.10",
    listenerChoice: "status",
    decision: "R2",
    means: "Any listener id is accepted, with another listener's secret or key.",
    fix: "Look the listener up by its id first; answer 404 if there is none.",
    build: (kit) => kit.signed({ url: listenerUrl(kit.baseUrl, `lst_${newEventId()}`) }),
  }),
  refuses(405, {
    id: "method-get",
    title: "GET with correct headers and no body",
    section: "4.10",
    listenerChoice: "refusal",
    decision: "R2",
    means: "Links and crawlers can call the listener.",
    fix: "Accept POST only; answer anything else with 405 and Allow: POST.",
    async build(kit) {
      const { url, headers } = await kit.signed({ body: "" });
      return { method: "GET", url, headers };
    },
  }),
  refuses(405, {
    id: "method-put",
    title: "a correct request with PUT instead of POST",
    section: "4.10",
    listenerChoice: "status",
    decision: "R2",
    means: "Other methods than POST run the automation.",
    fix: "Accept POST only; answer anything else with 405 and Allow: POST.",
    build: async (kit) => ({ ...(await kit.signed()), method: "PUT" }),
  }),
  refuses(400, {
    id: "timestamp-missing",
    title: "no Webhook-Timestamp",
    section: "7",
    means: "Without a timestamp a recorded request can be replayed for ever.",
    fix: "Answer 400 if the header is missing, before the signature or token is checked.",
    build: async (kit) => without(await kit.signed(), TIMESTAMP_HEADER),
  }),
  refuses(400, {
    id: "event-id-missing",
    title: "no Webhook-Event-Id",
    section: "7",
    means: "Without an event id duplicates cannot be recognised.",
    fix: "Answer 400 if the header is missing, before the signature or token is checked.",
    build: async (kit) => without(await kit.signed(), EVENT_ID_HEADER),
  }),
  refuses(400, {
    id: "content-type-missing",
    title: "no Content-Type",
    section: "7",
    means: "The header is required.",
    fix: "Answer 400 if the header is missing.",
    build: async (kit) => without(await kit.signed(), CONTENT_TYPE_HEADER),
  }),
  refuses(415, {
    id: "content-type-text",
    title: "Content-Type: text/plain",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R7",
    means: "A browser sends this type across sites without asking the server for permission.",
    fix: "Accept application/json only, with any parameters.",
    build: async (kit) => replaced(await kit.signed(), CONTENT_TYPE_HEADER, "text/plain"),
  }),
  refuses(415, {
    id: "content-encoding-gzip",
    title: "Content-Encoding: gzip on a plain body",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R7",
    means: "A decompressed body is not the signed one, and may grow to gigabytes.",
    fix: "Refuse every Content-Encoding.",
    build: async (kit) => added(await kit.signed(), "Content-Encoding", "gzip"),
  }),
  refuses(400, {
    id: "timestamp-too-old",
    title: "a timestamp of an hour ago",
    section: "7",
    means: "A recorded request can be replayed as soon as its event id is forgotten.",
    fix: WINDOW,
    build: timed((now) => String(now - 3600)),
  }),
  refuses(400, {
    id: "timestamp-too-far-ahead",
    title: "a timestamp of an hour ahead",
    section: "7",
    means: "Only the past is checked: a request can be signed today and sent much later.",
    fix: WINDOW,
    build: timed((now) => String(now + 3600)),
  }),
  refuses(400, {
    id: "timestamp-301-s-old",
    title: "a timestamp that is 301 s old",
    section: "5.2",
    boundary: true,
    means: "The window is wider than 5 minutes.",
    fix: WINDOW,
    build: timed((now) => String(now - 301)),
  }),
  refuses(400, {
    id: "timestamp-301-s-ahead",
    title: "a timestamp that is 301 s ahead",
    section: "5.2",
    boundary: true,
    means: "The window is wider than 5 minutes for timestamps in the future.",
    fix: WINDOW,
    build: timed((now) => String(now + 301)),
  }),
  refuses(400, {
    id: "timestamp-in-milliseconds",
    title: "a timestamp in milliseconds",
    section: "5.2",
    means: "The listener guesses the unit, or does not compare with the clock at all.",
    fix: WINDOW,
    build: timed((now) => `${now}000`),
  }),
  refuses(400, {
    id: "timestamp-iso-date",
    title: "a timestamp as an ISO 8601 date",
    section: "5.2",
    means: "The listener accepts other forms than Unix seconds.",
    fix: SPELLING,
    build: timed((now) => new Date(now * 1000).toISOString()),
  }),
  refuses(400, {
    id: "timestamp-empty",
    title: "an empty Webhook-Timestamp",
    section: "7",
    means: "The listener treats an empty text as 0 or as no limit.",
    fix: SPELLING,
    build: timed(() => ""),
  }),
  refuses(400, {
    id: "timestamp-400-digits",
    title: "a timestamp of 400 digits",
    section: "7",
    means:
      "The listener accepts a number that is too large to compare, or the comparison fails with an error.",
    fix: SPELLING,
    build: timed(() => "9".repeat(400)),
  }),
  refuses(400, {
    id: "timestamp-nan",
    title: "the timestamp NaN",
    section: "7",
    means: "Every comparison with NaN is false, so a check for old timestamps lets it pass.",
    fix: SPELLING,
    build: timed(() => "NaN"),
  }),
  spelled("timestamp-plus-sign", "a timestamp with a plus sign", (now) => `+${now}`),
  spelled("timestamp-leading-zero", "a timestamp with a leading zero", (now) => `0${now}`),
  spelled("timestamp-fraction", "a timestamp with .0 at its end", (now) => `${now}.0`),
  spelled("timestamp-exponent", "a timestamp with an exponent", (now) => `${now}e0`),
  spelled("timestamp-hexadecimal", "a timestamp in hexadecimal", (now) => `0x${now.toString(16)}`),
  refuses(400, {
    id: "timestamp-sent-twice",
    title: "Webhook-Timestamp twice, the signed one first",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: ONE_LINE,
    build: async (kit) => added(await kit.signed(), TIMESTAMP_HEADER, String(kit.nowSeconds - 1)),
  }),
  refuses(400, {
    id: "event-id-sent-twice",
    title: "Webhook-Event-Id twice, the signed one first",
    section: "5.2",
    listenerChoice: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: ONE_LINE,
    build: async (kit) => added(await kit.signed(), EVENT_ID_HEADER, newEventId()),
  }),
  badEventId("event-id-empty", "an empty Webhook-Event-Id", () => ""),
  badEventId("event-id-not-a-uuid", "an event id that is a word", () => "event-1"),
  badEventId("event-id-nil", "the nil UUID", () => "00000000-0000-0000-0000-000000000000"),
  badEventId("event-id-max", "the max UUID", () => "ffffffff-ffff-ffff-ffff-ffffffffffff"),
  badEventId("event-id-version-1", "a UUID of version 1", (id) => withDigit(id, 14, "1")),
  badEventId("event-id-version-5", "a UUID of version 5", (id) => withDigit(id, 14, "5")),
  badEventId("event-id-version-7", "a UUID of version 7", (id) => withDigit(id, 14, "7")),
  badEventId("event-id-wrong-variant", "a UUID of another variant", (id) => withDigit(id, 19, "c")),
  badEventId("event-id-braces", "a UUID in braces", (id) => `{${id}}`),
  badEventId("event-id-urn", "a UUID as urn:uuid:", (id) => `urn:uuid:${id}`),
  badEventId("event-id-without-hyphens", "a UUID without hyphens", (id) => id.replaceAll("-", "")),
  refuses(401, {
    id: "proof-missing",
    title: "no Webhook-Signature or Authorization",
    section: "7",
    means: "Anybody can run the automation.",
    fix: "Answer 401 if the header of the listener's method is missing.",
    build: (kit) => requestOf(partsOf(kit)),
  }),
  refuses(401, {
    id: "proof-of-other-method",
    title: "only the header of the other method",
    section: "5.2",
    means: "The request chooses the method, so an attacker chooses the weaker one.",
    fix: "Authenticate with the method that the listener is configured with, and with no other.",
    build: (kit) => requestOf(partsOf(kit), kit.otherMethod()),
  }),
];
