// Hides the values of credentials in a text that may repeat them, in the spellings in which programs repeat one.

/** Shorter values are words such as `true`, which answers have for other reasons. */
const MIN_VALUE = 6;

/** A part of a value that is a plain word, as `session` in a cookie, says nothing; a longer one may be a credential. */
const PLAIN_WORD = /^[A-Za-z]?[a-z]{0,14}$/;

/** The word of a scheme, such as `Bearer`: what stands behind it is the credential, whatever it looks like. */
const SCHEME_WORD = /^[A-Za-z]+ +/;

/** Characters as JSON, HTML and URLs escape them; backslashes however often what stands behind them was escaped. */
const ESCAPED =
  /\\+u([0-9a-f]{4})|(\\+)|&#(\d{1,7});|&#x([0-9a-f]{1,6});|&(amp|lt|gt|quot|apos);|%([0-9a-f]{2})/gi;

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * A text, such as a receiver's answer, with these values hidden wherever it repeats them: as they are, as JSON, HTML or a
 * URL writes them, and the parts of a value, such as the token behind `Bearer` and each value of a cookie. Values and
 * parts of less than six characters stay, and parts that are plain words of up to 15 letters, other than the credential behind the scheme. Other codings of a value, such as base64 or a
 * hash of it, are not looked for.
 *
 * @example
 * ```ts
 * import { withoutValues } from "hookproof/node";
 *
 * withoutValues('{"got":"key dTpw\\/c2VjcmV0"}', ["dTpw/c2VjcmV0"]); // '{"got":"key […]"}'
 * ```
 */
export function withoutValues(text: string, values: readonly string[], hidden = "[…]"): string {
  const written = plain(text);
  const found = values
    .flatMap((value) => [
      value,
      value.replace(SCHEME_WORD, ""),
      ...value.split(/[\s;,="]+/).filter((part) => !PLAIN_WORD.test(part)),
    ])
    .filter((part) => part.length >= MIN_VALUE)
    .flatMap((part) => [...places({ text, starts: undefined }, part), ...places(written, plain(part).text)])
    .sort(([one], [other]) => one - other);
  let shown = "";
  let end = 0;
  for (const [from, to] of found) {
    if (from >= end) shown += text.slice(end, from) + hidden;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** A text in which nothing is escaped any more, and where each of its characters begins in the text as it was. */
interface Plain {
  readonly text: string;
  readonly starts: readonly number[] | undefined;
}

function plain(text: string): Plain {
  let made = "";
  const starts: number[] = [];
  const add = (piece: string, at: number) => {
    for (let place = 0; place < piece.length; place++) starts.push(at + place);
    made += piece;
  };
  let end = 0;
  for (const found of text.matchAll(ESCAPED)) {
    const [all, unit, backslashes, decimal, hex, name, percent] = found;
    add(text.slice(end, found.index), end);
    end = found.index + all.length;
    const code = unit ?? hex ?? percent;
    if (name !== undefined) add(NAMED[name.toLowerCase()] ?? "", found.index);
    else if (backslashes === undefined)
      add(String.fromCharCode(code === undefined ? Number(decimal) : Number.parseInt(code, 16)), found.index);
    else if (!/["'/]/.test(text[end] ?? "")) add("\\", found.index);
  }
  add(text.slice(end), end);
  starts.push(text.length);
  return { text: made, starts };
}

/** Where a part stands, as places in the text as it was. */
function places({ text, starts }: Plain, part: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(part); part !== "" && at !== -1; at = text.indexOf(part, at + part.length)) {
    const to = at + part.length;
    found.push([starts?.[at] ?? at, starts?.[to] ?? to]);
  }
  return found;
}
