// Rows of what goes wrong with method, path and headers.
import { isEventId } from "../../../core/event.js";
import { AUTHORIZATION_HEADER, CONTENT_TYPE_HEADER, type ReceivedHeaders } from "../../../core/headers.js";
import { isTimestamp, MAX_BODY_BYTES, TIMESTAMP_TOLERANCE_SECONDS } from "../../../core/protocol.js";
import { countOf } from "../../../core/shown.js";
import { listenerIdOf } from "../../../schemes/access-governance/listener-url.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../../../schemes/access-governance/protocol.js";
import type { FoundMistake, MistakeRow } from "../../rows/mistake.js";
import { hasVariable, isNotText } from "../../texts/variables.js";

const SECONDS = "Send Unix seconds: String(Math.floor(Date.now() / 1000)). In Python str(int(time.time())).";
const UUID = "Send a UUID of version 4: newEventId(), crypto.randomUUID(), in Python str(uuid.uuid4()).";
const JSON_TYPE = "Send Content-Type: application/json. With curl: -H 'Content-Type: application/json'.";

/** A request's method and path, and the listener that it is for. */
interface Target {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly listenerId: string | undefined;
}

/** What goes wrong with method and path, as far as both sides are known (specification 4.10). */
export const TARGET_MISTAKES: readonly FoundMistake<Target>[] = [
  {
    id: "method-not-post",
    title: "Another method than POST",
    message: "The request is not a POST.",
    fix: "Use fetch(url, { method: 'POST', headers, body }). A redirect that was followed turns a POST into a GET.",
    find: ({ method }) => method !== undefined && method !== "POST",
  },
  {
    id: "url-not-of-listener",
    title: "Another path than the listener's",
    message:
      "The path is not the listener's: /api/v1/webhooks/incoming/ and the listener's id, without a slash at its end.",
    fix: "Copy the URL from the trigger's configuration, character by character.",
    find: ({ url, listenerId }) =>
      url !== undefined && listenerId !== undefined && listenerIdOf(url) !== listenerId,
  },
];

/** A header has the name of another scheme's, which is in `OTHER_NAMES`. */
export const HEADER_MISNAMED: MistakeRow = {
  id: "header-misnamed",
  title: "A header under another name",
  message: "A header has the name it has in another scheme.",
  fix: "Use the names Webhook-Timestamp, Webhook-Event-Id and Webhook-Signature, or Authorization.",
  listener: {
    family: "headers",
    accepts: "requests with a header under another name",
    bug: "it reads another header",
  },
};

/** A header that must be there once is there more often. */
export const HEADER_TWICE: MistakeRow = {
  id: "header-twice",
  title: "A header sent twice",
  message: "A header is there more than once.",
  fix: "Set it once: headers.set(name, value), not headers.append(name, value). Look for a proxy that adds it.",
};

/** A header that must be there once, and what goes wrong with its value: the first that is found says it. */
interface HeaderMistakes {
  readonly name: string;
  readonly missing: MistakeRow;
  readonly forms: readonly FoundMistake<string>[];
}

/** The timestamp as it is written (specification 5.2 and 7). */
export const TIMESTAMP: HeaderMistakes = {
  name: TIMESTAMP_HEADER,
  missing: {
    id: "timestamp-missing",
    title: "No Webhook-Timestamp",
    message: "The header Webhook-Timestamp is missing.",
    fix: `${SECONDS} Look for a proxy that drops headers.`,
  },
  forms: [
    {
      id: "timestamp-not-filled-in",
      title: "Timestamp not filled in",
      message:
        "Webhook-Timestamp is a variable that was not filled in, such as {{timestamp}}, or the text of a value that is missing.",
      fix: SECONDS,
      find: isNotFilledIn,
    },
    {
      id: "timestamp-milliseconds",
      title: "Timestamp in milliseconds",
      message: "Webhook-Timestamp is in milliseconds. It must be in seconds.",
      fix: SECONDS,
      listener: {
        family: "time",
        accepts: "timestamps in milliseconds",
        bug: "it takes Webhook-Timestamp for milliseconds, and it has seconds",
      },
      find: (text) => /^[0-9]{12,14}$/.test(text),
    },
    {
      id: "timestamp-too-fine",
      title: "Timestamp in micro- or nanoseconds",
      message: "Webhook-Timestamp is in microseconds or nanoseconds. It must be in seconds.",
      fix: SECONDS,
      find: (text) => /^[0-9]{15,20}$/.test(text),
    },
    {
      id: "timestamp-fraction",
      title: "Timestamp with decimals",
      message: "Webhook-Timestamp has decimals. It must be in whole seconds.",
      fix: SECONDS,
      find: (text) => /^[0-9]+\.[0-9]*$/.test(text),
    },
    {
      id: "timestamp-date",
      title: "A date as timestamp",
      message: "Webhook-Timestamp is a date. It must be a Unix time in seconds.",
      fix: SECONDS,
      find: (text) => /[-:,a-z]/i.test(text) && !Number.isNaN(Date.parse(text)),
    },
    {
      id: "timestamp-malformed",
      title: "Not a timestamp",
      message:
        "Webhook-Timestamp is not a Unix time: digits only, without sign, leading zero or white space.",
      fix: SECONDS,
      find: (text) => !isTimestamp(text),
    },
  ],
};

/** Every recorded request comes to this after some time. */
export const TIMESTAMP_STALE: FoundMistake<number> = {
  id: "timestamp-stale",
  title: "Timestamp too old",
  message: "Webhook-Timestamp lies more than 5 minutes in the past.",
  fix: "Sign each attempt again, with a fresh timestamp and the same event id, and set the clocks: date +%s prints one.",
  listener: {
    family: "clock",
    accepts: "those with a timestamp of the past",
    bug: "its clock is behind, or it takes a local time for UTC",
  },
  find(age) {
    return age > TIMESTAMP_TOLERANCE_SECONDS && `${this.message} It is ${age} s old${inHours(age)}.`;
  },
};

/** The timestamp's age in seconds. */
export const AGE_MISTAKES: readonly FoundMistake<number>[] = [
  TIMESTAMP_STALE,
  {
    id: "timestamp-ahead",
    title: "Timestamp in the future",
    message: "Webhook-Timestamp lies more than 5 minutes in the future.",
    fix: "Set the sender's clock: date +%s prints it. Take the time in UTC: Math.floor(Date.now() / 1000), in Python int(time.time()).",
    listener: {
      family: "clock",
      accepts: "those with a timestamp yet to come",
      bug: "its clock is ahead, or it takes a local time for UTC",
    },
    find(age) {
      return age < -TIMESTAMP_TOLERANCE_SECONDS && `${this.message} It is ${-age} s ahead${inHours(-age)}.`;
    },
  },
];

/** The event id as it is written. */
const EVENT_ID: HeaderMistakes = {
  name: EVENT_ID_HEADER,
  missing: {
    id: "event-id-missing",
    title: "No Webhook-Event-Id",
    message: "The header Webhook-Event-Id is missing.",
    fix: UUID,
  },
  forms: [
    {
      id: "event-id-not-filled-in",
      title: "Event id not filled in",
      message:
        "Webhook-Event-Id is a variable that was not filled in, such as {{$guid}}, or the text of a value that is missing.",
      fix: UUID,
      find: isNotFilledIn,
    },
    {
      id: "event-id-wrapped",
      title: "Something around the event id",
      message: "Webhook-Event-Id has braces, quotes, white space or urn:uuid: around the UUID.",
      fix: 'Send the 36 characters alone. In C# id.ToString("D").',
      find: (text) => !isEventId(text) && isEventId(bare(text)),
    },
    {
      id: "event-id-without-hyphens",
      title: "Event id without hyphens",
      message: "Webhook-Event-Id is a UUID without its hyphens.",
      fix: "Send it with hyphens: crypto.randomUUID(). In Python str(uuid.uuid4()), not .hex.",
      find: (text) => /^[0-9a-f]{32}$/i.test(bare(text)),
    },
    {
      id: "event-id-not-v4",
      title: "Event id of another version",
      message: "Webhook-Event-Id is a UUID, but not of version 4.",
      fix: UUID,
      find: (text) => !isEventId(text) && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(bare(text)),
    },
    {
      id: "event-id-malformed",
      title: "Not an event id",
      message: "Webhook-Event-Id is not a UUID.",
      fix: `${UUID} Keep an id of your own in the body.`,
      find: (text) => !isEventId(text),
    },
  ],
};

/** The type of the body. */
export const CONTENT_TYPE: HeaderMistakes = {
  name: CONTENT_TYPE_HEADER,
  missing: {
    id: "content-type-missing",
    title: "No Content-Type",
    message: "The header Content-Type is missing.",
    fix: JSON_TYPE,
  },
  forms: [
    {
      id: "content-type-other",
      title: "Another Content-Type",
      message: "Content-Type is not application/json.",
      fix: JSON_TYPE,
      find: (text) => !/^[ \t]*application\/json[ \t]*(?:;|$)/i.test(text),
    },
  ],
};

/** The headers that every request has. */
export const HEADERS = [TIMESTAMP, EVENT_ID, CONTENT_TYPE];

/** What no request has. */
export const EXTRA_HEADER_MISTAKES: readonly FoundMistake<ReceivedHeaders>[] = [
  {
    id: "content-encoding",
    title: "A compressed body",
    message: "The body has a Content-Encoding. It must be sent as it is.",
    fix: "Turn compression off for this request, and do not send Content-Encoding.",
    find: (headers) => headers.all("Content-Encoding").length > 0,
  },
];

/** What goes wrong with the headers of a body that is JSON, in every scheme. */
export const CONTENT_MISTAKES: readonly MistakeRow[] = [
  CONTENT_TYPE.missing,
  ...CONTENT_TYPE.forms,
  ...EXTRA_HEADER_MISTAKES,
];

/** A body, and why it is not one JSON value. */
interface Body {
  readonly body: Uint8Array;
  readonly fault: "not-utf8" | "not-json" | undefined;
}

/** What goes wrong with the body itself, even if its signature is right: the first that is found. */
export const BODY_MISTAKES: readonly FoundMistake<Body>[] = [
  {
    id: "body-too-large",
    title: "Body too large",
    message: "The body has more than 65,536 bytes.",
    fix: "Send an id, and let the automation fetch the rest.",
    find({ body: { length } }) {
      return length > MAX_BODY_BYTES && `${this.message} It has ${countOf(length, "byte")}.`;
    },
  },
  {
    id: "body-begins-with-bom",
    title: "Body with a byte order mark",
    message: "The body begins with a byte order mark, which JSON must not have.",
    fix: "Write UTF-8 without it: in C# new UTF8Encoding(false), in Python encoding='utf-8'.",
    find: ({ body }) => body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf,
  },
  {
    id: "body-in-other-encoding",
    title: "Body not in UTF-8",
    message: "The body is not valid UTF-8.",
    fix: "Encode it as UTF-8: new TextEncoder().encode(body).",
    find: ({ fault }) => fault === "not-utf8",
  },
  {
    id: "body-not-json",
    title: "Body not JSON",
    message: "The body is not one JSON value.",
    fix: "Send JSON: JSON.stringify(payload), or a file with curl --data-binary @body.json.",
    find: ({ fault }) => fault !== undefined,
  },
];

/** Every row of target, headers and body, in the order of the catalogue. */
export const REQUEST_MISTAKES: readonly MistakeRow[] = [
  ...TARGET_MISTAKES,
  HEADER_MISNAMED,
  HEADER_TWICE,
  TIMESTAMP.missing,
  ...TIMESTAMP.forms,
  ...AGE_MISTAKES,
  EVENT_ID.missing,
  ...EVENT_ID.forms,
  CONTENT_TYPE.missing,
  ...CONTENT_TYPE.forms,
  ...EXTRA_HEADER_MISTAKES,
  ...BODY_MISTAKES,
];

function isNotFilledIn(text: string): boolean {
  return hasVariable(text) || isNotText(text.trim());
}

/** Half an hour, and the most that a time zone differs from UTC. */
const [HALF_HOUR, MOST] = [1_800, 50_400];

/** The hours of a difference that a time zone explains: up to some seconds of the way whole or half ones. */
function inHours(seconds: number): string {
  const halves = Math.round(seconds / HALF_HOUR);
  if (halves < 1 || seconds > MOST || Math.abs(seconds - halves * HALF_HOUR) > 5) return "";
  return `, which is ${halves / 2} h: as if a local time was taken for UTC, as datetime.utcnow().timestamp() does in Python`;
}

/** An event id without what people put around it. */
function bare(text: string): string {
  return text.trim().replace(/^urn:uuid:|^[{"'(]|[}"')]$/gi, "");
}

/** Other names for our headers: those of other schemes, and typing mistakes. */
export const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  [TIMESTAMP_HEADER]: others(
    "Timestamp",
    "Webhook_Timestamp",
    "WebhookTimestamp",
    "X-Request-Timestamp",
    "X-Slack-Request-Timestamp",
  ),
  [EVENT_ID_HEADER]: [
    ...others("Id", "Webhook_Event_Id", "WebhookEventId", "X-Event-Id", "Event-Id", "Idempotency-Key"),
    ...others("Event-Id"),
    "X-GitHub-Delivery",
  ],
  [SIGNATURE_HEADER]: others(
    "Signature",
    "Webhook_Signature",
    "WebhookSignature",
    "X-Signature",
    "Signature",
    "X-Hub-Signature-256",
    "X-Hub-Signature",
    "Stripe-Signature",
  ),
  [AUTHORIZATION_HEADER]: [
    "X-Authorization",
    "Authorisation",
    "Proxy-Authorization",
    "X-Access-Token",
    "X-Auth-Token",
    "HTTP_AUTHORIZATION",
  ],
};

function others(part: string, ...more: string[]): string[] {
  // The last is the name of a CGI variable, which is no header's.
  const variable = `HTTP_WEBHOOK_${part.replaceAll("-", "_").toUpperCase()}`;
  return [`Webhook-${part}`, `X-Webhook-${part}`, `Svix-${part}`, ...more, variable];
}
