// What white space tells of a text: line breaks that were lost, or one blank that was changed.
import { rewrittenJson } from "../../core/json.js";

/** Whether a JSON text of one line has indentation: then its line breaks were removed, as curl -d @file does. */
export function hasLostLineBreaks(text: string): boolean {
  return (
    !/[\r\n]/.test(text) && /^\s{0,8}[{[](?: {2,}|\t)/.test(text) && /[,{[](?: {2,}|\t)["\d[{-]/.test(text)
  );
}

/** Whether one character of white space in place of another is all that differs: any change of a byte makes that. */
export function isOneBlankApart(text: string, other: string): boolean {
  if (text.length !== other.length) return false;
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return /^\s\s$/.test(`${text[at]}${other[at]}`) && text.slice(at + 1) === other.slice(at + 1);
}

/** A JSON text as `JSON.stringify` writes it; `undefined` for another text, and where one blank alone differs. */
export function writtenAgain(text: string, space?: number): string | undefined {
  const written = rewrittenJson(text, space);
  return written === undefined || isOneBlankApart(text, written) ? undefined : written;
}
