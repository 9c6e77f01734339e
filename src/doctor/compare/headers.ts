// Names what was changed in header lines on the way.
import { AUTHORIZATION_HEADER, CONTENT_TYPE_HEADER, type HeaderPair } from "../../core/headers.js";
import { countOf, shown } from "../../core/shown.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../../schemes/access-governance/protocol.js";
import { withDetail } from "../rows/mistake.js";
import { HEADER_CHANGES as CHANGES, WAY_MARKS, type WayChange } from "./way-changes.js";

/** The headers that a listener reads. Others may change as they like. */
const READ = [
  TIMESTAMP_HEADER,
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  AUTHORIZATION_HEADER,
  CONTENT_TYPE_HEADER,
  "Content-Encoding",
];

/** Headers that belong to one hop, or that `changesInTarget` looks at. */
const OF_THE_HOP = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "content-length",
]);

/** Header lines by name in lower case, each with the names as they were written. */
interface HeaderLines {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly written: ReadonlyMap<string, string>;
}

/** Sorts header lines by name. */
export function headerLinesOf(pairs: Iterable<HeaderPair>): HeaderLines {
  const values = new Map<string, string[]>();
  const written = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    written.set(key, name);
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  return { values, written };
}

/** What happened to the headers. Of those that no listener reads there is one change for all. */
export function changesInHeaders(sent: HeaderLines, received: HeaderLines): WayChange[] {
  const found: WayChange[] = [];
  const copies = copiesBy(sent, received);
  const others: string[] = [];
  const copied = new Set<string>();
  for (const [key, values] of sent.values) {
    const arrived = received.values.get(key);
    if (OF_THE_HOP.has(key) || arrived?.join("\0") === values.join("\0")) continue;
    const name = sent.written.get(key) ?? key;
    if (!isRead(key) || (arrived && isSameType(key, values, arrived))) {
      others.push(name);
      continue;
    }
    const change = arrived && changeOfValues(key, values, arrived);
    const copy = copyOf(key, values[0] ?? "", copies);
    if (copy !== undefined) {
      copied.add(copy.toLowerCase());
      const moved = key === AUTHORIZATION ? CHANGES.tokenMoved : CHANGES.renamed;
      found.push(withDetail(moved, `${shown(name)} stands in ${shown(copy)}.`));
    } else if (arrived === undefined) found.push(lost(name, sent));
    if (arrived && change) found.push(withDetail(change, detailOf(name, values, arrived)));
  }
  for (const key of received.values.keys()) {
    if (sent.values.has(key) || OF_THE_HOP.has(key) || copied.has(key)) continue;
    const name = received.written.get(key) ?? key;
    if (READ_KEYS.has(key)) found.push(withDetail(CHANGES.added, `It is ${shown(name)}.`));
    else others.push(name);
  }
  if (others.length > 0) found.push(withDetail(CHANGES.others, `They are ${listed(others)}.`));
  return [...found, ...changesInCase(sent, received)];
}

function changesInCase(sent: HeaderLines, received: HeaderLines): WayChange[] {
  const names = [...sent.written].filter(([key, name]) => (received.written.get(key) ?? name) !== name);
  if (names.length === 0) return [];
  return [withDetail(CHANGES.case, `They are ${listed(names.map(([, name]) => name))}.`)];
}

/** Who can be recognised by the headers that the request gained on its way. */
export function passedThrough(sent: HeaderLines, received: HeaderLines): string[] {
  const gained = [...received.values.keys()].filter((key) => !sent.values.has(key));
  const seen = WAY_MARKS.filter(([mark]) => gained.some((key) => mark.test(key))).map(([, who]) => who);
  return [...new Set(seen)];
}

const AUTHORIZATION = AUTHORIZATION_HEADER.toLowerCase();
const READ_KEYS = new Set(READ.map((name) => name.toLowerCase()));

/** Whether a listener reads this header, or would if its name had hyphens. */
function isRead(key: string): boolean {
  return READ_KEYS.has(key.replaceAll("_", "-"));
}

/** Whether only the parameters of a media type have changed, which no listener minds. */
function isSameType(key: string, sent: readonly string[], arrived: readonly string[]): boolean {
  const types = [...sent, ...arrived].map((value) => value.replace(/;.*$/s, "").trim().toLowerCase());
  return key === "content-type" && arrived.length === sent.length && new Set(types).size === 1;
}

/** Where each value of a header that arrived under a new name stands, so that a renamed one is found in one step. */
function copiesBy(sent: HeaderLines, received: HeaderLines): Map<string, string> {
  const copies = new Map<string, string>();
  for (const [key, [value = ""]] of received.values)
    if (!sent.values.has(key) && value.length >= MIN_COPY_LENGTH) {
      copies.set(value, received.written.get(key) ?? key);
    }
  return copies;
}

/** Shorter values are the same by chance. */
const MIN_COPY_LENGTH = 8;

/** The new header that a value stands in. A token may have lost its scheme there. */
function copyOf(key: string, value: string, copies: ReadonlyMap<string, string>): string | undefined {
  const found =
    copies.get(value) ?? copies.get(key === AUTHORIZATION ? value.replace(/^bearer +/i, "") : value);
  return found?.toLowerCase() === "accept" ? undefined : found;
}

function lost(name: string, sent: HeaderLines): WayChange {
  const key = name.toLowerCase();
  const named = (sent.values.get("connection") ?? []).join(",").toLowerCase().split(",");
  const change = named.some((one) => one.trim() === key)
    ? CHANGES.hopByHop
    : key === AUTHORIZATION
      ? CHANGES.tokenLost
      : name.includes("_")
        ? CHANGES.lostUnderscore
        : CHANGES.lost;
  return withDetail(change, `It is ${shown(name)}.`);
}

function changeOfValues(
  key: string,
  sent: readonly string[],
  arrived: readonly string[],
): WayChange | undefined {
  const [before = "", after = ""] = [sent[0], arrived[0]];
  if (sent.length === arrived.length && sent.every((value, index) => value === arrived[index]))
    return undefined;
  if (arrived.length > sent.length) return CHANGES.doubled;
  if (sent.length > 1 && arrived.length < sent.length) {
    const joined = (separator: string) => sent.join(separator) === after;
    return joined(", ") || joined(",") || joined("; ") ? CHANGES.joined : CHANGES.linesLost;
  }
  if (after.split(/,\s*/).every((part) => part === before)) return CHANGES.doubled;
  if (withoutBlanks(before) === withoutBlanks(after)) return CHANGES.folded;
  if (key === AUTHORIZATION && isStripped(before, after)) return CHANGES.tokenStripped;
  if (after.length < before.length && before.startsWith(after)) return CHANGES.cut;
  return key === AUTHORIZATION ? CHANGES.tokenReplaced : CHANGES.changed;
}

function withoutBlanks(value: string): string {
  return value.replace(/[\s"]/g, "");
}

/** Whether header and claims of the token are the same, and only the signature is not. */
function isStripped(before: string, after: string): boolean {
  const at = before.lastIndexOf(".");
  const signedPart = before.slice(0, at);
  if (at < 0 || !signedPart.includes(".")) return false;
  const rest = after.slice(signedPart.length);
  return after.startsWith(signedPart) && (rest === "" || rest === "." || /^\.[A-Z_]{3,60}$/.test(rest));
}

/** Values may be shown of headers that hold no proof; of the others only their lengths. */
const SHOWN = new Set(
  [TIMESTAMP_HEADER, EVENT_ID_HEADER, CONTENT_TYPE_HEADER, "Content-Encoding"].map(lower),
);

function lower(name: string): string {
  return name.toLowerCase();
}

function detailOf(name: string, sent: readonly string[], arrived: readonly string[]): string {
  if (sent.length !== arrived.length)
    return `${shown(name)} was sent ${times(sent.length)} and arrived ${times(arrived.length)}.`;
  const [before = "", after = ""] = [sent[0], arrived[0]];
  const of = (value: string) =>
    SHOWN.has(lower(name)) ? shown(value, 60) : countOf(value.length, "character");
  return `${shown(name)}: ${of(before)} became ${of(after)}.`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

const LISTED = 12;

function listed(names: readonly string[]): string {
  const few = names.slice(0, LISTED).map((name) => shown(name, 40));
  return `${few.join(", ")}${names.length > LISTED ? ` and ${names.length - LISTED} more` : ""}`;
}
