// One request to a transmitter of others, as JSON.
import { createTransport } from "#transport";
import { utf8 } from "../core/bytes.js";
import { CALLBACK_MS, type Clock, within } from "../core/clock.js";
import { type ErrorCode, HookproofError, isNotGiven, messageOf, notGiven } from "../core/errors.js";
import type { HeaderPair } from "../core/headers.js";
import { isObject, parseJson } from "../core/json.js";
import { parseTargetUrl } from "../core/target-url.js";
import type { Transport } from "../http/transport.js";
import { classifyAnswer } from "../schemes/classification.js";

/** How a transmitter is reached. */
interface TransmitterOptions {
  readonly authorization: Authorization;
  readonly transport: Transport | undefined;
  readonly clock: Clock;
}

/** The value of the header `Authorization`, or a function that gives it. */
export type Authorization = string | (() => string | Promise<string>);

export interface Asked {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: object;
  readonly headers?: readonly HeaderPair[];
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that is no 2xx, or none of those that were wanted. */
export class Unanswered extends HookproofError {
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, words: string, retryAfterMs?: number) {
    super(code, words);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Asks, and resolves to the object of the answer; `undefined` for one without a body. */
export function createAsk({ authorization, transport, clock }: TransmitterOptions) {
  if (isNotGiven(authorization)) throw notGiven("authorization", authorization);
  if (typeof authorization !== "function" && typeof authorization !== "string")
    throw new TypeError("authorization must be the header's value, or a function that gives it");
  const send = transport ?? createTransport();
  return async ({
    body,
    headers = [],
    ...asked
  }: Asked): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const credentials =
      typeof authorization === "string" ? authorization : await credentialsBy(authorization);
    const lines: HeaderPair[] = [["Authorization", credentials], ["Accept", "application/json"], ...headers];
    if (body) lines.push(["Content-Type", "application/json"]);
    const late = () => new HookproofError("TIMED_OUT", messageOf("TIMED_OUT"));
    const bytes = body && utf8(JSON.stringify(body));
    const answer = await within(
      send({ ...asked, headers: lines, body: bytes }),
      asked.timeoutMs + 2_000,
      late,
    );
    const { status } = answer;
    const meaning = classifyAnswer({ ...answer, body: answer.body }, 1, clock.now());
    if ("code" in meaning)
      throw new Unanswered(meaning.code, `The transmitter answered ${status}.`, meaning.retryAfterMs);
    if (answer.body.length === 0) return undefined;
    const parsed = parseJson(answer.body);
    if (answer.truncated || !parsed.ok || !isObject(parsed.value))
      throw new Unanswered("RESPONSE_INVALID", "The transmitter's answer is no JSON object, or too long.");
    return parsed.value;
  };
}

function credentialsBy(give: () => string | Promise<string>): Promise<string> {
  const late = () => new HookproofError("TIMED_OUT", `authorization gave nothing within ${CALLBACK_MS} ms.`);
  return within(Promise.resolve(give()), CALLBACK_MS, late);
}

/** A transmitter's URL in its right form: https, or http on loopback. */
export function transmitterUrl(url: string): string {
  return parseTargetUrl(url).href;
}
