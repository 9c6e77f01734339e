// Sets JSON on lines, each token in its own spelling.
/** A piece of JSON for the eye: where it stands, and what it is. */
interface JsonPiece {
  readonly text: string;
  readonly kind?: "key" | "string" | "number" | "word";
}

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[[\]{},:]|./gsy;
/** Brackets alone could make gigabytes of white space: what gets longer than this is not laid out. */
const LONGEST = 500_000;
/** More pieces than this are not told apart, so that the page stays quick. */
const MAX_PIECES = 2_000;

/**
 * Sets JSON on lines, each token in its own spelling: what was sent stays readable as it was sent, numbers
 * with all their digits and members that occur twice included. Undefined for a text that is no JSON, or too deep.
 */
export function prettyJson(text: string): JsonPiece[] | undefined {
  if (!isJson(text)) return undefined;
  const tokens = (text.match(TOKEN) ?? []).filter((token) => token.trim() !== "");
  const pieces: JsonPiece[] = [];
  let [depth, length, plain] = [0, 0, ""];
  const line = () => {
    length += 2 * depth;
    return length > LONGEST ? "" : `\n${"  ".repeat(depth)}`;
  };
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    const kind = kindOf(token, next);
    if (kind) {
      if (plain) pieces.push({ text: plain });
      plain = "";
      pieces.push({ text: token, kind });
    } else if (token === "{" || token === "[") {
      const closes = next === "}" || next === "]";
      depth++;
      plain += closes ? token : token + line();
    } else if (token === "}" || token === "]") {
      depth--;
      const before = tokens[index - 1];
      plain += before === "{" || before === "[" ? token : line() + token;
    } else plain += token === "," ? `,${line()}` : ": ";
  }
  if (plain) pieces.push({ text: plain });
  if (length > LONGEST) return undefined;
  return pieces.length <= MAX_PIECES ? pieces : [{ text: pieces.map((piece) => piece.text).join("") }];
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function kindOf(token: string, next: string | undefined): JsonPiece["kind"] {
  if (token.startsWith('"')) return next === ":" ? "key" : "string";
  if (/^[-\d]/.test(token)) return "number";
  return /^[tfn]/.test(token) ? "word" : undefined;
}
