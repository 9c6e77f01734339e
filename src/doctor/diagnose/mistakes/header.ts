import { AUTHORIZATION_HEADER } from "../../../core/headers.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../../../schemes/access-governance/protocol.js";
import type { MistakeRow } from "../../rows/mistake.js";

const SECONDS = "Send Unix seconds: String(Math.floor(Date.now() / 1000)). In Python str(int(time.time())).";
const UUID = "Send a UUID of version 4: newEventId(), crypto.randomUUID(), in Python str(uuid.uuid4()).";
const JSON_TYPE = "Send Content-Type: application/json. With curl: -H 'Content-Type: application/json'.";

/** What goes wrong with method and path (specification 4.10). */
export const TARGET_MISTAKES = {
  method: {
    id: "method-not-post",
    title: "Another method than POST",
    message: "The request is not a POST.",
    fix: "Use fetch(url, { method: 'POST', headers, body }). A redirect that was followed turns a POST into a GET.",
  },
  path: {
    id: "url-not-of-listener",
    title: "Another path than the listener's",
    message:
      "The path is not the listener's: /api/v1/webhooks/incoming/ and the listener's id, without a slash at its end.",
    fix: "Copy the URL from the trigger's configuration, character by character.",
  },
} satisfies Record<string, MistakeRow>;

/** What goes wrong in the headers that every request has, and in the body itself (specification 4.10, 5.2 and 7). */
export const HEADER_MISTAKES = {
  headerMisnamed: {
    id: "header-misnamed",
    title: "A header under another name",
    message: "A header has the name it has in another scheme.",
    fix: "Use the names Webhook-Timestamp, Webhook-Event-Id and Webhook-Signature, or Authorization.",
    listener: {
      family: "headers",
      accepts: "requests with a header under another name",
      bug: "it reads another header",
    },
  },
  headerTwice: {
    id: "header-twice",
    title: "A header sent twice",
    message: "A header is there more than once.",
    fix: "Set it once: headers.set(name, value), not headers.append(name, value). Look for a proxy that adds it.",
  },
  timestampMissing: {
    id: "timestamp-missing",
    title: "No Webhook-Timestamp",
    message: "The header Webhook-Timestamp is missing.",
    fix: `${SECONDS} Look for a proxy that drops headers.`,
  },
  timestampMilliseconds: {
    id: "timestamp-milliseconds",
    title: "Timestamp in milliseconds",
    message: "Webhook-Timestamp is in milliseconds. It must be in seconds.",
    fix: SECONDS,
    listener: {
      family: "time",
      accepts: "timestamps in milliseconds",
      bug: "it takes Webhook-Timestamp for milliseconds, and it has seconds",
    },
  },
  timestampTooFine: {
    id: "timestamp-too-fine",
    title: "Timestamp in micro- or nanoseconds",
    message: "Webhook-Timestamp is in microseconds or nanoseconds. It must be in seconds.",
    fix: SECONDS,
  },
  timestampFraction: {
    id: "timestamp-fraction",
    title: "Timestamp with decimals",
    message: "Webhook-Timestamp has decimals. It must be in whole seconds.",
    fix: SECONDS,
  },
  timestampDate: {
    id: "timestamp-date",
    title: "A date as timestamp",
    message: "Webhook-Timestamp is a date. It must be a Unix time in seconds.",
    fix: SECONDS,
  },
  timestampMalformed: {
    id: "timestamp-malformed",
    title: "Not a timestamp",
    message: "Webhook-Timestamp is not a Unix time: digits only, without sign, leading zero or white space.",
    fix: SECONDS,
  },
  timestampStale: {
    id: "timestamp-stale",
    title: "Timestamp too old",
    message: "Webhook-Timestamp lies more than 5 minutes in the past.",
    fix: "Sign each attempt anew, with a fresh timestamp and the same event id, and set the clocks: timedatectl status.",
  },
  timestampAhead: {
    id: "timestamp-ahead",
    title: "Timestamp in the future",
    message: "Webhook-Timestamp lies more than 5 minutes in the future.",
    fix: "Set the sender's clock: timedatectl status. Take the time in UTC: Date.now(), in Python time.time().",
  },
  eventIdMissing: {
    id: "event-id-missing",
    title: "No Webhook-Event-Id",
    message: "The header Webhook-Event-Id is missing.",
    fix: UUID,
  },
  eventIdWrapped: {
    id: "event-id-wrapped",
    title: "Something around the event id",
    message: "Webhook-Event-Id has braces, quotes, white space or urn:uuid: around the UUID.",
    fix: 'Send the 36 characters alone. In C# id.ToString("D").',
  },
  eventIdWithoutHyphens: {
    id: "event-id-without-hyphens",
    title: "Event id without hyphens",
    message: "Webhook-Event-Id is a UUID without its hyphens.",
    fix: "Send it with hyphens: crypto.randomUUID(). In Python str(uuid.uuid4()), not .hex.",
  },
  eventIdNotV4: {
    id: "event-id-not-v4",
    title: "Event id of another version",
    message: "Webhook-Event-Id is a UUID, but not of version 4.",
    fix: UUID,
  },
  eventIdMalformed: {
    id: "event-id-malformed",
    title: "Not an event id",
    message: "Webhook-Event-Id is not a UUID.",
    fix: `${UUID} Keep an id of your own in the body.`,
  },
  contentTypeMissing: {
    id: "content-type-missing",
    title: "No Content-Type",
    message: "The header Content-Type is missing.",
    fix: JSON_TYPE,
  },
  contentType: {
    id: "content-type-other",
    title: "Another Content-Type",
    message: "Content-Type is not application/json.",
    fix: JSON_TYPE,
  },
  contentEncoding: {
    id: "content-encoding",
    title: "A compressed body",
    message: "The body has a Content-Encoding. It must be sent as it is.",
    fix: "Turn compression off for this request, and do not send Content-Encoding.",
  },
  bodyTooLarge: {
    id: "body-too-large",
    title: "Body too large",
    message: "The body has more than 65,536 bytes.",
    fix: "Send an id, and let the automation fetch the rest.",
  },
  bodyWithBom: {
    id: "body-begins-with-bom",
    title: "Body with a byte order mark",
    message: "The body begins with a byte order mark, which JSON must not have.",
    fix: "Write UTF-8 without it: in C# new UTF8Encoding(false), in Python encoding='utf-8'.",
  },
  bodyNotUtf8: {
    id: "body-in-other-encoding",
    title: "Body not in UTF-8",
    message: "The body is not valid UTF-8.",
    fix: "Encode it as UTF-8: new TextEncoder().encode(body).",
  },
  bodyNotJson: {
    id: "body-not-json",
    title: "Body not JSON",
    message: "The body is not one JSON value.",
    fix: "Send JSON: JSON.stringify(payload). With curl: --data-binary @body.json.",
  },
} satisfies Record<string, MistakeRow>;

/** Other names for our headers: those of other schemes, and typing mistakes. */
export const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  [TIMESTAMP_HEADER]: others(
    "timestamp",
    "Webhook_Timestamp",
    "WebhookTimestamp",
    "X-Request-Timestamp",
    "X-Slack-Request-Timestamp",
  ),
  [EVENT_ID_HEADER]: [
    ...others("id", "Webhook_Event_Id", "WebhookEventId", "X-Event-Id", "Event-Id", "Idempotency-Key"),
    ...others("event-id"),
    "X-GitHub-Delivery",
  ],
  [SIGNATURE_HEADER]: others(
    "signature",
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
  ],
};

function others(part: string, ...more: string[]): string[] {
  return [`Webhook-${part}`, `X-Webhook-${part}`, `Svix-${part}`, ...more];
}
