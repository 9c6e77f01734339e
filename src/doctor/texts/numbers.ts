// Writes the numbers of one name otherwise, and leaves the rest of a JSON text as it is.

/** How one language writes what another writes otherwise; what it leaves as it is stays the same. */
export const NUMBER_CHANGES: Readonly<Record<string, (token: string) => string>> = {
  asDouble: (token) => (/^-?[0-9]{1,15}$/.test(token) ? `${token}.0` : token),
  asInteger: (token) => token.replace(/^(-?[0-9]{1,15})\.0{1,6}$/, "$1"),
  asAmount: (token) =>
    /^-?[0-9]{1,15}$/.test(token)
      ? `${token}.00`
      : /^-?[0-9]{1,15}\.[0-9]$/.test(token)
        ? `${token}0`
        : token,
  asText: (token) => `"${token}"`,
};

interface NumberPlace {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** More numbers than these are not looked at. */
const MAX_NUMBERS = 2_000;

const TOKEN = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?[0-9][0-9.eE+-]*/g;

/** The numbers of a JSON text, in order, and the names they stand under. */
export interface Numbers {
  readonly places: readonly NumberPlace[];
  readonly names: readonly string[];
}

/** Finds the numbers of a JSON text. */
export function numbersIn(text: string): Numbers {
  const places: NumberPlace[] = [];
  let name = "";
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) name = token;
    else places.push({ from: index, to: index + token.length, name });
    if (places.length === MAX_NUMBERS) break;
  }
  return { places, names: [...new Set(places.map((place) => place.name))] };
}

/** The text with the numbers of its name at this place written otherwise; `undefined` if that changes nothing. */
export function withNumbersOf(
  { text, numbers }: { readonly text: string; readonly numbers: Numbers },
  at: number,
  change: string,
): string | undefined {
  const { places, names } = numbers;
  const write = NUMBER_CHANGES[change];
  const name = names[at];
  if (name === undefined || write === undefined) return undefined;
  let [written, end] = ["", 0];
  for (const place of places) {
    if (place.name !== name) continue;
    written += text.slice(end, place.from) + write(text.slice(place.from, place.to));
    end = place.to;
  }
  return written + text.slice(end);
}
