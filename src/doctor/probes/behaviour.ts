// Records how a listener behaves, imitates it and finds what has changed.

import { HookproofError, type VerdictCode } from "../../core/errors.js";
import { newEventId } from "../../core/event.js";
import type { HeaderPair } from "../../core/headers.js";
import { isObject } from "../../core/json.js";
import type { AuthenticationMethod } from "./probe.js";
import {
  partsOfAnswer,
  RECORDED_HEADERS,
  type RecordedAnswer,
  steadyAnswer,
  VARIES,
} from "./recorded-answer.js";
import type { ProbeResult } from "./send-probe.js";
import { FAULTS_OF } from "./tables/order-probes.js";

/** The version of the format that is written. Version 1 had statuses only, and is read too. */
const VERSION = 2;
/** A file with more is refused; there are about 250 probes. */
const MAX_ANSWERS = 2_000;
const MAX_CHARACTERS = 1_000_000;
/** More differences in the answer to one probe are counted, and not named. */
const MAX_PARTS = 5;
const PROBE_ID = /^[a-z0-9][a-z0-9-]{0,79}$/;

/**
 * What a listener answered to each probe. Ids, times, numbers, addresses and long texts are left out, so there is no
 * URL and no secret in it. Which check comes first stands in the answers to probes with two faults.
 */
export interface BehaviourProfile {
  /** The version of the format; 1 has statuses only. */
  readonly version: 1 | 2;
  /** The method of the listener it was recorded of. */
  readonly method: AuthenticationMethod;
  /** The answer to each probe by its id: the answer, or its status alone, or the error code if there was none. */
  readonly answers: Readonly<Record<string, RecordedAnswer | number | string>>;
}

/** A part of an answer that is another one than the profile says. */
export interface BehaviourDrift {
  /** The probe's id. */
  readonly id: string;
  /** `status`, `header <name>`, a place in the body such as `body.error.code`, or `order`: what is checked first. */
  readonly part: string;
  /** What the profile has; absent where it has nothing there. */
  readonly was?: number | string;
  /** What the listener answers now; absent where it answers nothing there. */
  readonly is?: number | string;
  /** The same in words. */
  readonly message: string;
}

/**
 * Keeps what a listener answered, from the results of `runProbes`. A probe that was not sent, or that met a rate limit,
 * is left out.
 *
 * @example
 * ```ts
 * import { type ProbeResult, recordBehaviour } from "hookproof/probes";
 *
 * const results: ProbeResult[] = [];
 * const profile = recordBehaviour("hmac", results);
 * ```
 */
export function recordBehaviour(
  method: AuthenticationMethod,
  results: readonly ProbeResult[],
): BehaviourProfile {
  return { version: VERSION, method, answers: Object.fromEntries(answersOf(results)) };
}

type Recorded = BehaviourProfile["answers"][string];

/** Answers by the probe's id, in its order. Which of several copies was answered how is left to chance. */
function answersOf(results: readonly ProbeResult[]): Map<string, Recorded> {
  const answers = results.flatMap(({ id, answer, failure }): [string, Recorded][] => {
    const recorded = answer ?? failure;
    return recorded === undefined || statusIn(recorded) === 429 ? [] : [[id, recorded]];
  });
  return new Map(answers.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function statusIn(recorded: Recorded | undefined): number | string | undefined {
  return typeof recorded === "object" ? recorded.status : recorded;
}

/**
 * Reads a profile from the text of its file, which anybody may have written.
 *
 * @throws {HookproofError} BEHAVIOUR_INVALID, with what is wrong
 *
 * @example
 * ```ts
 * import { readBehaviour } from "hookproof/probes";
 *
 * readBehaviour('{"version":1,"method":"hmac","answers":{"timestamp-missing":401}}');
 * ```
 */
export function readBehaviour(text: string): BehaviourProfile {
  if (text.length > MAX_CHARACTERS) throw invalid(`has more than ${MAX_CHARACTERS} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("is not JSON");
  }
  if (!isObject(value)) throw invalid("is not an object");
  const { version, method, answers } = value;
  if (typeof version === "number" && version > VERSION)
    throw invalid(`is of version ${version}, and this one reads version ${VERSION}`);
  if (version !== 1 && version !== VERSION) throw invalid("has no version");
  if (method !== "hmac" && method !== "jwt") throw invalid("has no method, which is hmac or jwt");
  if (!isObject(answers)) throw invalid("has no answers");
  const entries = Object.entries(answers);
  if (entries.length > MAX_ANSWERS) throw invalid(`has more than ${MAX_ANSWERS} answers`);
  const read = entries.map(([id, answer], index): [string, Recorded] => {
    const recorded = PROBE_ID.test(id) ? readAnswer(answer, version) : undefined;
    if (recorded !== undefined) return [id, recorded];
    throw invalid(`has an answer, number ${index + 1}, that is not a probe's id with an answer`);
  });
  return { version, method, answers: Object.fromEntries(read) };
}

function readAnswer(value: unknown, version: 1 | 2): Recorded | undefined {
  if (typeof value === "string") return /^[A-Z][A-Z_]{2,39}$/.test(value) ? value : undefined;
  if (isStatus(value)) return value;
  if (version === 1 || !isObject(value)) return undefined;
  const { status, headers, body } = value;
  if (!isStatus(status) || !(headers === undefined || isObject(headers))) return undefined;
  return steadyAnswer(status, headers, body);
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599;
}

function invalid(reason: string): HookproofError {
  return new HookproofError("BEHAVIOUR_INVALID", `The behaviour profile ${reason}.`);
}

/**
 * Where a listener answers otherwise than a profile says, in words. Only probes that both have are compared, and of a
 * profile of version 1 only the statuses.
 *
 * @example
 * ```ts
 * import { behaviourDrift, type ProbeResult, readBehaviour } from "hookproof/probes";
 *
 * const results: ProbeResult[] = [];
 * const profile = readBehaviour('{"version":1,"method":"hmac","answers":{"timestamp-missing":401}}');
 * for (const { message } of behaviourDrift(profile, results)) console.log(message);
 * // timestamp-missing: the status was 401, and is 400
 * ```
 */
export function behaviourDrift(
  profile: Pick<BehaviourProfile, "answers">,
  results: readonly ProbeResult[],
): BehaviourDrift[] {
  const was = new Map(Object.entries(profile.answers));
  const is = answersOf(results);
  return results.flatMap(({ id }) => {
    const [before, now] = [was.get(id), is.get(id)];
    if (before === undefined || now === undefined) return [];
    return orderDrift(id, was, is) ?? partsDrift(id, before, now);
  });
}

/** The parts of the answer to one probe that differ. */
function partsDrift(id: string, before: Recorded, now: Recorded): BehaviourDrift[] {
  const isWhole = typeof before === "object" && typeof now === "object";
  const [was, is] = [partsIn(before, isWhole), partsIn(now, isWhole)];
  const different = [...new Set([...was.keys(), ...is.keys()])].filter((one) => was.get(one) !== is.get(one));
  return different.slice(0, MAX_PARTS).map((part, index) => {
    const more = different.length - MAX_PARTS;
    const rest = index === MAX_PARTS - 1 && more > 0 ? `; and ${more} more differences` : "";
    const [before, after] = [was.get(part), is.get(part)];
    return {
      ...drift(id, part, before, after),
      message: `${id}: ${partInWords(part)} was ${said(before)}, and is ${said(after)}${rest}`,
    };
  });
}

function drift(id: string, part: string, was: number | string | undefined, is: number | string | undefined) {
  return { id, part, ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) };
}

function partsIn(recorded: Recorded, isWhole: boolean): Map<string, number | string> {
  if (isWhole && typeof recorded === "object") return new Map(partsOfAnswer(recorded));
  return new Map([["status", statusIn(recorded) ?? 0]]);
}

function partInWords(part: string): string {
  return part.startsWith("body") ? part : `the ${part}`;
}

function said(value: number | string | undefined): string {
  return value === undefined ? "absent" : typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Another check comes first: what the answer to a probe with two faults says of it. */
function orderDrift(
  id: string,
  before: ReadonlyMap<string, Recorded>,
  now: ReadonlyMap<string, Recorded>,
): BehaviourDrift[] | undefined {
  const [was, is] = [firstOf(id, before), firstOf(id, now)];
  if (was === undefined || is === undefined || was === is) return undefined;
  return [{ id, part: "order", was, is, message: `${id}: it checked ${was} first, and now ${is}` }];
}

/** Which of two faults a listener names: the one whose own probe has the same answer, if the other's has not. */
function firstOf(id: string, answers: ReadonlyMap<string, Recorded>): string | undefined {
  const both = answers.get(id);
  const faults = Object.hasOwn(FAULTS_OF, id) ? FAULTS_OF[id] : undefined;
  if (typeof both !== "object" || !faults) return undefined;
  const alike = faults.filter(({ alone }) =>
    alone.some((one) => {
      const answer = answers.get(one);
      return typeof answer === "object" && partsDrift(one, answer, both).length === 0;
    }),
  );
  return alike.length === 1 ? alike[0]?.about : undefined;
}

/**
 * A function that answers as the listener of a profile does: status, body and the headers that a profile keeps are those
 * that the listener gave to the probe for each verdict. What runs is not changed: a request that is refused here is
 * refused, whatever the status, and a profile cannot make an accepted one look refused. Pass it as `beforeAnswer` of a
 * local listener, which goes on checking in its own order.
 *
 * @example
 * ```ts
 * import { behaveAs, readBehaviour } from "hookproof/probes";
 *
 * const answer = behaveAs(readBehaviour('{"version":1,"method":"hmac","answers":{"timestamp-missing":401}}'));
 * answer({ status: 400, verdict: { ok: false, code: "TIMESTAMP_MISSING" } }).status; // 401
 * ```
 */
export function behaveAs({ answers }: Pick<BehaviourProfile, "answers">): <
  Answer extends {
    readonly status: number;
    readonly headers?: readonly HeaderPair[];
    readonly body?: string;
    readonly verdict: { readonly ok: true } | { readonly ok: false; readonly code: string };
  },
>(
  answer: Answer,
) => Answer {
  const recorded = new Map<string, RecordedAnswer>();
  for (const [code, probe] of Object.entries(SHOWN_BY)) {
    const answer = Object.hasOwn(answers, probe) ? answers[probe] : undefined;
    const status = statusIn(answer);
    const isLikeOurs = code !== "ACCEPTED" || (typeof status === "number" && status < 300);
    if (typeof status === "number" && isLikeOurs)
      recorded.set(code, typeof answer === "object" ? answer : { status });
  }
  return (answer) => {
    const { verdict, headers = [] } = answer;
    const known = recorded.get(verdict.ok ? "ACCEPTED" : verdict.code);
    if (!known) return answer;
    return {
      ...answer,
      status: known.status,
      ...(known.headers ? { headers: likeRecorded(headers, known.headers) } : {}),
      ...(known.body === undefined ? {} : { body: bodyText(known.body) }),
    };
  };
}

/** Our header lines without those that a profile keeps, and then the profile's. */
function likeRecorded(
  headers: readonly HeaderPair[],
  recorded: Readonly<Record<string, string>>,
): HeaderPair[] {
  return [
    ...headers.filter(([name]) => !RECORDED_HEADERS.includes(name.toLowerCase())),
    // Instead of a date, which a profile leaves out, a minute.
    ...Object.entries(recorded).map(
      ([name, value]) => [name, name === "retry-after" && !/^\d+$/.test(value) ? "60" : value] as const,
    ),
  ];
}

/** The body with a new id wherever the recorded one had something of its own. */
function bodyText(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return text.replaceAll(VARIES, newEventId());
}

/**
 * The probe that shows how a listener answers where ours has this verdict; `ACCEPTED` is that of a request that passes.
 * A test sends each of them to our own listener and compares.
 */
export const SHOWN_BY: Readonly<Partial<Record<VerdictCode | "ACCEPTED", string>>> = {
  ACCEPTED: "correct-request",
  BODY_NOT_JSON: "body-not-json",
  BODY_TOO_LARGE: "body-too-large",
  CLAIM_AUD_INVALID: "aud-missing",
  CLAIM_EXP_INVALID: "exp-missing",
  CLAIM_HTB_S256_INVALID: "body-changed",
  CLAIM_HTM_INVALID: "htm-missing",
  CLAIM_JTI_INVALID: "event-id-changed",
  CLAIM_NBF_INVALID: "nbf-in-an-hour",
  CLAIM_SUB_INVALID: "sub-missing",
  CONTENT_ENCODING_UNSUPPORTED: "content-encoding-gzip",
  CONTENT_TYPE_MISSING: "content-type-missing",
  CONTENT_TYPE_UNSUPPORTED: "content-type-text",
  EVENT_DUPLICATE: "event-id-processed",
  EVENT_ID_MALFORMED: "event-id-not-a-uuid",
  EVENT_ID_MISSING: "event-id-missing",
  KEY_NOT_FOUND: "kid-unknown",
  METHOD_NOT_ALLOWED: "method-get",
  SIGNATURE_MALFORMED: "signature-hex",
  SIGNATURE_MISMATCH: "signature-of-other-secret",
  SIGNATURE_MISSING: "proof-missing",
  TIMESTAMP_MALFORMED: "timestamp-iso-date",
  TIMESTAMP_MISSING: "timestamp-missing",
  TIMESTAMP_OUT_OF_WINDOW: "timestamp-too-old",
  TOKEN_ALGORITHM_REFUSED: "alg-none",
  TOKEN_HEADER_REFUSED: "header-jwk",
  TOKEN_KEY_ID_INVALID: "kid-missing",
  TOKEN_MALFORMED: "authorization-empty",
  TOKEN_MISSING: "proof-missing",
  TOKEN_SIGNATURE_MISMATCH: "token-of-other-key",
};
