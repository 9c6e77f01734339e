import { newEventId } from "../protocol/event-id.js";
import { CONTENT_TYPE_HEADER, EVENT_ID_HEADER, TIMESTAMP_HEADER } from "../protocol/headers.js";
import { listenerUrl } from "../protocol/listener-url.js";
import { added, type Craft, partsOf, replaced, requestOf, without } from "./craft.js";
import { type Recipe, refuses } from "./recipe.js";

const WINDOW = "Refuse a timestamp unless abs(now - timestamp) <= 300, in whole seconds.";
const SPELLING =
  "Take the timestamp only if it matches ^(0|[1-9][0-9]{0,14})$: number parsers accept more than they should.";
const ONE_LINE = "Read all lines of the header and refuse more than one.";
const UUID_V4 = "Take the id only if it is a UUID of version 4 and of the RFC's variant.";

/** A correctly proved request with this timestamp. */
function timed(timestamp: (now: number) => string) {
  return (craft: Craft) => craft.signed({ timestamp: timestamp(craft.nowSeconds) });
}

function spelled(id: string, title: string, timestamp: (now: number) => string): Recipe {
  return refuses(400, {
    id,
    title,
    section: "5.2",
    leftOpen: "refusal",
    decision: "R5",
    means: "A timestamp has several spellings, and each signs differently from what it means.",
    fix: SPELLING,
    build: timed(timestamp),
  });
}

function badEventId(id: string, title: string, spell: (eventId: string) => string): Recipe {
  return refuses(400, {
    id,
    title,
    section: "7",
    means: "The listener takes event ids that are not a UUID v4.",
    fix: UUID_V4,
    build: (craft) => craft.signed({ eventId: spell(craft.eventId) }),
  });
}

const withDigit = (eventId: string, at: number, digit: string) =>
  eventId.slice(0, at) + digit + eventId.slice(at + 1);

/** Probes about the method, the address and every header but the proof. Each is correctly proved. */
export const HEADER_PROBES: readonly Recipe[] = [
  refuses(404, {
    id: "listener-unknown",
    title: "a correct request to a listener id that nobody has",
    section: "4.10",
    leftOpen: "status",
    decision: "R2",
    means: "Any listener id is taken, and with it another listener's secret or key.",
    fix: "Look the listener up by its id first; answer 404 where there is none.",
    build: (craft) => craft.signed({ url: listenerUrl(craft.baseUrl, `lst_${newEventId()}`) }),
  }),
  refuses(405, {
    id: "method-get",
    title: "GET with correct headers and no body",
    section: "4.10",
    leftOpen: "refusal",
    decision: "R2",
    means: "Links and crawlers reach the listener.",
    fix: "Take POST only; answer anything else with 405 and Allow: POST.",
    async build(craft) {
      const { url, headers } = await craft.signed({ body: "" });
      return { method: "GET", url, headers };
    },
  }),
  refuses(405, {
    id: "method-put",
    title: "a correct request with PUT instead of POST",
    section: "4.10",
    leftOpen: "status",
    decision: "R2",
    means: "Other methods than POST run the automation.",
    fix: "Take POST only; answer anything else with 405 and Allow: POST.",
    build: async (craft) => ({ ...(await craft.signed()), method: "PUT" }),
  }),
  refuses(400, {
    id: "timestamp-missing",
    title: "no Webhook-Timestamp",
    section: "7",
    means: "Without a timestamp a recorded request can be replayed for ever.",
    fix: "Answer 400 where the header is missing, before the proof is checked.",
    build: async (craft) => without(await craft.signed(), TIMESTAMP_HEADER),
  }),
  refuses(400, {
    id: "event-id-missing",
    title: "no Webhook-Event-Id",
    section: "7",
    means: "Without an event id duplicates cannot be recognised.",
    fix: "Answer 400 where the header is missing, before the proof is checked.",
    build: async (craft) => without(await craft.signed(), EVENT_ID_HEADER),
  }),
  refuses(400, {
    id: "content-type-missing",
    title: "no Content-Type",
    section: "7",
    means: "The header is required.",
    fix: "Answer 400 where the header is missing.",
    build: async (craft) => without(await craft.signed(), CONTENT_TYPE_HEADER),
  }),
  refuses(415, {
    id: "content-type-text",
    title: "Content-Type: text/plain",
    section: "5.2",
    leftOpen: "refusal",
    decision: "R7",
    means: "A browser can send this type across sites without being asked for permission.",
    fix: "Take application/json only, with any parameters.",
    build: async (craft) => replaced(await craft.signed(), CONTENT_TYPE_HEADER, "text/plain"),
  }),
  refuses(415, {
    id: "content-encoding-gzip",
    title: "Content-Encoding: gzip on a plain body",
    section: "5.2",
    leftOpen: "refusal",
    decision: "R7",
    means: "A body that is unpacked is not the one that was signed, and may unpack to gigabytes.",
    fix: "Refuse every Content-Encoding.",
    build: async (craft) => added(await craft.signed(), "Content-Encoding", "gzip"),
  }),
  refuses(400, {
    id: "timestamp-too-old",
    title: "a timestamp of an hour ago",
    section: "7",
    means: "A recorded request can be replayed as long as its event id is not remembered.",
    fix: WINDOW,
    build: timed((now) => String(now - 3600)),
  }),
  refuses(400, {
    id: "timestamp-too-far-ahead",
    title: "a timestamp of an hour ahead",
    section: "7",
    means: "Only the past is checked: a request can be signed today and used at a later time.",
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
    means: "The window is wider than 5 minutes on the side of the future.",
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
    means: "The listener takes other forms than Unix seconds.",
    fix: SPELLING,
    build: timed((now) => new Date(now * 1000).toISOString()),
  }),
  refuses(400, {
    id: "timestamp-empty",
    title: "an empty Webhook-Timestamp",
    section: "7",
    means: "An empty text counts as 0 or as no limit.",
    fix: SPELLING,
    build: timed(() => ""),
  }),
  refuses(400, {
    id: "timestamp-400-digits",
    title: "a timestamp of 400 digits",
    section: "7",
    means: "A number too large to compare is taken, or breaks the comparison.",
    fix: SPELLING,
    build: timed(() => "9".repeat(400)),
  }),
  refuses(400, {
    id: "timestamp-nan",
    title: "the timestamp NaN",
    section: "7",
    means: "No comparison with NaN is ever true, so a check for being too old lets it through.",
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
    leftOpen: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: ONE_LINE,
    build: async (craft) => added(await craft.signed(), TIMESTAMP_HEADER, String(craft.nowSeconds - 1)),
  }),
  refuses(400, {
    id: "event-id-sent-twice",
    title: "Webhook-Event-Id twice, the signed one first",
    section: "5.2",
    leftOpen: "refusal",
    decision: "R6",
    means: "A proxy and the listener may read different lines.",
    fix: ONE_LINE,
    build: async (craft) => added(await craft.signed(), EVENT_ID_HEADER, newEventId()),
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
    fix: "Answer 401 where the header of the listener's method is missing.",
    build: (craft) => requestOf(partsOf(craft)),
  }),
  refuses(401, {
    id: "proof-of-other-method",
    title: "only the header of the other method",
    section: "5.2",
    means: "The request chooses the method, and with it the weaker check.",
    fix: "Authenticate by the method the listener is configured with, and by no other.",
    build: (craft) => requestOf(partsOf(craft), craft.otherMethod()),
  }),
];
