// Hides the values of credentials in a text that may repeat them, in the spellings in which programs repeat one.
import { concatBytes, decodeBase64, decodeUtf8, encodeBase64, encodeBase64url, utf8 } from "./bytes.js";

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
 * URL writes them, also twice, in base64 or hex, by itself or within what was encoded with it; and the parts of a value, such as
 * the token behind `Bearer`, each value of a cookie, and the password that `Basic` has in base64. Values and parts of less
 * than six characters stay, and parts that are plain words of up to 15 letters, other than the credential behind the scheme.
 * A hash of a value, and a compressed text, are not looked into.
 *
 * @example
 * ```ts
 * import { withoutValues } from "hookproof/node";
 *
 * withoutValues('{"got":"key dTpw\\/c2VjcmV0"}', ["dTpw/c2VjcmV0"]); // '{"got":"key […]"}'
 * ```
 */
export function withoutValues(text: string, values: readonly string[], hidden = "[…]"): string {
  const once = plain({ text });
  const readings: readonly Plain[] = [{ text }, once, plain(once), joined(once)];
  const found = [...new Set(values.flatMap(partsOf))]
    .filter((part) => part.length >= MIN_VALUE)
    .flatMap((part) => [part, plain({ text: part }).text, ...codings(part)])
    .flatMap((form) => readings.flatMap((reading) => places(reading, form)))
    .sort(([one], [other]) => one - other);
  let shown = "";
  let end = 0;
  for (const [from, to] of found) {
    if (from >= end) shown += text.slice(end, from) + hidden;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** What of a value is a credential by itself. */
function partsOf(value: string): string[] {
  const behind = value.replace(SCHEME_WORD, "");
  const pair = /^basic /i.test(value) ? decodedText(behind) : "";
  const password = pair.slice(pair.indexOf(":") + 1);
  return [
    ...[value, value.replaceAll(" ", "+"), behind, pair, password], // a form writes + for a space
    ...value.split(/[\s;,="]+/).filter((part) => !PLAIN_WORD.test(part)),
  ];
}

/** The text that `user:password` of HTTP Basic is base64 of; empty if it is none. */
function decodedText(base64: string): string {
  return decodeUtf8(decodeBase64(base64.trim()) ?? new Uint8Array()) ?? "";
}

/** A value in hex, and in base64 as it stands by itself and within a longer text: there it begins at one of three places. */
function codings(value: string): string[] {
  const bytes = utf8(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const inner = [0, 1, 2].map((before) => {
    const text = encodeBase64url(concatBytes([new Uint8Array(before), bytes]));
    // Characters that hold bits of what stands around it are others there.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const base64 = [encodeBase64url(bytes), ...inner];
  const standard = base64.map((text) => text.replaceAll("-", "+").replaceAll("_", "/"));
  return [hex, hex.toUpperCase(), encodeBase64(bytes), ...base64, ...standard];
}

/** A text in which nothing is escaped any more, and where each of its characters begins in the text as it was. */
interface Plain {
  readonly text: string;
  readonly starts?: readonly number[];
}

/** A text with what each piece that a pattern finds stands for in its place, or nothing. */
function rewritten(
  { text, starts: before }: Plain,
  pattern: RegExp,
  meant: (found: RegExpExecArray, next: string) => string,
): Plain {
  let made = "";
  const starts: number[] = [];
  const add = (piece: string, at: number, step: 0 | 1) => {
    for (let place = 0; place < piece.length; place++) {
      const start = at + place * step;
      starts.push(before?.[start] ?? start);
    }
    made += piece;
  };
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    add(text.slice(end, found.index), end, 1);
    end = found.index + found[0].length;
    add(meant(found, text[end] ?? ""), found.index, 0);
  }
  add(text.slice(end), end, 1);
  starts.push(before?.[text.length] ?? text.length);
  return { text: made, starts };
}

/** What escapes stand for. */
function plain(reading: Plain): Plain {
  return rewritten(reading, ESCAPED, ([, unit, backslashes, decimal, hex, name, percent], next) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? "";
    const code = unit ?? hex ?? percent;
    if (backslashes !== undefined) return /["'/]/.test(next) ? "" : "\\";
    return String.fromCharCode(code === undefined ? Number(decimal) : Number.parseInt(code, 16));
  });
}

/** Without what ends the lines in which base64 is written. */
function joined(reading: Plain): Plain {
  // The look ahead comes first: looking back 40 characters at each place is 30 times the work.
  return rewritten(reading, /(?=[\s\\])(?<=[\w+/-]{40})(?:\s|\\[nr])+/g, () => "");
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
