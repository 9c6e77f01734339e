// Writes JSON as ConvertTo-Json of PowerShell 5 does.
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  type JsonTokens,
  OPEN_ARRAY,
  OPEN_OBJECT,
  powershellQuotes,
  textOf,
} from "./json-writer.js";

/** A bracket deeper than this column would make a text that nobody signs. */
const MAX_COLUMNS = 400;

/** Members stand four columns behind their bracket, which stands behind its name; `undefined` where that grows too long. */
export function powershellText({ tokens, table: { texts }, maxLength }: JsonTokens): string | undefined {
  const columns: number[] = [];
  let [written, lineStart] = ["", 0];
  const breakLine = (column: number) => {
    written += "\r\n";
    lineStart = written.length;
    written += " ".repeat(column);
  };
  for (const [index, token] of tokens.entries()) {
    const here = columns.at(-1) ?? 0;
    if (token === OPEN_OBJECT || token === OPEN_ARRAY) {
      const column = written.length - lineStart;
      written += texts[token];
      columns.push(column);
      const isEmpty = tokens[index + 1] === token + 1;
      if (column > MAX_COLUMNS) return undefined;
      if (isEmpty) written += "\r\n";
      else breakLine(column + 4);
    } else if (token === CLOSE_OBJECT || token === CLOSE_ARRAY) {
      columns.pop();
      breakLine(here);
      written += texts[token];
    } else if (token === COMMA) {
      written += ",";
      breakLine(here + 4);
    } else if (token === COLON) written += ":  ";
    else {
      const text = texts[token] as string;
      written += text.charCodeAt(0) === 34 ? powershellQuotes(textOf(text)) : text;
    }
    if (written.length > maxLength) return undefined;
  }
  return written;
}
