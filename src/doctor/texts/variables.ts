// Puts the variable of a template in the place of one text of a JSON body.

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[:,{}[\]]/g;

/** A text that is a member's value, and the member's name. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** One body is looked at several times, so the places are looked up once. */
const known = new WeakMap<object, readonly Place[]>();

/** More are not tried. */
const MAX_PLACES = 16;

function placesOf(json: { readonly text: string }): readonly Place[] {
  const found = known.get(json);
  if (found) return found;
  const places: Place[] = [];
  let [before, name] = ["", ""];
  for (const { 0: token, index } of json.text.matchAll(TOKEN)) {
    if (token.startsWith('"')) {
      if (before === ":") places.push({ from: index, to: index + token.length, name });
      name = token.slice(1, -1);
    }
    before = token;
    if (places.length === MAX_PLACES) break;
  }
  known.set(json, places);
  return places;
}

/** The text with "{{name}}" in place of the text of the member at this place; `undefined` if there are fewer. */
export function withVariableAt(json: { readonly text: string }, at: number): string | undefined {
  const place = placesOf(json)[at];
  if (place === undefined) return undefined;
  return `${json.text.slice(0, place.from)}"{{${place.name}}}"${json.text.slice(place.to)}`;
}
