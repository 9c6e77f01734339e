// Translates names of the document to those of a client.
import { propertiesOf } from "./lenient-body.js";
import { type OpenApiDocument, openApiDocument, resolved, type Schema } from "./openapi-document.js";

/** Translates between the names of the document and those that a client has. */
export interface WireNames {
  /** An answer in the client's names. */
  outgoing(value: unknown, schema: Schema | undefined): unknown;
  /** A request's body in the document's names. */
  incoming(value: unknown, schema: Schema): unknown;
  /** The document in the client's names, for generators of clients. */
  readonly document: OpenApiDocument;
}

/**
 * Some names of the document, such as `svcLocal` and `matchXId`, are neutral words, and a client may have its own in
 * their place. For such a client this maps both ways, fields and enumerated values, by the document's names.
 *
 * @throws {TypeError} for a name that the document does not have, or two that become one
 */
export function wireNames(names: Readonly<Record<string, string>> = {}): WireNames {
  const entries = Object.entries(names);
  if (entries.length === 0)
    return { outgoing: (value) => value, incoming: (value) => value, document: openApiDocument };
  const known = new Set(DOCUMENT_NAMES);
  for (const [name, wire] of entries) {
    if (!known.has(name)) throw new TypeError(`wireNames: the document has no name ${name}`);
    if (!/^[A-Za-z][A-Za-z0-9_]{0,127}$/.test(wire) || known.has(wire))
      throw new TypeError(`wireNames: ${name} cannot be called ${JSON.stringify(wire)}`);
  }
  // Maps, as what is looked up is a stranger's: an object has a `constructor` of its own.
  const out = new Map(entries);
  const back = new Map(entries.map(([name, wire]) => [wire, name]));
  if (back.size < entries.length) throw new TypeError("wireNames: two names become one");
  return {
    outgoing: (value, schema) =>
      schema ? renamed(value, schema, (name) => out.get(name) ?? name, true) : value,
    incoming: (value, schema) => renamed(value, schema, (name) => back.get(name) ?? name, false),
    document: renamedDocument((name) => out.get(name) ?? name),
  };
}

/** The lists of a schema that have names of fields in them, or the values of an enumeration that is open. */
const LISTS = new Set(["required", "enum", "x-at-most-one"]);

/** The document with other names of fields and enumerated values, where its schemas have them. */
function renamedDocument(rename: (name: string) => string): OpenApiDocument {
  const inText = (text: string) =>
    text.replace(/`([A-Za-z_]\w*)`/g, (_, name: string) => `\`${rename(name)}\``);
  const inMember = (keyword: string, part: unknown): [string, unknown] => {
    if (keyword === "properties" && typeof part === "object" && part !== null)
      return [
        keyword,
        Object.fromEntries(Object.entries(part).map(([name, one]) => [rename(name), inSchema(one)])),
      ];
    if (keyword === "description" && typeof part === "string") return [keyword, inText(part)];
    const isNames = LISTS.has(keyword) && Array.isArray(part);
    return [
      keyword,
      isNames ? part.map((one) => (typeof one === "string" ? rename(one) : one)) : inSchema(part),
    ];
  };
  const inSchema = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inSchema);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([keyword, part]) => inMember(keyword, part)));
  };
  const { paths, components, ...rest } = openApiDocument;
  return {
    ...rest,
    paths: inSchema(paths) as OpenApiDocument["paths"],
    components: inSchema(components) as OpenApiDocument["components"],
  };
}

/** A value with other names; members of free-form objects stay as they are. */
function renamed(
  value: unknown,
  schema: Schema,
  rename: (name: string) => string,
  isOutgoing: boolean,
): unknown {
  const { items, anyOf } = resolved(schema) as {
    items?: Schema;
    anyOf?: readonly { enum?: readonly string[] }[];
  };
  if (typeof value === "string") return anyOf?.some((one) => one.enum) ? rename(value) : value;
  if (Array.isArray(value))
    return items ? value.map((item) => renamed(item, items, rename, isOutgoing)) : value;
  const properties = propertiesOf(schema);
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const other = rename(name);
      const field = isOutgoing ? name : other;
      const known = Object.hasOwn(properties, field) ? properties[field] : undefined;
      return known ? [other, renamed(member, known, rename, isOutgoing)] : [name, member];
    }),
  );
}

/**
 * Every name of a field and every enumerated value of the document, each of which may have another name on the wire; the
 * neutral words, for which a client has its own, come first.
 */
export const DOCUMENT_NAMES: readonly string[] = documentNames();

function documentNames(): string[] {
  const names = new Set<string>(["svcLocal", "matchXId"]);
  const left: unknown[] = [openApiDocument.components.schemas];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const { properties, enum: values } = next as { properties?: object; enum?: unknown };
    if (properties) for (const name of Object.keys(properties)) names.add(name);
    if (Array.isArray(values)) for (const value of values) names.add(String(value));
    left.push(...Object.values(next));
  }
  return [...names];
}
