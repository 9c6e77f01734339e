// Puts the variable of a template in the place of one text of a JSON body.

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
