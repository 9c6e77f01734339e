// The variables of templates: put in the place of a body's text, or left standing in a header.

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[:,{}[\]]/g;

/** A text that is a member's value, and the member's name. */
export interface MemberText {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** More are not tried. */
const MAX_PLACES = 16;

/** Finds the texts that are members' values in a JSON text. */
export function memberTextsIn(text: string): readonly MemberText[] {
  const places: MemberText[] = [];
  let [before, name] = ["", ""];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) {
      if (before === ":") places.push({ from: index, to: index + token.length, name });
      name = token.slice(1, -1);
    }
    before = token;
    if (places.length === MAX_PLACES) break;
  }
  return places;
}

/** The text with "{{name}}" in place of the text of the member at this place; `undefined` if there are fewer. */
export function withVariableAt(
  { text, memberTexts }: { readonly text: string; readonly memberTexts: readonly MemberText[] },
  at: number,
): string | undefined {
  const place = memberTexts[at];
  if (place === undefined) return undefined;
  return `${text.slice(0, place.from)}"{{${place.name}}}"${text.slice(place.to)}`;
}

/** Whether a text has a variable that was not filled in: of Postman, n8n, a template, a shell or Ruby. */
export function hasVariable(text: string): boolean {
  return /\{\{|\$\{|\$\(|#\{|<%/.test(text);
}

/** The text of a value that has none: of JavaScript, Python, Java and .NET. */
const NOT_TEXT =
  /^(?:\[object \w+\]|undefined|null|None|nil|NaN|System\.Byte\[\]|\[B@[0-9a-f]+|<(?!Buffer )[^<>]{1,80}>)$/;

/** Whether a text is that of a value that has none, such as a promise. */
export function isNotText(text: string): boolean {
  return NOT_TEXT.test(text);
}
