/** How a serialiser writes JSON. */
export interface JsonStyle {
  /** Between two members or elements. */
  readonly comma: string;
  /** Between a name and its value. */
  readonly colon: string;
  /** What one level is indented by; without it all is on one line. */
  readonly indent?: string;
  readonly sorted?: boolean;
  /** A text as the serialiser writes it, with its quotes. */
  readonly quote: (text: string) => string;
  /** How it writes true, false and null, where that is not JSON's way. */
  readonly literals?: Readonly<Record<string, string>>;
}

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}[\],:]|[^\s{}[\],:"]+/g;
const PLAIN_STRING = /^"[\w .:-]*"$/;

/** Sorting copies what is inside a member at every level, so what is nested deeper is not sorted. */
const MAX_SORTED_DEPTH = 100;

/** The tokens of a valid JSON text: its numbers and members stay as they were written. */
export function jsonTokens(validJson: string): readonly string[] {
  return validJson.match(TOKEN) ?? [];
}

/** The tokens with the members of each object in the order of their names; `undefined` if nested too deeply. */
export function sortedTokens(tokens: readonly string[]): readonly string[] | undefined {
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

/** The tokens as another serialiser writes them; `undefined` if that is more than `maxLength` characters. */
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
