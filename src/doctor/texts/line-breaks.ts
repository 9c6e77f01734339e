// Recognises a text of several lines that has lost its line breaks.

/** Whether a JSON text of one line has indentation: then its line breaks were removed, as curl -d @file does. */
export function hasLostLineBreaks(text: string): boolean {
  return (
    !/[\r\n]/.test(text) && /^\s{0,8}[{[](?: {2,}|\t)/.test(text) && /[,{[](?: {2,}|\t)["\d[{-]/.test(text)
  );
}
