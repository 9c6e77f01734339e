// An entry of the history as a line of JSON, written and read.
import type { HeaderPair } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { Check } from "hookproof/receiver";
import { LIMITS, type RequestRow } from "./contract.js";
import type { Demanded, Entry } from "./entry.js";
import { forwardedRow, readForwarded } from "./forwarded.js";

/** An entry as JSON: a line of an exported file, and a row of the history file. */
type EntryLine = Readonly<Record<string, unknown>>;

/** Writes an entry; `url` is where it was sent. */
export function entryLine({ row, body, target, ...entry }: Entry, url: string): EntryLine {
  const {
    eventType: _ofTheBody,
    preview: _alsoOfTheBody,
    cause: _ofTheMistakes,
    forwardedStatus: _ofTheAnswer,
    ...own
  } = row;
  return { v: 1, type: "request", ...own, url, ...entry, bodyBase64: Buffer.from(body).toString("base64") };
}

/**
 * Reads an entry that somebody else may have written: whatever has another type than it should is left out,
 * and without what every request has there is no entry.
 */
export function readEntryLine(line: unknown): Entry | undefined {
  const value = recordOf(line);
  if (value?.v !== 1 || value.type !== "request") return undefined;
  const headers = pairsOf(value.headers);
  const { n, at, status, method, url, bodyBase64 } = value;
  if (!isTime(at) || !isStatus(status) || typeof bodyBase64 !== "string" || !headers) return undefined;
  if (typeof method !== "string" || typeof url !== "string") return undefined;
  const body = Buffer.from(bodyBase64, "base64");
  const answer = recordOf(value.answer);
  const mistakes = Array.isArray(value.mistakes) ? listOf(value.mistakes, mistakeOf) : undefined;
  const forwarded = readForwarded(recordOf(value.forwarded));
  const row: RequestRow = {
    n: isWhole(n) ? n : 0,
    at,
    ...texts(value, "listenerId", "code", "eventId", "scheme"),
    ...(value.auth === "hmac" || value.auth === "jwt" ? { auth: value.auth } : {}),
    method,
    status,
    ...(isStatus(value.verdictStatus) ? { verdictStatus: value.verdictStatus } : {}),
    bodyBytes: body.length,
    durationMs: typeof value.durationMs === "number" ? Math.max(0, value.durationMs) : 0,
    reason: [value.reason, value.code].find((one) => typeof one === "string") ?? "accepted",
    ...(mistakes?.[0] ? { cause: mistakes[0].title } : {}),
    ...(forwarded && forwardedRow(forwarded, texts(value, "code").code)),
    ...(isWhole(value.duplicateOf) ? { duplicateOf: value.duplicateOf } : {}),
    ...replayOf(value.replay),
    ...flags(value, "imported", "isCut", "isTest", "isUnread", "pinned"),
    ...(typeof value.note === "string" && value.note !== ""
      ? { note: value.note.slice(0, LIMITS.noteCharacters) }
      : {}),
  };
  return {
    row,
    target: pathOf(url),
    ...texts(value, "sourceAddress"),
    headers,
    body,
    checks: listOf(value.checks, checkOf),
    mistakes,
    ...(value.masked === true ? { masked: true } : {}),
    ...(Number.isSafeInteger(value.clockAhead) ? { clockAhead: value.clockAhead as number } : {}),
    answer: {
      headers: pairsOf(answer?.headers) ?? [],
      body: typeof answer?.body === "string" ? answer.body.slice(0, LIMITS.answerCharacters) : "",
    },
    ...(forwarded ? { forwarded } : {}),
    ...demandedOf(recordOf(value.demanded)),
  };
}

/** Path and query of a URL; a path stays what it is. */
export function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return path.startsWith("/") ? path : `/${path}`;
}

/** The value of a JSON text; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/** A value as a JSON object, if it is one. */
export function recordOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

function pairsOf(value: unknown): HeaderPair[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((pair: unknown) => {
    const [name, text] = Array.isArray(pair) ? pair : [];
    return typeof name === "string" && typeof text === "string" ? [[name, text] as const] : [];
  });
}

function checkOf(value: JsonObject): Check | undefined {
  const { step, ok, rule } = value;
  if (typeof step !== "string" || typeof ok !== "boolean" || typeof rule !== "string") return undefined;
  return { step, ok, rule, ...texts(value, "fact", "seen", "wanted", "code") } as Check;
}

function mistakeOf(value: JsonObject): Mistake | undefined {
  const { id, title, message, fix } = texts(value, "id", "title", "message", "fix");
  if (id === undefined || title === undefined || message === undefined || fix === undefined) return undefined;
  const fixes = listOf(value.fixes, fixOf);
  return { id, title, message, fix, ...(fixes.length === 0 ? {} : { fixes }) };
}

function fixOf(value: JsonObject): { language: string; fix: string } | undefined {
  const { language, fix } = texts(value, "language", "fix");
  return language === undefined || fix === undefined ? undefined : { language, fix };
}

function demandedOf(value: JsonObject | undefined): { demanded?: Demanded } {
  if (value?.auth === "hmac") {
    const { secretFingerprints: given } = value;
    const secretFingerprints = Array.isArray(given) ? given.slice(0, MAX).filter(isText) : [];
    return { demanded: { auth: "hmac", ...texts(value, "expected"), secretFingerprints } };
  }
  if (value?.auth === "jwt") {
    const claims = Object.entries(recordOf(value.claims) ?? {}).slice(0, MAX);
    const { kid, alg, thumbprint } = texts(recordOf(value.key) ?? {}, "kid", "alg", "thumbprint");
    const key = { kid, alg, ...(thumbprint === undefined ? {} : { thumbprint }) };
    return {
      demanded: {
        auth: "jwt",
        claims: Object.fromEntries(claims.filter((claim): claim is [string, string] => isText(claim[1]))),
        ...(kid === undefined || alg === undefined ? {} : { key: { ...key, kid, alg } }),
      },
    };
  }
  if (value?.auth !== "scheme") return {};
  return { demanded: { auth: "scheme", checks: listOf(value.checks, ruleOf) } };
}

function ruleOf(value: JsonObject): { step: string; rule: string } | undefined {
  const { step, rule } = texts(value, "step", "rule");
  return step === undefined || rule === undefined ? undefined : { step, rule };
}

function replayOf(value: unknown): Pick<RequestRow, "replay"> {
  const { of, kind } = recordOf(value) ?? {};
  const isKind = kind === "same-id" || kind === "exact" || kind === "new-id" || kind === "edit";
  return isWhole(of) && isKind ? { replay: { of, kind } } : {};
}

/** A verdict has about twenty checks and a diagnosis a handful of mistakes. */
const MAX = 100;

function listOf<Value>(values: unknown, read: (value: JsonObject) => Value | undefined): Value[] {
  if (!Array.isArray(values)) return [];
  return values.slice(0, MAX).flatMap((value: unknown) => {
    const found = recordOf(value);
    return found ? (read(found) ?? []) : [];
  });
}

function texts<Name extends string>(value: JsonObject, ...names: Name[]): Partial<Record<Name, string>> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof value[name] === "string" ? [[name, value[name]]] : [])),
  ) as Partial<Record<Name, string>>;
}

function flags<Name extends string>(value: JsonObject, ...names: Name[]): Partial<Record<Name, true>> {
  return Object.fromEntries(names.flatMap((name) => (value[name] === true ? [[name, true]] : []))) as Partial<
    Record<Name, true>
  >;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Milliseconds of a date that can be written. */
function isTime(value: unknown): value is number {
  return isWhole(value) && value <= 8_640_000_000_000_000;
}

function isStatus(value: unknown): value is number {
  return isWhole(value) && value >= 100 && value <= 599;
}
