// Templates of JSON with expressions in them.
/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** What a step gives: values by name, with `{{ <cel> }}` in their texts. */
export type Templates = { readonly [name: string]: Json };

/** An expression of a template, and where it stands, such as `mail.to[0]`. */
export interface TemplateExpression {
  readonly path: string;
  readonly expression: string;
}

/** A template taken apart: its expressions in order, and how their values make up the result. */
interface ParsedTemplates {
  readonly expressions: readonly TemplateExpression[];
  /** @param values the JSON of each expression's value */
  fill(values: readonly string[]): Templates;
}

const MAX_DEPTH = 20;
/** How many characters one text with expressions may have: as many as a listener takes bytes. */
const MAX_LENGTH = 65_536;

/** What is wrong with a template, and where. */
export class TemplateError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Finds the expressions in templates. A text that is one expression and nothing else becomes its value, whatever
 * its type; in a longer text, values that are not text are written as JSON.
 *
 * @throws {TemplateError}
 */
export function parseTemplates(templates: Templates): ParsedTemplates {
  const expressions: TemplateExpression[] = [];
  const fill = parsed(templates, "", expressions);
  return { expressions, fill: (values) => fill(values) as Templates };
}

type Fill = (values: readonly string[]) => Json;

function parsed(value: Json, path: string, expressions: TemplateExpression[], depth = 0): Fill {
  if (depth > MAX_DEPTH) throw new TemplateError(path, `is more than ${MAX_DEPTH} levels deep`);
  if (typeof value === "string") return parsedText(value, path, expressions);
  if (value === null || typeof value !== "object") return () => value;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parsed(item, `${path}[${index}]`, expressions, depth + 1));
    return (values) => items.map((fill) => fill(values));
  }
  const members = Object.entries(value).map(
    ([name, item]) =>
      [name, parsed(item, path === "" ? name : `${path}.${name}`, expressions, depth + 1)] as const,
  );
  return (values) => Object.fromEntries(members.map(([name, fill]) => [name, fill(values)]));
}

function parsedText(text: string, path: string, expressions: TemplateExpression[]): Fill {
  if (text.length > MAX_LENGTH) throw new TemplateError(path, `has more than ${MAX_LENGTH} characters`);
  const parts: (string | number)[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("{{", at);
    if (open !== at) parts.push(text.slice(at, open === -1 ? text.length : open));
    if (open === -1) break;
    const close = endOfExpression(text, open + 2);
    if (close === -1) throw new TemplateError(path, "{{ is not closed by }}");
    parts.push(expressions.push({ path, expression: text.slice(open + 2, close).trim() }) - 1);
    at = close + 2;
  }
  const [only] = parts;
  if (parts.length === 1 && typeof only === "number") return (values) => JSON.parse(values[only] ?? "null");
  return (values) =>
    parts.map((part) => (typeof part === "string" ? part : inText(values[part] ?? "null"))).join("");
}

function inText(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

/**
 * A text of CEL, or braces outside of one. A text that is not closed ends with everything, or each of its quotes would
 * begin another.
 */
const TOKEN =
  /[rR]?("""|''')[\s\S]*?(?:\1|$)|[rR]("|')[\s\S]*?(?:\2|$)|"(?:\\[\s\S]|[^"\\])*(?:"|\\?$)|'(?:\\[\s\S]|[^'\\])*(?:'|\\?$)|\}\}|\}|\{+/g;

/** Where the `}}` is that closes an expression: not in a text, and not one that closes maps in maps. */
function endOfExpression(text: string, from: number): number {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    if (token[0] === "}}" && depth === 0) return token.index;
    if (token[0].startsWith("{")) depth += token[0].length;
    if (token[0] === "}" || token[0] === "}}") {
      depth -= 1;
      TOKEN.lastIndex = token.index + 1;
    }
  }
  return -1;
}
