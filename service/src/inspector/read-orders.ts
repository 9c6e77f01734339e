// Reads and checks what the page asks the inspector to do.

import { orderBy, orderInvalid, orderOf, wholeFrom } from "../page/order-schema.js";
import {
  type ExportQuery,
  type ForcedAnswer,
  LIMITS,
  type ReplayOrder,
  type RequestMark,
  type TestEventOrder,
} from "./contract.js";
import { type QueryText, readQuery, text, wholeNumber } from "./query.js";

/** A text that fits into one header line. */
const lineOf = (name: string) => ({
  type: "string",
  pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]{0,8192}$",
  says: `${name} is one line of text that a header can carry.`,
});

const PAIR = "headers are pairs of a name and a value.";

const headersUpTo = (maxItems: number) => ({
  type: "array",
  maxItems,
  says: `headers are pairs, ${maxItems} at most.`,
  items: {
    type: "array",
    minItems: 2,
    maxItems: 2,
    says: PAIR,
    prefixItems: [
      { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$", says: PAIR },
      lineOf("a value of headers"),
    ],
  },
});

const LISTENER_ID = { type: "string", says: "listenerId is the listener's id." };

const BODY_IN_BASE64 = "bodyBase64 is the body in base64.";

const REPLAY_ORDER = orderOf(
  {
    kind: { enum: ["same-id", "exact", "new-id", "edit"], says: "kind is same-id, exact, new-id or edit." },
    bodyBase64: { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$", says: BODY_IN_BASE64 },
    eventId: lineOf("eventId"),
    timestamp: lineOf("timestamp"),
    sign: { type: "boolean", says: "sign is true or false." },
    headers: headersUpTo(200),
  },
  ["kind"],
  {
    says: "kind is same-id, exact, new-id or edit.",
    if: { properties: { kind: { const: "edit" } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema, and nobody awaits it.
    then: { required: ["bodyBase64"], says: BODY_IN_BASE64 },
  },
);

/** Reads how a request is to be sent again. */
export async function readReplayOrder(value: unknown): Promise<ReplayOrder> {
  const order = await orderBy<ReplayOrder>(value, REPLAY_ORDER);
  return order.kind === "edit" ? order : { kind: order.kind };
}

const FORCED_ANSWER = orderOf(
  {
    listenerId: LISTENER_ID,
    status: wholeFrom("status", 200, 599),
    delayMs: wholeFrom("delayMs", 0, LIMITS.forcedDelayMs),
    times: wholeFrom("times", 1, LIMITS.forcedTimes),
    seconds: wholeFrom("seconds", 1, LIMITS.forcedSeconds),
    retryAfterSeconds: wholeFrom("retryAfterSeconds", 0, 86_400),
    headers: headersUpTo(LIMITS.forcedHeaders),
    body: {
      type: "string",
      maxLength: LIMITS.forcedBodyCharacters,
      says: `body is a text of at most ${LIMITS.forcedBodyCharacters} characters.`,
    },
    // The server's own, as it stands in the answer that somebody sends back.
    until: {},
  },
  ["listenerId"],
  {
    says: "status, delayMs, headers or body says what is forced.",
    anyOf: ["status", "delayMs", "headers", "body"].map((name) => ({ required: [name] })),
  },
);

/** Lines that say how long an answer is, or belong to its connection, are the server's own. */
const OF_CONNECTION =
  /^(?:connection|content-length|transfer-encoding|keep-alive|upgrade|trailer|te|proxy-connection)$/i;

/** Reads which answer is wanted next. */
export async function readForcedAnswer(value: unknown): Promise<ForcedAnswer> {
  const { until: _ofTheServer, ...order } = await orderBy<ForcedAnswer>(value, FORCED_ANSWER);
  const own = order.headers?.find(([name]) => OF_CONNECTION.test(name));
  if (own) throw orderInvalid(`The header ${own[0]} is the server's own.`);
  return order.times === undefined && order.seconds === undefined ? { ...order, times: 1 } : order;
}

const MARK = orderOf(
  {
    pinned: { type: "boolean", says: "pinned is true or false." },
    note: {
      type: "string",
      maxLength: LIMITS.noteCharacters,
      says: `note is a text of at most ${LIMITS.noteCharacters} characters.`,
    },
  },
  [],
  {
    says: "pinned or note says what is marked.",
    anyOf: [{ required: ["pinned"] }, { required: ["note"] }],
  },
);

/** Reads what somebody says about a request. */
export const readMark = (value: unknown): Promise<RequestMark> => orderBy(value, MARK);

const TEST_EVENT = orderOf(
  {
    listenerId: LISTENER_ID,
    body: {
      type: "string",
      maxLength: LIMITS.testBodyCharacters,
      says: `body is a JSON text of at most ${LIMITS.testBodyCharacters} characters.`,
    },
  },
  ["listenerId"],
  { says: LISTENER_ID.says },
);

/** Reads which listener is to get a test event, and what it says. */
export const readTestEvent = (value: unknown): Promise<TestEventOrder> =>
  orderBy<TestEventOrder>(value, TEST_EVENT);

/** Reads what goes into a file. */
export function readExportQuery(query: QueryText): ExportQuery {
  const format = text(query, "format") ?? "jsonl";
  if (format !== "jsonl" && format !== "har") throw orderInvalid("format is jsonl or har.");
  const n = wholeNumber(query, "n", 1, Number.MAX_SAFE_INTEGER);
  const { before: _before, limit: _limit, ...filters } = readQuery(query);
  return {
    ...filters,
    format,
    ...(n === undefined ? {} : { n }),
    ...(text(query, "credentials") === "1" ? { credentials: "1" } : {}),
  };
}
