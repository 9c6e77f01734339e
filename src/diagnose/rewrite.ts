import { decodeBase64url, decodeUtf8 } from "../core/bytes.js";

// How other languages and tools write bytes, strings and JSON.

/** The bytes of hex in lower or upper case; `undefined` if the text is not hex. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text === "" || text.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

/** Bytes as hex in lower case. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of base64 or base64url, with or without padding. Bits after the last byte are ignored. */
export function decodeAnyBase64(text: string): Uint8Array | undefined {
  const url = text
    .replace(/(?<!=)=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  const strict = decodeBase64url(url);
  if (strict || url.length % 4 < 2) return strict;
  const whole = decodeBase64url(`${url}${"A".repeat(4 - (url.length % 4))}`);
  return whole?.subarray(0, Math.floor((url.length * 3) / 4));
}

/** Every JavaScript engine takes this many arguments in one call. */
const CHARACTERS_AT_ONCE = 4_096;

/** Bytes read as Latin-1: each byte becomes the character of the same number. */
export function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += CHARACTERS_AT_ONCE)
    text += String.fromCharCode(...bytes.subarray(i, i + CHARACTERS_AT_ONCE));
  return text;
}

/** The bytes of a text in Latin-1; `undefined` if it has a character outside of Latin-1. */
export function latin1(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) return undefined;
    bytes[i] = code;
  }
  return bytes;
}

/** The bytes of a text in UTF-16. */
export function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian);
  return bytes;
}

const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes read as UTF-8; what is not UTF-8 becomes U+FFFD. */
export function lossyText(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** A received JSON body, parsed once for all the ways in which it may have been written. */
export interface ReceivedJson {
  readonly text: string;
  readonly value: unknown;
  readonly tokens: readonly string[];
  /** The tokens with each object's members in the order of their names; `undefined` if nested too deeply. */
  readonly sorted: readonly string[] | undefined;
  /** A longer text cannot be what was signed. */
  readonly maxLength: number;
}

/** Reads a body as JSON and ignores a byte order mark; `undefined` if it is not JSON. */
export function readJson(bytes: Uint8Array): ReceivedJson | undefined {
  const text = decodeUtf8(bytes)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const tokens = jsonTokens(text);
    let sorted: { tokens: readonly string[] | undefined } | undefined;
    return {
      text,
      value,
      tokens,
      get sorted() {
        sorted ??= { tokens: sortedTokens(tokens) };
        return sorted.tokens;
      },
      maxLength: 1_024 + 4 * text.length,
    };
  } catch {
    return undefined;
  }
}

/** How one serialiser writes JSON. */
export interface JsonStyle {
  /** The text between two members or elements. */
  readonly comma: string;
  /** The text between a name and its value. */
  readonly colon: string;
  /** The indentation of one level; without it everything is on one line. */
  readonly indent?: string;
  /** Writes a string, with its quotes. */
  readonly quote: (text: string) => string;
  /** What it writes for true, false and null, where that differs from JSON. */
  readonly literals?: Readonly<Record<string, string>>;
}

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}[\],:]|[^\s{}[\],:"]+/g;
const PLAIN_STRING = /^"[\w .:-]*"$/;

/** Sorting copies the inside of each member at every level, so deeper JSON would cost too much. */
const MAX_SORTED_DEPTH = 100;

/** The tokens of a valid JSON text. Numbers and the order of members stay as they were written. */
function jsonTokens(validJson: string): readonly string[] {
  return validJson.match(TOKEN) ?? [];
}

/** The tokens with each object's members in the order of their names; `undefined` if nested too deeply. */
function sortedTokens(tokens: readonly string[]): readonly string[] | undefined {
  interface Open {
    readonly bracket: string;
    members: string[][];
  }
  const open: Open[] = [{ bracket: "", members: [[]] }];
  for (const token of tokens) {
    const inside = open.at(-1) as Open;
    if (token === "{" || token === "[") {
      if (open.length > MAX_SORTED_DEPTH) return undefined;
      open.push({ bracket: token, members: [[]] });
    } else if (token === "}" || token === "]") {
      open.pop();
      const { bracket, members } = inside;
      const ordered = bracket === "{" ? members.toSorted(byName) : members;
      const into = (open.at(-1) as Open).members.at(-1) as string[];
      into.push(bracket);
      for (const [index, member] of ordered.entries()) {
        if (index > 0) into.push(",");
        for (const one of member) into.push(one);
      }
      into.push(token);
    } else if (token === ",") inside.members.push([]);
    else (inside.members.at(-1) as string[]).push(token);
  }
  return open[0]?.members[0];
}

function byName([a = ""]: string[], [b = ""]: string[]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The tokens as another serialiser writes them; `undefined` if the result has more than `maxLength` characters. */
export function rewriteJson(
  tokens: readonly string[],
  style: JsonStyle,
  maxLength: number,
): string | undefined {
  const { comma, colon, indent, quote, literals = {} } = style;
  const quoted = new Map<string, string>();
  let written = "";
  let depth = 0;
  const newLine = () => (indent === undefined ? "" : `\n${indent.repeat(depth)}`);
  for (const [index, token] of tokens.entries()) {
    if (token === "{" || token === "[") {
      depth++;
      const next = tokens[index + 1];
      written += next === "}" || next === "]" ? token : token + newLine();
    } else if (token === "}" || token === "]") {
      depth--;
      const last = tokens[index - 1];
      written += last === "{" || last === "[" ? token : newLine() + token;
    } else if (token === ",") written += comma + newLine();
    else if (token === ":") written += colon;
    else if (token.startsWith('"')) {
      const text = quoted.get(token) ?? quote(textOf(token));
      quoted.set(token, text);
      written += text;
    } else written += literals[token] ?? token;
    if (written.length > maxLength) return undefined;
  }
  return written;
}

function textOf(token: string): string {
  return PLAIN_STRING.test(token) ? token.slice(1, -1) : (JSON.parse(token) as string);
}

/** A string as JSON.stringify writes it: nothing is escaped that JSON allows. */
export function plainQuotes(text: string): string {
  return JSON.stringify(text);
}

/** Python's `ensure_ascii`, and PHP without JSON_UNESCAPED_UNICODE. */
export function asciiQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[\u007f-\uffff]/g);
}

/** PHP's `json_encode`: ASCII, and slashes escaped. */
export function phpQuotes(text: string): string {
  return slashQuotes(text, asciiQuotes);
}

/** PHP's `json_encode` with JSON_UNESCAPED_UNICODE. */
export function slashQuotes(text: string, quote: (text: string) => string = plainQuotes): string {
  return quote(text).replaceAll("/", "\\/");
}

/** Go's `json.Marshal`, and Rails: escapes what has a meaning in HTML. */
export function htmlQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[<>&\u2028\u2029]/g);
}

/** .NET's `JsonSerializer`: escapes in capitals, also for what has a meaning in HTML. */
export function dotnetQuotes(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', "\\u0022");
  return `"${inside.replace(/[<>&'+`\u007f-\uffff]/g, (char) => unicodeEscape(char).toUpperCase().replace("\\U", "\\u"))}"`;
}

/** Python's `repr()` of a string. */
export function pythonQuotes(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `${quote}${quote === "'" ? inside.replaceAll("'", "\\'") : inside}${quote}`;
}

function escaped(json: string, what: RegExp): string {
  return json.replace(what, unicodeEscape);
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
