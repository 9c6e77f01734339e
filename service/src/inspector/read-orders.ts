// Reads and checks what the page asks the inspector to do.
import {
  type ExportQuery,
  type ForcedAnswer,
  LIMITS,
  type ReplayOrder,
  type RequestMark,
} from "./contract.js";
import { recordOf } from "./entry-line.js";
import { InspectorError } from "./inspector-error.js";
import { type QueryText, readQuery, text, wholeNumber } from "./query.js";

/** Reads how a request is to be sent again. */
export function readReplayOrder(value: unknown): ReplayOrder {
  const order = recordOf(value);
  const kind = order?.kind;
  if (kind === "same-id" || kind === "exact" || kind === "new-id") return { kind };
  if (kind !== "edit") throw invalid("kind is same-id, exact, new-id or edit.");
  const { bodyBase64, eventId, timestamp, sign, headers } = order ?? {};
  if (typeof bodyBase64 !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(bodyBase64))
    throw invalid("bodyBase64 is the body in base64.");
  if (sign !== undefined && typeof sign !== "boolean") throw invalid("sign is true or false.");
  return {
    kind,
    bodyBase64,
    ...(eventId === undefined ? {} : { eventId: line(eventId, "eventId") }),
    ...(timestamp === undefined ? {} : { timestamp: line(timestamp, "timestamp") }),
    ...(sign === undefined ? {} : { sign }),
    ...(headers === undefined ? {} : { headers: readHeaders(headers) }),
  };
}

function readHeaders(value: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(value) || value.length > 200) throw invalid("headers are pairs, 200 at most.");
  return value.map((pair: unknown) => {
    const [name, text, ...rest] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof name !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name) || rest.length > 0)
      throw invalid("headers are pairs of a name and a value.");
    return [name, line(text, `the header ${name}`)] as const;
  });
}

/** A text that fits into one header line. */
function line(value: unknown, name: string): string {
  if (typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value)) return value;
  throw invalid(`${name} is one line of text that a header can carry.`);
}

/** Reads which answer is wanted next. */
export function readForcedAnswer(value: unknown): ForcedAnswer {
  const { listenerId, ...order } = recordOf(value) ?? {};
  if (typeof listenerId !== "string") throw invalid("listenerId is the listener's id.");
  const [status, delayMs, times, retryAfterSeconds] = [
    number(order.status, "status", 200, 599),
    number(order.delayMs, "delayMs", 0, LIMITS.forcedDelayMs),
    number(order.times, "times", 1, LIMITS.forcedTimes),
    number(order.retryAfterSeconds, "retryAfterSeconds", 0, 86_400),
  ];
  const seconds = number(order.seconds, "seconds", 1, LIMITS.forcedSeconds);
  const headers = order.headers === undefined ? undefined : readAnswerHeaders(order.headers);
  const body = order.body === undefined ? undefined : readAnswerBody(order.body);
  if ([status, delayMs, headers, body].every((one) => one === undefined))
    throw invalid("status, delayMs, headers or body says what is forced.");
  return {
    listenerId,
    ...(times === undefined && seconds !== undefined ? {} : { times: times ?? 1 }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(status === undefined ? {} : { status }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** Lines that say how long an answer is, or belong to its connection, are the server's own. */
const OF_CONNECTION =
  /^(?:connection|content-length|transfer-encoding|keep-alive|upgrade|trailer|te|proxy-connection)$/i;

function readAnswerHeaders(value: unknown): readonly (readonly [string, string])[] {
  const headers = readHeaders(value);
  if (headers.length > LIMITS.forcedHeaders)
    throw invalid(`headers are pairs, ${LIMITS.forcedHeaders} at most.`);
  const own = headers.find(([name]) => OF_CONNECTION.test(name));
  if (own) throw invalid(`The header ${own[0]} is the server's own.`);
  return headers;
}

function readAnswerBody(value: unknown): string {
  if (typeof value === "string" && value.length <= LIMITS.forcedBodyCharacters) return value;
  throw invalid(`body is a text of at most ${LIMITS.forcedBodyCharacters} characters.`);
}

/** Reads what somebody says about a request. */
export function readMark(value: unknown): RequestMark {
  const { pinned, note } = recordOf(value) ?? {};
  if (pinned === undefined && note === undefined) throw invalid("pinned or note says what is marked.");
  if (pinned !== undefined && typeof pinned !== "boolean") throw invalid("pinned is true or false.");
  if (note !== undefined && !(typeof note === "string" && note.length <= LIMITS.noteCharacters))
    throw invalid(`note is a text of at most ${LIMITS.noteCharacters} characters.`);
  return { ...(pinned === undefined ? {} : { pinned }), ...(note === undefined ? {} : { note }) };
}

/** Reads which listener is to get a test event. */
export function readTestEvent(value: unknown): string {
  const { listenerId } = recordOf(value) ?? {};
  if (typeof listenerId !== "string") throw invalid("listenerId is the listener's id.");
  return listenerId;
}

function number(value: unknown, name: string, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number;
  throw invalid(`${name} is a whole number from ${least} to ${most}.`);
}

/** Reads what goes into a file. */
export function readExportQuery(query: QueryText): ExportQuery {
  const format = text(query, "format") ?? "jsonl";
  if (format !== "jsonl" && format !== "har") throw invalid("format is jsonl or har.");
  const n = wholeNumber(query, "n", 1, Number.MAX_SAFE_INTEGER);
  const { before: _before, limit: _limit, ...filters } = readQuery(query);
  return {
    ...filters,
    format,
    ...(n === undefined ? {} : { n }),
    ...(text(query, "credentials") === "1" ? { credentials: "1" } : {}),
  };
}

function invalid(message: string): InspectorError {
  return new InspectorError(400, "ORDER_INVALID", message);
}
