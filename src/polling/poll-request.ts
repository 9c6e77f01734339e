// Reads what a poll asks for and says (RFC 8936 section 2.2).
import { isObject, parseJson } from "../core/json.js";
import { shown } from "../core/shown.js";

/** A poll as its transmitter understands it. */
export interface PollRequest {
  /** Tokens at most; absent for as many as there are. */
  readonly maxEvents: number | undefined;
  readonly returnImmediately: boolean;
  /** The ids of tokens that have arrived. */
  readonly ack: readonly string[];
  /** What is wrong with others, by their ids, in words. */
  readonly setErrs: ReadonlyMap<string, string>;
}

/** The poll, or what is wrong with it. Members that are null count as absent, and unknown ones are ignored. */
export function pollRequest(body: Uint8Array): PollRequest | string {
  const parsed = parseJson(body);
  if (!parsed.ok || !isObject(parsed.value)) return "the body must be a JSON object";
  const { maxEvents, returnImmediately, ack, setErrs } = parsed.value;
  if (!isCount(maxEvents ?? 0)) return "maxEvents must be a whole number, 0 or more";
  if (typeof (returnImmediately ?? false) !== "boolean") return "returnImmediately must be true or false";
  if (!isTexts(ack ?? [])) return "ack must be a list of texts";
  const errors = setErrs ?? {};
  if (!isObject(errors) || !Object.values(errors).every(isObject))
    return "setErrs must be an object of objects";
  return {
    maxEvents: (maxEvents ?? undefined) as number | undefined,
    returnImmediately: returnImmediately === true,
    ack: (ack ?? []) as string[],
    setErrs: new Map(Object.entries(errors).map(([id, error]) => [id, words(error as object)])),
  };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** An error as a person reads it in the history of the event. */
function words({ err, description }: { err?: unknown; description?: unknown }): string {
  return [err, description]
    .filter((one) => typeof one === "string" && one !== "")
    .map((one) => shown(one, 150).slice(1, -1))
    .join(": ");
}
