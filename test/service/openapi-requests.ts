import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "../kit/fast-check.js";
import { document, type Node, type Operation, resolved } from "./openapi-operations.js";

/** A request drawn from the OpenAPI document. */
export interface DrawnRequest {
  readonly operationId: string;
  /** It is one of the remote control, which makes the service go wrong on purpose. */
  readonly isControl: boolean;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The text of the body, where the operation has one. */
  readonly body: string | undefined;
  /** All that is sent fits the document's schemas. */
  readonly wellFormed: boolean;
}

/** Values that lead somewhere, by the names of parameters and members. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

/** Texts that are something elsewhere. */
const WORDS = ["displayName", "profile.team", "*", "' OR 1=1 --", "$[0]", "\u0000", "%ff", "{{ 1 + 1 }}"];

const ajv = new Ajv2020({ strict: false });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: "openapi", components: document.components });
const validators = new WeakMap<object, ValidateFunction>();

function fits(value: unknown, schema: Node): boolean {
  let validate = validators.get(schema);
  if (!validate) {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
    validate = ajv.compile(JSON.parse(text));
    validators.set(schema, validate);
  }
  return validate(value);
}

/** Requests of operations; of two, one is drawn to fit and one to be wrong in a place, or in all of them. */
export function requestsOf(
  operations: readonly Operation[],
  known: KnownValues,
  /** How often an operation comes, beside 4 for the others. */
  weights: Readonly<Record<string, number>> = {},
): fc.Arbitrary<DrawnRequest> {
  return fc.oneof(
    ...operations.map((operation) => ({
      weight: weights[operation.id] ?? 4,
      arbitrary: fc.oneof(
        requestOf(operation, valuesOf(known, fitting)),
        requestOf(operation, valuesOf(known, anything)),
      ),
    })),
  );
}

type Draw = (schema: Node, name?: string) => fc.Arbitrary<unknown>;
type Kind = (schema: Node, draw: Draw) => fc.Arbitrary<unknown>;

/** Draws values of a kind; those with a name that leads somewhere mostly lead there. */
function valuesOf(known: KnownValues, kind: Kind): Draw {
  const draw: Draw = (given, name) => {
    const drawn = kind(resolved(given) ?? {}, draw);
    const there = known[name ?? ""];
    return there
      ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...there) }, { weight: 1, arbitrary: drawn })
      : drawn;
  };
  return draw;
}

/** What a schema allows, and now and then what it does not. */
const anything: Kind = (schema, draw) =>
  fc.oneof(
    { weight: 6, arbitrary: fitting({ ...schema, required: [] }, draw) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    { weight: 1, arbitrary: text },
  );

const text = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: "binary", maxLength: 40 }));

/** What a schema allows. */
function fitting(schema: Node, draw: Draw): fc.Arbitrary<unknown> {
  if (schema.allOf) return fitting(merged(schema.allOf), draw);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: Node) => draw(one)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const [type, ...others] = [schema.type].flat();
  const drawn = ofType(type, schema, draw);
  return others.includes("null") ? fc.oneof({ weight: 4, arbitrary: drawn }, fc.constant(null)) : drawn;
}

function ofType(type: string | undefined, schema: Node, draw: Draw): fc.Arbitrary<unknown> {
  if (type === "object") return objectOf(schema, draw);
  if (type === "array") {
    const { minItems: minLength = 0, items } = schema;
    return fc.array(draw(items), { minLength, maxLength: Math.max(4, minLength) });
  }
  if (type === "integer") {
    const { minimum: min = -(2 ** 31), maximum: max = 2 ** 31 - 1 } = schema;
    const edges = [min, max, 0, 1, 10, 100].filter((one) => one >= min && one <= max);
    return fc.oneof(fc.integer({ min, max }), fc.constantFrom(...edges));
  }
  if (type === "boolean") return fc.boolean();
  if (type !== "string") return fc.jsonValue({ maxDepth: 2 });
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.format === "date-time")
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toJSON());
  return text.filter(({ length }) => length >= (schema.minLength ?? 0));
}

function objectOf(schema: Node, draw: Draw): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], "x-at-most-one": single = [] } = schema;
  const fields = Object.entries<Node>(properties).map(([name, one]) => [name, draw(one, name)]);
  const drawn = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  const members = schema.additionalProperties
    ? fc.tuple(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), drawn)
    : drawn.map((object) => [{}, object] as const);
  return members.map(([more, object]) => {
    const extra = single.filter((name: string) => Object.hasOwn(object, name)).slice(1);
    const left = Object.entries(object).filter(([name]) => !extra.includes(name));
    return { ...more, ...Object.fromEntries(left) };
  });
}

function merged(parts: readonly Node[]): Node {
  const all = parts.map(resolved);
  return {
    type: "object",
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required = [] }) => required),
  };
}

function requestOf(operation: Operation, draw: Draw): fc.Arbitrary<DrawnRequest> {
  const { id: operationId, method, path, parameters, node } = operation;
  const placed = (place: string) => parameters.filter((one) => one.in === place);
  const ids = fc.record(
    Object.fromEntries(placed("path").map(({ name, schema }) => [name, draw(schema, name)])),
  );
  // Each now and then: several at once refuse one another.
  const seldom = (one: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: one });
  const asked = fc.record(
    Object.fromEntries(
      placed("query").map(({ name, schema, required }) => {
        const value = draw(schema, name);
        return [name, required ? value : seldom(value)];
      }),
    ),
  );
  const schema = node.requestBody?.content["application/json"]?.schema;
  const body: fc.Arbitrary<string | undefined> = schema
    ? fc.oneof(
        { weight: 16, arbitrary: draw(schema, operationId).map((value) => JSON.stringify(value)) },
        {
          weight: 3,
          arbitrary: fc.tuple(draw(schema, operationId), spoiling).map(([value, how]) => spoilt(value, how)),
        },
        { weight: 1, arbitrary: fc.string() },
      )
    : fc.constant(undefined);
  const names = placed("query").map(({ name }) => name);
  const wrong = fc.constantFrom(
    ...names.flatMap((name) => [name, `${name}${name.at(-1)}`, otherSpelling(name)]),
    "x",
  );
  const beside = fc.oneof(
    { weight: 11, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.tuple(wrong, text), { minLength: 1, maxLength: 2 }) },
  );
  return fc.tuple(ids, asked, body, beside).map(([inPath, inQuery, sent, more]) => {
    const query = Object.entries(inQuery).filter(([, value]) => value !== undefined);
    const written = (value: unknown) =>
      encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      written((inPath as Record<string, unknown>)[name]),
    );
    const given: Record<string, unknown> = { ...inPath, ...Object.fromEntries(query) };
    return {
      operationId,
      isControl: node["x-control"] === true,
      method,
      target: `${filled}?${[...query, ...more].map(([name, value]) => `${name}=${written(value)}`).join("&")}`,
      body: sent,
      wellFormed:
        more.length === 0 &&
        parameters.every(({ name, schema }) => given[name] === undefined || fits(given[name], schema)) &&
        // A path ends at these.
        Object.values(inPath).every((id) => id !== "." && id !== "..") &&
        (sent === undefined || isJsonThat(sent, (value) => fits(value, schema))),
    };
  });
}

/** How a body is spoilt: which of its members, counted through all levels, and what becomes of it. */
const spoiling = fc.record({
  place: fc.nat(20),
  how: fc.constantFrom("misspelt", "null", "doubled", "both spellings"),
  other: fc.jsonValue({ maxDepth: 1 }),
});

type Spoiling = typeof spoiling extends fc.Arbitrary<infer One> ? One : never;

/** The text of a body of which one member is misspelt, null, or there twice: alike, or in both spellings. */
function spoilt(value: unknown, { place, how, other }: Spoiling): string {
  const count = membersOf(value);
  let left = count === 0 ? -1 : place % count;
  const written = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(written).join()}]`;
    if (typeof one !== "object" || one === null) return JSON.stringify(one) ?? "null";
    const members = Object.entries(one).flatMap(([name, inner]) => {
      const isIt = left-- === 0;
      const member = (key: string, text: string) => `${JSON.stringify(key)}:${text}`;
      const right = member(name, written(inner));
      if (!isIt) return [right];
      if (how === "misspelt") return [member(`${name.slice(0, 1)}${name}`, written(inner))];
      if (how === "null") return [member(name, "null")];
      return [right, member(how === "doubled" ? name : otherSpelling(name), JSON.stringify(other))];
    });
    return `{${members.join()}}`;
  };
  return written(value);
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, one) => sum + membersOf(one), own);
}

function otherSpelling(name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return snake === name ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : snake;
}

function isJsonThat(text: string, holds: (value: unknown) => boolean): boolean {
  try {
    return holds(JSON.parse(text));
  } catch {
    return false;
  }
}
