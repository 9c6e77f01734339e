// Checks payloads by the schemas of their types.
import { decodeUtf8 } from "../core/bytes.js";
import { CALLBACK_MS, within } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { createEvent, type EventIdForm, eventIn, isBytes, type WebhookEvent } from "../core/event.js";
import { lostByParsing } from "../core/json.js";
import { andThen } from "../core/value-or-promise.js";
import { issuesInWords, nameInWords } from "./issues.js";
import type { StandardSchema } from "./standard-schema.js";

/** The id that a caller chose for an event, if any. */
interface GivenId {
  readonly eventId: string | undefined;
  readonly idForm?: EventIdForm | undefined;
}

/** The catalogue that each event was checked by. */
const checkedBy = new WeakMap<WebhookEvent, object>();

/**
 * Checks payloads by the schemas of their types. What a schema gives is the payload from there on, so that its
 * defaults and transformations are what is signed and sent.
 */
export class Catalogue {
  readonly #given: object;
  readonly #schemas: ReadonlyMap<string, StandardSchema>;

  /** @throws {TypeError} if it holds no schema, or what is none */
  constructor(events: object) {
    this.#given = events;
    this.#schemas = schemasOf(events);
  }

  /**
   * Makes the event of a payload; at once where the schema answers at once, and within 10 seconds where it does not.
   *
   * @throws {HookproofError} EVENT_INVALID, TIMED_OUT, ABORTED, and what `createEvent` throws
   */
  event(payload: unknown, id: GivenId, signal?: AbortSignal): WebhookEvent | Promise<WebhookEvent> {
    const made = eventIn(payload);
    if (made) return this.#checked(made, id);
    const value = heldBy(payload);
    const fix = (output: unknown) => {
      const event = createEvent(output, id);
      checkedBy.set(event, this.#given);
      return event;
    };
    const output = this.#outputOf(value, signal);
    return andThen(output, fix);
  }

  /** An event whose bytes are fixed was checked when it was made, or is refused: its bytes must not change. */
  #checked(event: WebhookEvent, id: GivenId): WebhookEvent {
    if (checkedBy.get(event) === this.#given) return createEvent(event, id);
    throw invalid(
      "The event was made without this catalogue: make it with sender.createEvent, or pass its payload.",
    );
  }

  #outputOf(value: unknown, signal: AbortSignal | undefined): unknown {
    const type = typeIn(value);
    if (typeof type !== "string") {
      if (value !== undefined) createEvent(value); // a Promise without await is refused as what it is, and not for its type
      throw invalid("type: expected the name of an event.");
    }
    const schema = this.#schemas.get(type);
    if (!schema) throw invalid(`type: the catalogue has no ${nameInWords(type)}; it has ${this.#names()}.`);
    const failed = () => invalid(`The schema of ${nameInWords(type)} threw an error.`);
    let answer: unknown;
    let isLater: boolean;
    try {
      answer = schema["~standard"].validate(value);
      isLater = typeof (answer as PromiseLike<unknown> | null)?.then === "function";
    } catch {
      throw failed(); // without the cause, which may quote the payload
    }
    if (!isLater) return outputOf(answer, { type, value });
    const settled = Promise.resolve(answer).catch(() => Promise.reject(failed()));
    const late = () =>
      signal?.aborted
        ? new HookproofError("ABORTED", "Interrupted before anything was sent.")
        : new HookproofError(
            "TIMED_OUT",
            `The schema of ${nameInWords(type)} gave no answer within ${CALLBACK_MS} ms.`,
          );
    return within(settled, CALLBACK_MS, late, signal).then((later) => outputOf(later, { type, value }));
  }

  #names(): string {
    const shown = [...this.#schemas.keys()].slice(0, 10).map(nameInWords);
    const more = this.#schemas.size - shown.length;
    return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
  }
}

/** The schemas of a catalogue by their types. */
export function schemasOf(events: object): ReadonlyMap<string, StandardSchema> {
  if (typeof events !== "object" || events === null || Object.keys(events).length === 0)
    throw new TypeError(
      'events must hold a schema for each type of event, such as { "user.offboarded": schema }',
    );
  const schemas = new Map<string, StandardSchema>(Object.entries(events));
  for (const [type, schema] of schemas) {
    const standard = Object(schema)["~standard"];
    if (standard?.version !== 1 || typeof standard.validate !== "function")
      throw new TypeError(
        `events[${nameInWords(type)}] must be a Standard Schema of version 1, such as one of zod, valibot or arktype`,
      );
  }
  return schemas;
}

/** A text and bytes are JSON already; a schema checks what they hold. */
function heldBy(payload: unknown): unknown {
  if (typeof payload !== "string" && !isBytes(payload)) return payload;
  const text = decodeUtf8(createEvent(payload).body) ?? "null";
  // The schema's answer is written again, and the text would lose what JSON.parse loses.
  const lost = lostByParsing(text);
  if (lost !== undefined) throw notKept(lost);
  return JSON.parse(text);
}

/** The member `type`, if it can be read: what fails here is refused where it is written. */
function typeIn(value: unknown): unknown {
  try {
    return typeof value === "object" && value !== null ? Reflect.get(value, "type") : undefined;
  } catch {
    return undefined;
  }
}

function notKept(what: string): HookproofError {
  return new HookproofError(
    "PAYLOAD_NOT_JSON",
    `The payload text has ${what}, and a catalogue writes payloads again: it would be changed.`,
  );
}

/** What a schema made of a value. */
function outputOf(answer: unknown, { type, value }: { type: string; value: unknown }): unknown {
  const name = nameInWords(type);
  let read: { output: unknown } | { issues: string };
  try {
    read = answerOf(answer, value);
  } catch {
    throw invalid(`The schema of ${name} answered with neither a value nor issues.`);
  }
  if ("issues" in read) throw invalid(`The payload of ${name} does not fit its schema: ${read.issues}.`);
  if (Object(read.output).type !== type)
    throw invalid(`The schema of ${name} drops or changes type: name it in the schema, as a literal.`);
  return read.output;
}

function answerOf(answer: unknown, value: unknown): { output: unknown } | { issues: string } {
  const { issues } = answer as { issues?: unknown };
  if (Array.isArray(issues) && issues.length > 0) return { issues: issuesInWords(issues, value) };
  if (issues !== undefined || !("value" in (answer as object))) throw new TypeError("no answer of a schema");
  return { output: (answer as { value: unknown }).value };
}

function invalid(message: string): HookproofError {
  return new HookproofError("EVENT_INVALID", message);
}
