import { isTimestamp } from "../../core/protocol.js";
import type { RepeatableMistake } from "../mistake.js";

/** A signing input with {t} for the timestamp, {i} for the event id and {b} for the body. */
export type Layout = string;

const SIGN = "Sign [timestamp, eventId, body].join('.')";

/** The right signing input (specification 5.2, HMAC method, step 2). */
export const RIGHT_LAYOUT: Layout = "{t}.{i}.{b}";

/** Wrong ways to put the signing input together. */
export const LAYOUT_MISTAKES: readonly RepeatableMistake<Layout>[] = [
  {
    id: "input-id-first",
    title: "Event id before the timestamp",
    message: "It matches if the event id comes before the timestamp, as in Standard Webhooks.",
    fix: `${SIGN}: the timestamp comes first.`,
    ways: [[1, "{i}.{t}.{b}"]],
  },
  {
    id: "input-without-id",
    title: "No event id in the signing input",
    message: "It matches if the event id is left out of the signing input.",
    fix: `${SIGN}, with the text of Webhook-Event-Id in the middle.`,
    ways: [
      [1, "{t}.{b}"],
      [2, "{t}{b}"],
      [3, "{t}..{b}"],
      [3, "{b}.{t}"],
      [3, "{t}:{b}"],
      [3, "v0:{t}:{b}"],
    ],
  },
  {
    id: "input-body-only",
    title: "Only the body is signed",
    message: "It matches if the body alone is signed, without timestamp and event id.",
    fix: `${SIGN}, not the body alone.`,
    ways: [[1, "{b}"]],
  },
  {
    id: "input-without-timestamp",
    title: "No timestamp in the signing input",
    message: "It matches if the timestamp is left out of the signing input.",
    fix: `${SIGN}, with the text of Webhook-Timestamp in front.`,
    ways: [
      [1, "{i}.{b}"],
      [3, ".{i}.{b}"],
      [3, "{i}{b}"],
      [3, "{b}.{i}"],
    ],
  },
  {
    id: "input-without-body",
    title: "No body in the signing input",
    message: "It matches if the signing input ends with the event id.",
    fix: `${SIGN}, with the exact body at its end.`,
    ways: [[2, "{t}.{i}"]],
  },
  {
    id: "input-other-order",
    title: "Another order of the three parts",
    message: "It matches if timestamp, event id and body are in another order.",
    fix: `${SIGN}: timestamp, event id, body.`,
    ways: [
      [2, "{t}.{b}.{i}"],
      [2, "{b}.{t}.{i}"],
      [3, "{b}.{i}.{t}"],
      [3, "{i}.{b}.{t}"],
    ],
  },
  {
    id: "input-no-separator",
    title: "No periods between the parts",
    message: "It matches if the three parts follow each other without the periods between them.",
    fix: `${SIGN}: the parts are joined by periods.`,
    ways: [
      [1, "{t}{i}{b}"],
      [2, "{t}.{i}{b}"],
      [3, "{t}{i}.{b}"],
      [3, "{i}{t}{b}"],
    ],
  },
  {
    id: "input-other-separator",
    title: "Another separator than a period",
    message: "It matches if there is something else than a period between the parts.",
    fix: `${SIGN}: the parts are joined by periods.`,
    ways: [
      [1, "{t}:{i}:{b}"],
      [1, "{t}\n{i}\n{b}"],
      [2, "{t}|{i}|{b}"],
      [2, "{t},{i},{b}"],
      [2, "{t}-{i}-{b}"],
      [3, "{t} {i} {b}"],
      [3, "{t}_{i}_{b}"],
      [3, "{t};{i};{b}"],
      [3, "{t}/{i}/{b}"],
      [3, "{t}\r\n{i}\r\n{b}"],
      [3, "{t}. {i}. {b}"],
    ],
  },
  {
    id: "input-prefix",
    title: "Something before the timestamp",
    message: "It matches if there is a version in front of the timestamp, as in other schemes.",
    fix: `${SIGN}, without anything before it.`,
    ways: [
      [3, "v1.{t}.{i}.{b}"],
      [3, "v1:{t}:{i}:{b}"],
    ],
  },
];

/** The text before the body and the text after it; without a body there is one text only. */
export function aroundBody(layout: Layout, timestamp: string, eventId: string): [string, string?] {
  const [head = "", tail] = layout.split("{b}");
  // One pass over the layout: braces inside of a hostile header are neither searched nor replaced.
  const filled = (text: string) =>
    text.replace(/\{([ti])\}/g, (_, name) => (name === "t" ? timestamp : eventId));
  return tail === undefined ? [filled(head)] : [filled(head), filled(tail)];
}

/** Changes a header's value to what went into the signing input; `undefined` where the mistake is impossible. */
export type Rewrite = (text: string) => string | undefined;

const ONE_TIMESTAMP =
  "Work the timestamp out once, and use that text for both: const timestamp = String(Math.floor(Date.now() / 1000)).";

/** The timestamp in the signing input differs from the header. */
export const TIMESTAMP_MISTAKES: readonly RepeatableMistake<Rewrite>[] = [
  {
    id: "timestamp-signed-in-milliseconds",
    title: "Milliseconds signed, seconds sent",
    message: "It matches if the timestamp is signed in milliseconds, while the header has seconds.",
    fix: ONE_TIMESTAMP,
    ways: [[1, seconds((value) => `${value}000`)]],
  },
  {
    id: "timestamp-signed-in-seconds",
    title: "Seconds signed, milliseconds sent",
    message: "It matches if the timestamp is signed in seconds, while the header has milliseconds.",
    fix: ONE_TIMESTAMP,
    ways: [[1, (text) => (/^[0-9]{13}$/.test(text) ? text.slice(0, 10) : undefined)]],
  },
  {
    id: "timestamp-signed-as-date",
    title: "A date signed, seconds sent",
    message: "It matches if the timestamp is signed as a date (ISO 8601), while the header has seconds.",
    fix: ONE_TIMESTAMP,
    ways: [
      [2, seconds((value) => isoDate(value))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "Z"))],
      [2, seconds((value) => isoDate(value)?.replace(".000Z", "+00:00"))],
    ],
  },
  {
    id: "timestamp-signed-with-fraction",
    title: "A fraction signed, whole seconds sent",
    message: "It matches if the timestamp is signed with decimals, while the header has whole seconds.",
    fix: `${ONE_TIMESTAMP} In Python str(int(time.time())).`,
    ways: [[3, seconds((value) => `${value}.0`)]],
  },
  {
    id: "timestamp-of-another-second",
    title: "Another second signed than sent",
    message: "It matches with a timestamp a few seconds from the header's: the clock was read twice.",
    fix: ONE_TIMESTAMP,
    ways: [
      [2, seconds((value) => String(value - 1))],
      [2, seconds((value) => String(value + 1))],
      ...[-2, 2, -3, 3].map((away) => [3, seconds((value) => String(value + away))] as const),
    ],
  },
];

const AS_IN_HEADER =
  "Use one text for both: the id in the signing input is the header's, character by character.";

/** The event id in the signing input differs from the header. */
export const EVENT_ID_MISTAKES: readonly RepeatableMistake<Rewrite>[] = [
  {
    id: "event-id-signed-in-other-case",
    title: "Event id in other case",
    message: "It matches if the event id is signed in other case than the header has it.",
    fix: AS_IN_HEADER,
    ways: [
      [1, (text) => text.toLowerCase()],
      [2, (text) => text.toUpperCase()],
    ],
  },
  {
    id: "event-id-signed-without-hyphens",
    title: "Event id without hyphens",
    message: "It matches if the event id is signed without its hyphens.",
    fix: AS_IN_HEADER,
    ways: [[3, (text) => text.replaceAll("-", "")]],
  },
];

function seconds(rewrite: (value: number) => string | undefined): Rewrite {
  return (text) => (isTimestamp(text) ? rewrite(Number(text)) : undefined);
}

const LAST_DATE_SECONDS = 253_402_300_799;

function isoDate(value: number): string | undefined {
  return value > LAST_DATE_SECONDS ? undefined : new Date(value * 1000).toISOString();
}
