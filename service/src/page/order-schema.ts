// Checks what a page asks for by a schema, whose sentences say what is wrong.
import type { Ajv2020, AnySchemaObject, ErrorObject } from "ajv/dist/2020.js";
import { InspectorError } from "./inspector-error.js";

/** A JSON Schema; its `says` is the sentence for anyone who sent what does not fit. */
type OrderSchema = Readonly<Record<string, unknown>>;

/** An object that has these members and no others. */
export const orderOf = (
  properties: Readonly<Record<string, OrderSchema>>,
  required: readonly string[],
  more: OrderSchema,
): OrderSchema => ({ type: "object", properties, required, additionalProperties: false, ...more });

/** A whole number within its bounds. */
export const wholeFrom = (name: string, minimum: number, maximum: number): OrderSchema => ({
  type: "integer",
  minimum,
  maximum,
  says: `${name} is a whole number from ${minimum} to ${maximum}.`,
});

// Not `violationsOf` of the API: it reads the OpenAPI document, which the command's bundle does not have.
let loading: Promise<Ajv2020> | undefined;

/** The validator's files are loaded when something is asked for first: a page that only shows never does. */
async function validator(): Promise<Ajv2020> {
  const { Ajv2020 } = await import("./ajv.js");
  return new Ajv2020({
    strict: false,
    ownProperties: true,
    meta: false,
    validateSchema: false,
    // A misspelt member is named even where something is missing for it, and its schema says what is wrong.
    allErrors: true,
    verbose: true,
    // Lengths are those of JavaScript, as the page counts them.
    unicode: false,
    logger: false,
  });
}

/**
 * A value that fits its schema.
 *
 * @throws {InspectorError} 400 with the schema's own sentence
 */
export async function orderBy<Order>(value: unknown, schema: OrderSchema): Promise<Order> {
  loading ??= validator();
  const ajv = await loading;
  const validate = ajv.compile<unknown>(schema); // once for each schema: it keeps what it has made of one
  if (validate(value)) return value as Order;
  throw orderInvalid(sentence(validate.errors ?? []));
}

/** 400 for an order that cannot be followed. */
export function orderInvalid(message: string): InspectorError {
  return new InspectorError(400, "ORDER_INVALID", message);
}

function sentence(errors: readonly ErrorObject[]): string {
  const unknown = errors.find(({ keyword }) => keyword === "additionalProperties");
  if (unknown) return `${unknown.params.additionalProperty} is not known here.`;
  // What each of several choices lacks says less than that none was taken.
  const first = errors.find(({ schemaPath }) => !schemaPath.includes("/anyOf/"));
  return (first && saidBy(first)) ?? "The order is not valid.";
}

function saidBy({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  const { says, properties } = parentSchema as AnySchemaObject;
  return keyword === "required" ? (properties?.[params.missingProperty]?.says ?? says) : says;
}
