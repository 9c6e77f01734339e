// Gives a catalogue of events as JSON Schema.
import { checkOptions } from "../core/options.js";
import { schemasOf } from "./catalogue.js";
import { nameInWords } from "./issues.js";
import type { StandardSchema } from "./standard-schema.js";

/** Options of `eventCatalogue`. */
export interface EventCatalogueOptions {
  /** The version of JSON Schema; `draft-2020-12` by default. A library need not know others. */
  target?: "draft-2020-12" | "draft-07" | (string & {}) | undefined;
  /** Gives the JSON Schema of a schema whose library does not, such as `toJsonSchema` of `@valibot/to-json-schema`. */
  toJsonSchema?: ((schema: never) => object) | undefined;
}

/**
 * The catalogue as JSON Schema, a schema for each type, for a page or for receivers in other languages. It describes
 * what is sent: the payload with its defaults and transformations.
 *
 * zod (4.2 and later) and arktype (2.1.28 and later) give JSON Schema themselves; for others pass `toJsonSchema`.
 *
 * @throws {TypeError} if a library gives none, or cannot express a schema
 *
 * @example
 * ```ts
 * import { type EventSchemas, eventCatalogue } from "hookproof";
 *
 * export const asJson = (events: EventSchemas<{ "user.offboarded": { userId: string } }>) =>
 *   JSON.stringify(eventCatalogue(events)); // {"user.offboarded":{"type":"object","properties":{...
 * ```
 */
export function eventCatalogue(
  events: Readonly<Record<string, StandardSchema>>,
  options: EventCatalogueOptions = {},
): Record<string, object> {
  checkOptions("eventCatalogue", options, { target: "string", toJsonSchema: "function" });
  const { target = "draft-2020-12", toJsonSchema = standardJsonSchema(target) } = options;
  const schemas = [...schemasOf(events)].map(([type, schema]) => {
    const name = `events[${nameInWords(type)}]`;
    let converted: unknown;
    try {
      converted = toJsonSchema(schema as never);
    } catch (cause) {
      throw new TypeError(`${name} cannot be expressed as JSON Schema: ${messageOf(cause)}`, { cause });
    }
    if (typeof converted !== "object" || converted === null)
      throw new TypeError(`${name} gives no JSON Schema: pass toJsonSchema, such as the one of its library`);
    return [type, converted] as const;
  });
  return Object.fromEntries(schemas);
}

/** By the Standard JSON Schema interface; `undefined` where a library does not have it. */
function standardJsonSchema(target: string) {
  return (schema: StandardSchema): object => {
    const { jsonSchema } = schema["~standard"] as { jsonSchema?: { output(options: object): object } };
    return jsonSchema?.output({ target }) as object;
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
