// Writes values as forms and as PHP's serialize() does.
import type { Json, Texts } from "./json-shapes.js";

// What other languages make of JSON that is not JSON again.

/** Whose form-encoding: they differ in lists, in null, true and false, and in the order. */
type FormKind = "php" | "web" | "python" | "rails";

type Pair = readonly [name: string, value: string];

/**
 * An object as a form; `undefined` if it is none, or holds what this kind cannot write.
 *
 * @param repr what Python writes for a list or an object
 */
export function formOf(
  tree: Json,
  texts: Texts,
  kind: FormKind,
  repr: (part: Json) => string | undefined,
): string | undefined {
  if (typeof tree === "number" || !("members" in tree)) return undefined;
  const pairs: Pair[] = [];
  for (const [name, value] of tree.members) {
    if (kind === "php" || kind === "rails") nested(pairs, texts.text(name), value, { texts, kind });
    else if (typeof value === "number") pairs.push([texts.text(name), wordOf(value, texts, kind)]);
    else if (kind === "python") pairs.push([texts.text(name), repr(value) ?? ""]);
    else return undefined;
  }
  const inOrder = kind === "rails" ? pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) : pairs;
  return inOrder.map(([name, value]) => `${formPart(name, kind)}=${formPart(value, kind)}`).join("&");
}

function nested(pairs: Pair[], name: string, value: Json, how: { texts: Texts; kind: FormKind }): void {
  const { texts, kind } = how;
  if (typeof value === "number") {
    if (texts.token(value) !== "null" || kind === "rails") pairs.push([name, wordOf(value, texts, kind)]);
  } else if ("items" in value) {
    for (const [index, item] of value.items.entries())
      nested(pairs, kind === "rails" ? `${name}[]` : `${name}[${index}]`, item, how);
  } else for (const [key, inner] of value.members) nested(pairs, `${name}[${texts.text(key)}]`, inner, how);
}

const WORDS: Readonly<Record<FormKind, Readonly<Record<string, string>>>> = {
  php: { true: "1", false: "0" },
  web: {},
  python: { true: "True", false: "False", null: "None" },
  rails: { null: "" },
};

function wordOf(number: number, texts: Texts, kind: FormKind): string {
  const token = texts.token(number);
  return token.startsWith('"') ? texts.text(number) : (WORDS[kind][token] ?? token);
}

function formPart(text: string, kind: FormKind): string {
  const encoded = formEncoded(text);
  if (kind === "web") return encoded;
  const others = encoded.replaceAll("*", "%2A");
  return kind === "php" ? others : others.replaceAll("%7E", "~");
}

/** A text as a value of a form: + for a space, and %XX. A lone surrogate becomes U+FFFD. */
export function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/** What serialize() of PHP makes of a value that was decoded into arrays. */
export function phpSerialised(value: Json, texts: Texts): string {
  if (typeof value !== "number") {
    const entries =
      "items" in value
        ? value.items.map((item, index) => `i:${index};${phpSerialised(item, texts)}`)
        : value.members.map(([name, inner]) => `${phpText(texts.text(name))}${phpSerialised(inner, texts)}`);
    return `a:${entries.length}:{${entries.join("")}}`;
  }
  const token = texts.token(value);
  if (token.startsWith('"')) return phpText(texts.text(value));
  if (token === "null") return "N;";
  if (token === "true" || token === "false") return `b:${token === "true" ? 1 : 0};`;
  return /[.e]/i.test(token) ? `d:${Number(token)};` : `i:${token};`;
}

function phpText(text: string): string {
  return `s:${new TextEncoder().encode(text).length}:"${text}";`;
}
