// Takes a JSON text apart with the place of every value.
/** A JSON value as it was written: nothing is rounded, sorted or merged. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string" | "number" | "literal"; readonly raw: string };

/** One member of an object. */
export interface JsonMember {
  readonly rawName: string;
  readonly name: string;
  readonly value: JsonNode;
}

/** A JSON text, taken apart. */
export interface JsonTree {
  readonly root: JsonNode;
  /** The white space, in order, with what it stands before. */
  readonly gaps: readonly string[];
}

/** Deeper JSON is not taken apart, or a stranger's brackets would use up the stack. */
export const MAX_DEPTH = 100;

/** A token of JSON: a text, a sign, or a number or word. */
export const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Takes a text apart in one pass; `undefined` if it is no JSON, or nested too deeply. */
export function jsonTree(text: string): JsonTree | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const gaps: string[] = [];
  const tokens: string[] = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [token] = found;
    // Of the gaps between tokens only the kind and the white space count, so that two orders can be compared.
    gaps.push(`${text.slice(end, found.index)}${/^[{}[\],:]/.test(token) ? token : ""}`);
    tokens.push(token);
    end = found.index + token.length;
  }
  const reader = { tokens, at: 0 };
  const root = readNode(reader, 0);
  return root && { root, gaps };
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
}

/** The text is valid, so whatever is not looked at is a comma or a colon. */
function readNode(reader: Reader, depth: number): JsonNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const token = reader.tokens[reader.at++] ?? "";
  if (token === "{") return readObject(reader, depth);
  if (token === "[") return readArray(reader, depth);
  if (token.startsWith('"')) return { kind: "string", raw: token };
  return { kind: /^[-0-9]/.test(token) ? "number" : "literal", raw: token };
}

function readObject(reader: Reader, depth: number): JsonNode | undefined {
  const members: JsonMember[] = [];
  while (reader.tokens[reader.at] !== "}") {
    if (reader.tokens[reader.at] === ",") reader.at++;
    const rawName = reader.tokens[reader.at] ?? "";
    reader.at += 2;
    const value = readNode(reader, depth + 1);
    if (value === undefined) return undefined;
    members.push({ rawName, name: JSON.parse(rawName) as string, value });
  }
  reader.at++;
  return { kind: "object", members };
}

function readArray(reader: Reader, depth: number): JsonNode | undefined {
  const items: JsonNode[] = [];
  while (reader.tokens[reader.at] !== "]") {
    if (reader.tokens[reader.at] === ",") reader.at++;
    const item = readNode(reader, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  }
  reader.at++;
  return { kind: "array", items };
}
