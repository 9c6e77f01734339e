// Reads a request that a browser copied for PowerShell.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { cutCommand } from "./cmd-words.js";
import type { CapturedRequest } from "./raw-request.js";

const CALL = /(?:^|[\s=(])(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s/i;

/** Whether a text calls what sends requests in PowerShell. */
export function isPowerShell(start: string): boolean {
  return CALL.test(start);
}

/** Reads the call of `Invoke-WebRequest`: its URL, method, headers, content type and body. */
export function parsePowerShell(text: string): CapturedRequest {
  const at = CALL.exec(text)?.index ?? 0;
  const tokens = tokensOf(withPlainTexts(text.slice(at)));
  let [method, target, contentType, body]: (string | undefined)[] = [];
  let headersAt = tokens.length;
  let isOfFile = false;
  const assignedAt = (variable: string) => {
    const start = text.slice(0, at).lastIndexOf(`${variable} `);
    const found = /^\$\w{1,60}\s*=\s*@\{/.exec(text.slice(Math.max(start, 0), at));
    if (start < 0 || !found) throw notATextOf("-Headers");
    // Behind the call, so that one list has all.
    const assigned = tokensOf(text.slice(start, at));
    const from = tokens.length;
    tokens.push(...assigned.slice(assigned.findIndex(({ word }) => word?.startsWith("@{") === true)));
    return from + 1;
  };
  for (let index = 0; index < tokens.length; index++) {
    const name = tokens[index]?.word?.toLowerCase();
    const next = tokens[index + 1];
    if (name === "-headers")
      headersAt = next?.word?.startsWith("$") === true ? assignedAt(next.word) : index + 2;
    else if (name === "-infile") isOfFile = true;
    else if (name === "-uri") target = givenTo("-Uri", next);
    else if (name === "-method") method = givenTo("-Method", next);
    else if (name === "-contenttype") contentType = givenTo("-ContentType", next);
    else if (name === "-body") body = givenTo("-Body", bodyToken(tokens, index + 1));
  }
  const [, first] = tokens;
  target ??= first?.text ?? (/^https?:/i.test(first?.word ?? "") ? first?.word : undefined);
  if (target === undefined) throw usageError("The call of PowerShell has no -Uri.");
  // -ContentType comes before what -Headers says of it.
  const headers = headersIn(tokens, headersAt).filter(
    ([name]) => contentType === undefined || name.toLowerCase() !== "content-type",
  );
  if (contentType !== undefined) headers.push(["Content-Type", contentType]);
  return {
    method: (method ?? "GET").toUpperCase(),
    target,
    headers,
    body: Buffer.from(body ?? ""),
    ...(isOfFile ? { lacksBody: "-InFile takes it from a file" } : {}),
  };
}

/** Here-strings as texts in single quotes: all between their first and last line stands for itself. */
function withPlainTexts(text: string): string {
  const start = /@(["'])\r?\n/.exec(text);
  if (start === null) return text;
  const [opening, quote = ""] = start;
  const from = start.index + opening.length;
  const end = text.indexOf(`\n${quote}@`, from);
  const inner = text.slice(from, end).replace(/\r$/, "");
  if (end < 0 || (quote === '"' && /[$`]/.test(inner))) return text;
  // One body is one text: a second one is not looked for.
  return `${text.slice(0, start.index)}'${inner.replaceAll("'", "''")}'${text.slice(end + 3)}`;
}

function notATextOf(name: string): Error {
  return usageError(
    `${name} is no text but something that PowerShell works out.`,
    "Copy it as PowerShell from the browser, or write its value there.",
  );
}

interface Token {
  /** A text in quotes, with its escapes resolved. */
  readonly text?: string;
  /** What stands without quotes. */
  readonly word?: string;
}

function givenTo(name: string, token: Token | undefined): string {
  const value = token?.text ?? token?.word;
  if (value === undefined || (token?.text === undefined && /^[$(@]/.test(value))) throw notATextOf(name);
  return value;
}

/** The text of the body; browsers write `([System.Text.Encoding]::UTF8.GetBytes("…"))` around one beyond ASCII. */
function bodyToken(tokens: readonly Token[], from: number): Token | undefined {
  const [first, second] = [tokens[from], tokens[from + 1]];
  return first?.word !== undefined && /UTF8\.GetBytes\($/i.test(first.word) ? second : first;
}

function headersIn(tokens: readonly Token[], from: number): HeaderPair[] {
  const headers: HeaderPair[] = [];
  for (let at = from; at < tokens.length && !tokens[at]?.word?.startsWith("}"); ) {
    const [name, sign, value] = [tokens[at], tokens[at + 1], tokens[at + 2]];
    if (sign?.word === "=" && name !== undefined && value !== undefined) {
      headers.push([name.text ?? name.word ?? "", givenTo("-Headers", value)]);
      at += 3;
    } else at += 1;
  }
  return headers;
}

const BREAK = /[\s;]/;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? "";
    if (char === '"' || char === "'") {
      const { value, end } = quoted(text, at);
      tokens.push({ text: value });
      at = end;
    } else if (char === "`" || BREAK.test(char)) at += 1;
    else if (char === "=" || char === "}") {
      tokens.push({ word: char });
      at += 1;
    } else {
      let end = at + 1;
      while (end < text.length && !BREAK.test(text[end] ?? "") && !/["'=`}]/.test(text[end] ?? "")) end++;
      tokens.push({ word: text.slice(at, end) });
      at = end;
    }
  }
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0" };

/** A text in quotes; in double ones with backticks and `$([char]N)`, as browsers write what is not ASCII. */
function quoted(text: string, from: number): { value: string; end: number } {
  const quote = text[from];
  const parts: string[] = [];
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === quote) {
      if (text[at + 1] !== quote) return { value: parts.join(""), end: at + 1 };
      parts.push(char);
      at += 1;
    } else if (quote === "'") parts.push(char);
    else if (char === "`") {
      at += 1;
      parts.push(ESCAPES[text[at] ?? ""] ?? text[at] ?? "");
    } else if (char === "$") {
      const [whole, code] = /^\$\(\[char\]([0-9]{1,5})\)/.exec(text.slice(at, at + 20)) ?? [];
      if (whole === undefined || code === undefined) parts.push(char);
      else {
        parts.push(String.fromCharCode(Number(code)));
        at += whole.length - 1;
      }
    } else parts.push(char);
  }
  throw cutCommand();
}
