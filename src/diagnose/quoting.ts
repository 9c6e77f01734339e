/** How serialisers write a text, with its quotes. */

/** Only what JSON demands. */
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

/** Go's `json.Marshal`, and Rails: what HTML could misread is escaped. */
export function htmlQuotes(text: string): string {
  return escaped(JSON.stringify(text), /[<>&\u2028\u2029]/g);
}

/** .NET's `JsonSerializer`: ASCII in capitals, and what HTML could misread. */
export function dotnetQuotes(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', "\\u0022");
  return `"${inside.replace(/[<>&'+`\u007f-\uffff]/g, (char) => unicodeEscape(char).toUpperCase().replace("\\U", "\\u"))}"`;
}

/** Python's `repr()` of a text. */
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
