import type { Trial } from "./mistake.js";

/** Where the timestamp (t), the event id (i) and the body (b) stand in the signing input. */
export type Layout = string;

const SIGN = "Sign [timestamp, eventId, body].join('.')";

/** The right signing input (specification 5.2, HMAC method, step 2). */
export const RIGHT_LAYOUT: Layout = "{t}.{i}.{b}";

/** The signing input, as people put it together. */
export const LAYOUT_TRIALS: readonly Trial<Layout>[] = [
  {
    id: "input-id-first",
    title: "Event id before the timestamp",
    message: "It matches if the event id stands before the timestamp, as in Standard Webhooks.",
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
    message: "It matches if timestamp, event id and body stand in another order.",
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
    message: "It matches if something else than a period stands between the parts.",
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
    message: "It matches if a version stands before the timestamp, as in other schemes.",
    fix: `${SIGN}, without anything before it.`,
    ways: [
      [3, "v1.{t}.{i}.{b}"],
      [3, "v1:{t}:{i}:{b}"],
    ],
  },
];

/** What stands before the body and after it; without a body both are one text. */
export function aroundBody(layout: Layout, timestamp: string, eventId: string): [string, string?] {
  const [head = "", tail] = layout.split("{b}");
  // In one go, so that what a hostile header has of braces is not looked through, and not filled in.
  const filled = (text: string) =>
    text.replace(/\{([ti])\}/g, (_, name) => (name === "t" ? timestamp : eventId));
  return tail === undefined ? [filled(head)] : [filled(head), filled(tail)];
}
