// Rows of wrong ways to put the signing input together.
import type { RepeatableMistake } from "../../rows/mistake.js";
import { type Layout, WITH_PATH, WITH_PATH_BUG } from "./layout-text.js";

const SIGN = "Sign [timestamp, eventId, body].join('.')";

/** The right signing input (specification 5.2, HMAC method, step 2). */
export const RIGHT_LAYOUT: Layout = "{t}.{i}.{b}";

/** What people put between parts, besides a period: mostly, and hardly ever. */
const SEPARATORS = [":", "\n"];
const RARE_SEPARATORS = ["|", "-", " ", "/", ",", ";", "_", "&", "\r\n", "::", "\t", ", "];

/** The parts with each separator between them. */
function separated(parts: readonly string[], separators = [".", ...SEPARATORS]): readonly LayoutWay[] {
  return [
    ...separators.map((separator): LayoutWay => [3, parts.join(separator)]),
    ...RARE_SEPARATORS.map((separator): LayoutWay => [4, parts.join(separator)]),
  ];
}

/** Wrong ways to put the signing input together. */
export const LAYOUT_MISTAKES: readonly RepeatableMistake<Layout>[] = [
  {
    id: "input-id-first",
    title: "Event id before the timestamp",
    message: "It matches if the event id comes before the timestamp, as in Standard Webhooks.",
    fix: `${SIGN}: the timestamp comes first.`,
    listener: {
      family: "input",
      accepts: "signatures over event id, timestamp and body in this order",
      bug: "it puts the event id before the timestamp",
    },
    ways: [[1, "{i}.{t}.{b}"], ...separated(["{i}", "{t}", "{b}"], SEPARATORS)],
  },
  {
    id: "input-without-id",
    title: "No event id in the signing input",
    message: "It matches if the event id is left out of the signing input.",
    fix: `${SIGN}, with the text of Webhook-Event-Id in the middle.`,
    listener: {
      family: "input",
      accepts: "signatures that do not cover the event id",
      bug: "it leaves the event id out of the signing input",
    },
    ways: [
      [1, "{t}.{b}"],
      [2, "{t}{b}"],
      [3, "{t}..{b}"],
      [3, "{b}.{t}"],
      [3, "{t}:{b}"],
      [3, "v0:{t}:{b}"],
      [3, "{t}\n{b}"],
      [3, "{b}{t}"],
      [3, "t={t}.{b}"],
      ...separated(["{t}", "{b}"], SEPARATORS),
      ...separated(["{b}", "{t}"]),
      [3, "{t}"],
    ],
  },
  {
    id: "input-body-only",
    title: "Only the body is signed",
    message: "It matches if the body alone is signed, without timestamp and event id.",
    fix: `${SIGN}, not the body alone.`,
    listener: {
      family: "input",
      accepts: "signatures over the body alone",
      bug: "it verifies the body alone",
    },
    ways: [[1, "{b}"]],
  },
  {
    id: "input-of-body-hash",
    title: "The hash of the body in the signing input",
    message:
      "It matches if the body's SHA-256 in hex stands in the signing input, and another part is missing.",
    fix: `${SIGN}, with the body itself.`,
    ways: [
      [3, "{h}"],
      [3, "{t}.{h}"],
      [3, "{i}.{h}"],
      [3, "{t}{h}"],
      [3, "{t}\n{h}"],
      [3, "{i}.{t}.{h}"],
      [3, "{t}\n{i}\n{h}"],
      [3, "{t}:{i}:{h}"],
    ],
  },
  {
    id: "input-without-timestamp",
    title: "No timestamp in the signing input",
    message: "It matches if the timestamp is left out of the signing input.",
    fix: `${SIGN}, with the text of Webhook-Timestamp in front.`,
    listener: {
      family: "input",
      accepts: "signatures that do not cover the timestamp",
      bug: "it leaves the timestamp out of the signing input",
    },
    ways: [
      [1, "{i}.{b}"],
      [3, ".{i}.{b}"],
      [3, "{i}{b}"],
      [4, "{b}{i}"],
      ...separated(["{i}", "{b}"], SEPARATORS),
      ...separated(["{b}", "{i}"]),
      [3, "{i}"],
    ],
  },
  {
    id: "input-without-body",
    title: "No body in the signing input",
    message: "It matches if the signing input ends with the event id.",
    fix: `${SIGN}, with the exact body at its end.`,
    listener: {
      family: "input",
      accepts: "signatures that do not cover the body",
      bug: "it leaves the body out of the signing input",
    },
    ways: [[2, "{t}.{i}"]],
  },
  {
    id: "input-other-order",
    title: "Another order of the three parts",
    message: "It matches if timestamp, event id and body are in another order.",
    fix: `${SIGN}: timestamp, event id, body.`,
    listener: {
      family: "input",
      accepts: "signatures over the three parts in another order",
      bug: "it joins the parts in another order",
    },
    ways: [
      [2, "{t}.{b}.{i}"],
      [2, "{b}.{t}.{i}"],
      [3, "{b}.{i}.{t}"],
      [3, "{i}.{b}.{t}"],
      // With another separator as well.
      ...[
        ["{t}", "{b}", "{i}"],
        ["{b}", "{t}", "{i}"],
        ["{b}", "{i}", "{t}"],
        ["{i}", "{b}", "{t}"],
      ].flatMap((parts) => separated(parts, SEPARATORS)),
    ],
  },
  {
    id: "input-no-separator",
    title: "No periods between the parts",
    message: "It matches if the three parts follow each other without the periods between them.",
    fix: `${SIGN}: the parts are joined by periods.`,
    listener: {
      family: "input",
      accepts: "signatures over the parts without periods between them",
      bug: "it joins the parts without a separator",
    },
    ways: [
      [1, "{t}{i}{b}"],
      [2, "{t}.{i}{b}"],
      [3, "{t}{i}.{b}"],
      [3, "{i}{t}{b}"],
      [3, "{b}{t}{i}"],
      [3, "{b}{i}{t}"],
      [3, "{t}{b}{i}"],
      [3, "{i}{b}{t}"],
    ],
  },
  {
    id: "input-other-separator",
    title: "Another separator than a period",
    message: "It matches if there is something else than a period between the parts.",
    fix: `${SIGN}: the parts are joined by periods.`,
    listener: {
      family: "input",
      accepts: "signatures over the parts with another separator than a period",
      bug: "it joins the parts with another separator",
    },
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
      [3, "{t} . {i} . {b}"],
      [3, "{t}::{i}::{b}"],
      [3, "{t}||{i}||{b}"],
      [3, "{t}&{i}&{b}"],
      [3, "{t}+{i}+{b}"],
      [3, "{t}#{i}#{b}"],
      [3, "{t}\t{i}\t{b}"],
      [3, "{t}\\n{i}\\n{b}"],
      [3, "{t}\0{i}\0{b}"],
      [3, "{t}.{i}:{b}"],
      [3, "{t}:{i}.{b}"],
      [3, "{t}.{i}\n{b}"],
      [3, "{t}\n{i}.{b}"],
      [3, "{t}..{i}..{b}"],
      [3, "{t}, {i}, {b}"],
      [4, "{t} {i} {b}\n"],
    ],
  },
  {
    id: "input-prefix",
    title: "Something next to the three parts",
    message:
      "It matches if there is more than the three parts, such as a version in front or the listener's id, as in other schemes.",
    fix: `${SIGN}, without anything before it.`,
    listener: {
      family: "input",
      accepts: "signatures over an input with something before the timestamp",
      bug: "it puts something before the timestamp",
    },
    ways: [
      [3, "v1.{t}.{i}.{b}"],
      [3, "v1:{t}:{i}:{b}"],
      ...["v0", "sha256", "1"].flatMap((version): LayoutWay[] => [
        [4, `${version}.{t}.{i}.{b}`],
        [4, `${version}:{t}:{i}:{b}`],
      ]),
      [4, "v1,{t}.{i}.{b}"],
      [4, "v1={t}.{i}.{b}"],
      [4, "sha256={t}.{i}.{b}"],
      [4, "v1.{i}.{t}.{b}"],
      [4, "v1:{t}:{b}"],
      [4, "v1.{t}.{b}"],
      [4, "{l}.{t}.{i}.{b}"],
      [4, "{t}.{i}.{l}.{b}"],
      [4, "{t}.{i}.application/json.{b}"],
      [4, "{t}.{i}.POST.{b}"],
    ],
  },
  {
    id: "input-with-end",
    title: "Something after the body",
    message: "It matches if there is something after the body, such as a period.",
    fix: `${SIGN}: the signing input ends with the body.`,
    ways: [
      [3, "{t}.{i}.{b}."],
      [3, ".{t}.{i}.{b}"],
      [3, "{t}.{i}.{b}undefined"],
      [3, "{t}.{i}.{b} "],
    ],
  },
  {
    id: "input-placeholders",
    title: "Placeholders left standing",
    message:
      "It matches if placeholders, or their braces or dollars, stand in the signing input: a template was not filled in, or of another language.",
    fix: `${SIGN}. A template needs backticks (\`) in JavaScript, and an f before its quotes in Python: f'{timestamp}.{event_id}.'.`,
    ways: [
      [3, RIGHT_LAYOUT.replaceAll("{", "${")],
      [3, "{{t}}.{{i}}.{{b}}"],
      [3, "#{t}.#{i}.#{b}"],
      [3, "<{t}>.<{i}>.<{b}>"],
      [3, "{timestamp}.{event_id}.{b}"],
      [3, "{timestamp}.{event_id}.{body}"],
      [3, `${unfilled("timestamp", "eventId")}.{b}`],
      [3, unfilled("timestamp", "eventId", "body")],
      [3, unfilled("timestamp", "event_id", "body")],
      [3, unfilled("timestamp", "id", "body")],
      [3, "{timestamp}.{eventId}.{b}"],
      [3, "{timestamp}.{eventId}.{body}"],
      [3, "{timestamp}.{id}.{b}"],
      [3, "$timestamp.$eventId.$body"],
      [3, "$timestamp.$event_id.$body"],
      ...["$ts.$id.$body", "$TIMESTAMP.$EVENT_ID.$BODY", "$T.$E.$B"].map((layout): LayoutWay => [4, layout]),
      // Postman's variables, and its own.
      ...["{{timestamp}}.{{event_id}}", "{{timestamp}}.{{eventId}}", "{{$timestamp}}.{{$guid}}"].flatMap(
        (head): LayoutWay[] => [
          [4, `${head}.{b}`],
          [4, `${head}.{{body}}`],
        ],
      ),
      [3, "#{timestamp}.#{event_id}.#{body}"],
      [3, "%s.%s.%s"],
      [3, "%s.%s.{b}"],
      [3, "undefined.{i}.{b}"],
      [3, "{t}.undefined.{b}"],
      [3, "undefined.undefined.{b}"],
      [3, "None.None.{b}"],
      [3, "null.null.{b}"],
      [3, "..{b}"],
    ],
  },
  {
    id: "input-as-json",
    title: "A JSON object of the three parts",
    message: "It matches if timestamp, event id and body are signed as one JSON object or array.",
    fix: `${SIGN}: a text, not an object.`,
    ways: [
      ...[
        ["timestamp", "eventId", "body"],
        ["timestamp", "event_id", "body"],
        ["timestamp", "eventId", "payload"],
        ["timestamp", "event_id", "payload"],
        ["timestamp", "id", "body"],
        ["timestamp", "id", "payload"],
        ["timestamp", "eventId", "data"],
      ].flatMap(([t, i, b]): LayoutWay[] => [
        [3, `{"${t}":{t},"${i}":"{i}","${b}":{b}}`],
        [3, `{"${t}":"{t}","${i}":"{i}","${b}":{b}}`],
        [3, `{"${t}":{t},"${i}":"{i}","${b}":{j}}`],
        [3, `{"${t}":"{t}","${i}":"{i}","${b}":{j}}`],
      ]),
      [3, '["{t}","{i}",{j}]'],
      [3, '["{t}", "{i}", {j}]'],
      [3, '[{t},"{i}",{b}]'],
      [3, '["{t}","{i}",{b}]'],
    ],
  },
  {
    id: "input-as-form",
    title: "Names before the parts",
    message: "It matches if each part has its name before it, as in a query or a header.",
    fix: `${SIGN}: the values alone.`,
    ways: [
      [3, "timestamp={t}&event_id={i}&body={b}"],
      [3, "timestamp={t}&eventId={i}&body={b}"],
      [3, "t={t}&id={i}&body={b}"],
      [3, "Webhook-Timestamp: {t}\nWebhook-Event-Id: {i}\n{b}"],
      [3, "webhook-timestamp:{t}\nwebhook-event-id:{i}\n{b}"],
    ],
  },
  {
    id: "input-with-url",
    title: "URL, path or method in the signing input",
    message:
      "It matches if the listener's URL or path, or the method, is part of what is signed, as in other schemes.",
    fix: `${SIGN}: neither URL nor method is part of it.`,
    listener: WITH_PATH_BUG,
    ways: [
      ...WITH_PATH.map((layout): LayoutWay => [3, layout]),
      ...["{u}", "{p}", "{o}"].flatMap((url) =>
        [
          `${url}{b}`,
          `${url}.{b}`,
          `${url}\n{b}`,
          `{t}.${url}.{b}`,
          `{t}${url}{b}`,
          `{t}.{i}.${url}.{b}`,
          `POST\n${url}\n{t}\n{b}`,
          `POST\n${url}\n{t}\n{i}\n{b}`,
          `POST${url}{t}{b}`,
          `{t}POST${url}{b}`,
          `POST.${url}.{t}.{b}`,
          `{t}.POST.${url}.{b}`,
          `POST ${url}\n{t}\n{b}`,
          `POST:${url}:{t}:{b}`,
        ].map((layout): LayoutWay => [url === "{o}" ? 4 : 3, layout]),
      ),
      [3, "POST{b}"],
      [3, "POST\n{b}"],
      [3, "POST.{t}.{i}.{b}"],
      ...["{u}", "{p}", "{o}"].flatMap((url): LayoutWay[] => [
        ...["\n", "", ".", " ", ":", "|"].flatMap((separator) =>
          [
            ["POST", url, "{b}"],
            ["POST", url, "{t}", "{b}"],
            ["POST", url, "{t}", "{i}", "{b}"],
            ["POST", url, "{t}", "{h}"],
          ].map((parts): LayoutWay => [4, parts.join(separator)]),
        ),
        [4, `post\n${url}\n{b}`],
        [4, `post\n${url}\n{t}\n{b}`],
        ...[".", "", "\n", "|"].flatMap((separator) =>
          [
            ["{b}", url],
            [url, "{t}", "{b}"],
            [url, "{t}", "{i}", "{b}"],
            ["{t}", "{i}", "{b}", url],
            ["{t}", url, "{b}"],
            ["{t}", "{i}", url, "{b}"],
            ["{t}", "POST", url, "{h}"],
            ["{t}", "{i}", "POST", url, "{b}"],
            ["{t}", "POST", url, "{b}"],
          ].map((parts): LayoutWay => [4, parts.join(separator)]),
        ),
        [4, url],
        [4, `POST ${url}`],
        [4, `POST ${url} HTTP/1.1`],
        [4, `POST ${url}\n{b}`],
        [4, `POST\n${url}\n{i}\n{t}\n{h}`],
      ]),
    ],
  },
];

type LayoutWay = readonly [weight: 3 | 4, layout: Layout];

/** Names in the braces of JavaScript's templates, joined by periods. */
function unfilled(...names: string[]): string {
  return names.map((name) => `\${${name}}`).join(".");
}
