// The beginning of a receiver's answer as one line, without what steers a terminal and without credentials.
import { decodeUtf8 } from "../core/bytes.js";
import { AUTHORIZATION_HEADER, type HeaderPair, onlyValue } from "../core/headers.js";
import { withoutValues } from "../core/hidden-values.js";
import { STEERING } from "../core/shown.js";
import type { TransportResponse } from "../http/transport.js";
import type { SignedParts } from "../schemes/scheme.js";

const MAX_LENGTH = 200;

/** Looked at before credentials are taken out, so that none is cut in two at the end. */
const MAX_BYTES = 4_096;

/** In place of a credential. */
const HIDDEN = "[…]";

/** A plain word is no credential where one may stand: "token expired" and "signature: mismatch" say what is wrong. */
const WORD = /^["']?[A-Za-z][a-z]{0,14}(?![\w+/=.~-])/;

/** What receivers repeat of a request, or name, when they refuse it: what stays of it, and what is hidden if no word. */
const PERHAPS: readonly RegExp[] = [
  /(\b(?:bearer|basic|digest|dpop|token|apikey)\s+)([\w+/=.~-]{6,})/gi,
  /((?:token|authorization|signature|credential)s?\\?["']?\s*[:=]\s*\\?)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&"'}\]]+)/gi,
];

/** Tokens by their form, and values by their name. Plain texts, which a bundle without senders leaves out. */
const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w-])eyJ[\w-]+\.[\w-]*\.?[\w-]*/g, HIDDEN],
  [/\bwh(?:sec|sk)_[\w+/=-]+/g, HIDDEN],
  [/\b(v1a?),[A-Za-z0-9+/=_-]{20,}/g, "$1,[…]"],
  [/(\b[a-z]{2,16}:\/\/[^\s:/@]*:)[^\s/@]+@/gi, "$1[…]@"],
  [
    /((?:secret|passw(?:or)?d|passphrase|cookie|api[-_ ]?key|private[-_ ]?key)s?\\?["']?\s*[:=]\s*\\?)(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&"'}\]]+)/gi,
    "$1[…]",
  ],
];

/**
 * The beginning of an answer as one line of at most 200 characters; `undefined` for a 200, for an empty body, and for one
 * that is no text: a compressed one, or one with a NUL in it. Whether it has a Content-Type, and which, decides nothing
 * but the charset.
 *
 * @param own header lines that the sender's user added, whose values may be credentials
 * @param signed what proves the request, which a receiver may repeat in any coding
 */
export function answerLine(
  response: TransportResponse,
  own: readonly HeaderPair[],
  signed: SignedParts,
): string | undefined {
  if (response.status === 200) return undefined;
  const text = textOf(response);
  if (text.includes("\0")) return undefined;
  let line = text
    .replace(STEERING, " ")
    .replace(/[\s\uFFFD]+/gu, " ")
    .trim();
  line = withoutValues(line, [...own.map(([, value]) => value), ...proofsOf(signed)], HIDDEN);
  for (const form of PERHAPS)
    line = line.replace(form, (all, name: string, value: string) =>
      WORD.test(value) ? all : `${name}${HIDDEN}`,
    );
  for (const [form, shown] of CREDENTIALS) line = line.replace(form, shown);
  return line === "" ? undefined : [...line].slice(0, MAX_LENGTH).join("");
}

/** The token of a request, or its signatures; an id and a time are no secrets, and say which event an answer is about. */
function proofsOf({ headers, body }: SignedParts): string[] {
  const proofs = headers
    .filter(([name]) => name === AUTHORIZATION_HEADER || /(?:^|-)signature$/i.test(name))
    .flatMap(([, value]) => [value, ...value.split(/[\s,:=]+/).filter((part) => part.length >= MIN_PROOF)]);
  // A security event token is its own proof.
  const [first, second] = body ?? [];
  return first === 0x65 && second === 0x79 ? [...proofs, decodeUtf8(body as Uint8Array) ?? ""] : proofs;
}

/** The shortest signature, of HMAC-SHA256, has more. */
const MIN_PROOF = 32;

/** The text of the beginning of a body: UTF-8, or a charset of single bytes that its type names, in which ASCII is itself. */
function textOf({ headers, body }: TransportResponse): string {
  if ((onlyValue(headers, "content-encoding") ?? "identity") !== "identity") return "";
  const bytes = body.subarray(0, MAX_BYTES);
  const type = onlyValue(headers, "content-type") ?? "";
  const [, charset] = /charset="?((?:iso-8859-|windows-125)\d{1,2})\b/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // it was none, or this runtime has it not
  }
}
