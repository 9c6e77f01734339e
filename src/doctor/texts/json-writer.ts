// Writes JSON as the serialisers of many languages do.
/** How one serialiser writes JSON. */
export interface JsonStyle {
  /** The text between two members or elements. */
  readonly comma: string;
  /** The text between a name and its value. */
  readonly colon: string;
  /** The indentation of one level; without it everything is on one line. */
  readonly indent?: string;
  /** Arrays stay on one line, with a space inside of each bracket, while objects are indented. */
  readonly arraysInline?: boolean;
  /** A bracket after a name begins a line of its own. */
  readonly bracketsOnOwnLine?: boolean;
  /** An empty array, with {n} for the line break and the indentation of the line that it stands on; [] without it. */
  readonly emptyArray?: string;
  /** An empty object, likewise; {} without it. */
  readonly emptyObject?: string;
  /** What begins an object that is not empty; { without it. */
  readonly openObject?: string;
  /** Writes a string, with its quotes. */
  readonly quote: Quote;
  /** How true, false and null are written, where that differs from JSON. */
  readonly literals?: Readonly<Record<string, string>>;
}

/** Writes a string, with its quotes. */
type Quote = (text: string) => string;

/** The distinct tokens of a JSON text by number, so that what is done to one is done once. */
export interface TokenTable {
  readonly texts: readonly string[];
  numberOf(token: string): number;
  /** What a quote makes of each string, by its number. */
  readonly quoted: Map<Quote, string[]>;
}

/** The numbers that the punctuation has in every table. */
export const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON] = [0, 1, 2, 3, 4, 5] as const;
const PUNCTUATION = ["{", "}", "[", "]", ",", ":"];

export function tokenTable(): TokenTable {
  const texts: string[] = [...PUNCTUATION];
  const numbers = new Map<string, number>(texts.map((token, number) => [token, number]));
  return {
    texts,
    quoted: new Map(),
    numberOf(token) {
      let number = numbers.get(token);
      if (number === undefined) {
        number = texts.length;
        texts.push(token);
        numbers.set(token, number);
      }
      return number;
    },
  };
}

/** The tokens of a JSON text, in order. */
export interface JsonTokens {
  readonly tokens: readonly number[];
  readonly table: TokenTable;
  /** A longer text cannot be what was signed. */
  readonly maxLength: number;
}

/** The tokens as a serialiser writes them; `undefined` if the result has more than `maxLength` characters. */
export function writeJson({ tokens, table, maxLength }: JsonTokens, style: JsonStyle): string | undefined {
  const { comma, colon, indent, arraysInline = false } = style;
  const pieceOf = pieces(table, style);
  // The line break of each depth, made when it is first needed.
  const breaks: string[] = [];
  const lineBreak = (depth: number) => {
    if (indent === undefined) return "";
    breaks[depth] ??= `\n${indent.repeat(depth)}`;
    return breaks[depth];
  };
  let written = "";
  let depth = 0;
  // For arrays that stay on one line: which of the open brackets are theirs.
  const inline: boolean[] = [];
  let isInline = false;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as number;
    if (token > COLON) written += pieceOf(token);
    else if (token === COMMA) written += isInline ? ", " : comma + lineBreak(depth);
    else if (token === COLON) {
      const next = tokens[index + 1] ?? COLON;
      const isOwnLine = style.bracketsOnOwnLine === true && next < COMMA;
      written += isOwnLine ? colon + lineBreak(depth) : colon;
    } else if (token === CLOSE_OBJECT || token === CLOSE_ARRAY) {
      if (isInline) written += " ]";
      else {
        depth--;
        written += lineBreak(depth) + (token === CLOSE_OBJECT ? "}" : "]");
      }
      inline.pop();
      isInline = inline.at(-1) === true;
    } else if (tokens[index + 1] === token + 1) {
      const empty = token === OPEN_ARRAY ? (style.emptyArray ?? "[]") : (style.emptyObject ?? "{}");
      written += empty.replaceAll("{n}", lineBreak(depth));
      index++;
    } else {
      isInline = arraysInline && token === OPEN_ARRAY;
      inline.push(isInline);
      if (!isInline) depth++;
      const open = token === OPEN_OBJECT ? (style.openObject ?? "{") : "[";
      written += isInline ? "[ " : open + lineBreak(depth);
    }
    if (written.length > maxLength) return undefined;
  }
  return written;
}

/** How a style writes a string, a number or a word. */
function pieces({ texts, quoted }: TokenTable, { quote, literals }: JsonStyle): (token: number) => string {
  let strings = quoted.get(quote);
  if (strings === undefined) {
    strings = [];
    quoted.set(quote, strings);
  }
  const known = strings;
  const make = (token: number) => {
    const text = texts[token] as string;
    return text.charCodeAt(0) === 34 && quote !== asWritten ? quote(textOf(text)) : text;
  };
  return (token) => {
    known[token] ??= make(token);
    const piece = known[token];
    return literals === undefined ? piece : (literals[piece] ?? piece);
  };
}

const PLAIN_STRING = /^"[\w .:-]*"$/;

/** The text that a string token stands for. */
export function textOf(token: string): string {
  return PLAIN_STRING.test(token) ? token.slice(1, -1) : (JSON.parse(token) as string);
}

/** Whether these quotes write a string of the text in another way than plain ones. */
export function escapes({ tokens, table: { texts } }: JsonTokens, quote: Quote): boolean {
  return [...new Set(tokens)].some((number) => {
    const token = texts[number] as string;
    if (token.charCodeAt(0) !== 34) return false;
    const text = textOf(token);
    return quote(text) !== plainQuotes(text);
  });
}

/** A string with the escapes that it came with. It stands for them: the writer never calls it. */
export function asWritten(text: string): string {
  return JSON.stringify(text);
}

/** A string as JSON.stringify writes it: nothing is escaped that JSON allows. */
export function plainQuotes(text: string): string {
  return JSON.stringify(text);
}

/** Python's `ensure_ascii`, and PHP without JSON_UNESCAPED_UNICODE. */
export function asciiQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[\u007f-\uffff]/g);
}

/** Only what lies beyond U+FFFF escaped, as some printers do that know 16 bits. */
export function astralQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[\ud800-\udfff]/g);
}

/** Characters beyond ASCII, escaped in capitals. */
export function capitalQuotes(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, capitalEscape);
}

/** The same for those beyond U+FFFF alone. */
export function astralCapitalQuotes(text: string): string {
  return JSON.stringify(text).replace(/[\ud800-\udfff]/g, capitalEscape);
}

/** .NET's encoder where ' and + are allowed. */
export function dotnetHtmlQuotes(text: string): string {
  return JSON.stringify(text).replace(/[<>&]/g, capitalEscape);
}

/** PHP with JSON_HEX_TAG alone, and slashes as they are. */
export function phpTagQuotes(text: string): string {
  return asciiQuotes(text).replace(/[<>]/g, capitalEscape);
}

/** PHP with JSON_HEX_TAG alone. */
export function phpTagSlashQuotes(text: string): string {
  return phpQuotes(text).replace(/[<>]/g, capitalEscape);
}

/** PHP with JSON_HEX_APOS alone. */
export function phpApostropheQuotes(text: string): string {
  return phpQuotes(text).replaceAll("'", "\\u0027");
}

/** Only quotes as \\u0022, as PHP with JSON_HEX_QUOT and .NET write them. */
export function quoteQuotes(text: string): string {
  return `"${JSON.stringify(text).slice(1, -1).replaceAll('\\"', "\\u0022")}"`;
}

/** Only + and ' as .NET escapes them. */
export function plusQuotes(text: string): string {
  return JSON.stringify(text).replace(/[+'`]/g, capitalEscape);
}

/** Only ' escaped. */
export function apostropheQuotes(text: string): string {
  return JSON.stringify(text).replaceAll("'", "\\u0027");
}

/** org.json of Java, and Ruby with script_safe: a slash is escaped behind <. */
export function tagEndQuotes(text: string): string {
  return JSON.stringify(text).replaceAll("</", "<\\/");
}

/** Control characters by number in every case, as Go writes \\b and \\f, and others \\n and \\t. */
export function numberedQuotes(text: string): string {
  return JSON.stringify(text).replace(/\\(?:[^bfnrt]|([bfnrt]))/g, (whole, letter?: string) =>
    letter === undefined ? whole : (NUMBERED[letter] ?? whole),
  );
}

/** The same for \\b and \\f alone. */
export function goControlQuotes(text: string): string {
  return htmlQuotes(text).replace(/\\(?:[^bf]|([bf]))/g, (whole, letter?: string) =>
    letter === undefined ? whole : (NUMBERED[letter] ?? whole),
  );
}

const NUMBERED: Readonly<Record<string, string>> = {
  b: "\\u0008",
  f: "\\u000c",
  n: "\\u000a",
  r: "\\u000d",
  t: "\\u0009",
};

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

/** Gson, which also escapes = and '. */
export function gsonQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[<>&='\u2028\u2029]/g);
}

/** JavaScriptSerializer of Mono, and of .NET where it is told to leave & as it is. */
export function angleQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[<>'\u0085\u2028\u2029]/g);
}

/** PowerShell 5 (`ConvertTo-Json`), and JavaScriptSerializer of .NET: <, >, & and '. */
export function powershellQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[<>&']/g);
}

/** PHP with all of JSON_HEX_TAG, _AMP, _APOS and _QUOT: in capitals. */
export function phpHexQuotes(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', "\\u0022").replaceAll("/", "\\/");
  const hex = inside.replace(/[<>&']/g, (char) => `\\u00${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `"${escaped(hex, /[\u007f-\uffff]/g)}"`;
}

/** The text without quotes, as Java's and Go's maps print themselves. */
export function noQuotes(text: string): string {
  return text;
}

/** .NET's `JsonSerializer`: escapes in capitals, also for what has a meaning in HTML. */
export function dotnetQuotes(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', "\\u0022");
  return `"${inside.replace(/[<>&'+`\u007f-\uffff]/g, capitalEscape)}"`;
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

function capitalEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
