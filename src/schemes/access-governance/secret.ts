// Makes and checks signing secrets.
import { sha256Base64url } from "#hash";
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from "../../core/bytes.js";
import { HookproofError, isNotGiven, notGiven } from "../../core/errors.js";
import { countOf } from "../../core/shown.js";

/**
 * A new signing secret: 256 random bits as 43 characters of base64url (specification 5.2, HMAC method, step 1).
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof";
 *
 * generateSecret().length; // 43
 * ```
 */
export function generateSecret(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * The secret as given. Only an empty one and one that UTF-8 cannot encode are refused: the service decides what a
 * secret looks like.
 *
 * @throws {HookproofError} SECRET_INVALID
 */
export function checkSecret(secret: string): string {
  if (isNotGiven(secret)) throw notGiven("secret", secret);
  if (typeof secret !== "string") throw new TypeError("secret must be a string");
  if (!secret.isWellFormed())
    throw new HookproofError("SECRET_INVALID", "The secret is not text that UTF-8 can carry.");
  return secret;
}

/** The bytes of a secret that is used many times: from a text, Node would encode them at each use. */
export function secretBytes(secret: string): Uint8Array {
  return utf8(checkSecret(secret));
}

const DOCUMENTED = "The secret is the one of the documentation, which everybody can sign with.";

/** Refuses a secret of the documentation: everybody knows it, so everybody could sign with it. */
export function refuseDocumented(secret: string): void {
  if (isDocumented(secret))
    throw new HookproofError(
      "SECRET_INVALID",
      `${DOCUMENTED} Use the listener's own; in tests, allowDocumentedSecret takes this one.`,
    );
}

/** What a secret looks like that was copied with more text around it, or that belongs to another scheme. */
const SUSPICIONS: readonly (readonly [pattern: RegExp, warning: string])[] = [
  [/^\uFEFF/, "begins with a byte order mark, which becomes part of the key"],
  [/\0|\uFFFD/, "has bytes that are no text in it: perhaps its file is in UTF-16, or in Latin-1"],
  [
    /^(?!\uFEFF)[\s\u200B-\u200F]|[\s\u200B-\u200F]$/,
    "begins or ends with white space, which becomes part of the key",
  ],
  [/^["'`“‘]|["'`”’]$/, "begins or ends with a quote, which becomes part of the key"],
  [/^(?:export )?[A-Z_][A-Z0-9_]*=[^=]/, "begins with a name and =, as in .env"],
  [/^whsec_/, "begins with whsec_, a prefix of another scheme: the key here is the whole text"],
  [/=$/, "ends with padding (=), which the service's secrets never have"],
  [/[+/]/, "has + or /: the service's secrets are base64url, which uses - and _"],
];

/**
 * What looks wrong about a secret, one sentence each; empty if nothing does. These are warnings only: the key is always
 * the exact text (specification 5.2, HMAC method, step 3).
 *
 * @example
 * ```ts
 * import { secretWarnings } from "hookproof";
 *
 * secretWarnings("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")[0];
 * // "The secret begins with whsec_, a prefix of another scheme: the key here is the whole text."
 * ```
 */
export function secretWarnings(secret: string): string[] {
  if (secret === undefined) throw notGiven("secret", secret);
  const found = SUSPICIONS.filter(([pattern]) => pattern.test(secret)).map(
    ([, warning]) => `The secret ${warning}.`,
  );
  if (isDocumented(secret)) found.push(DOCUMENTED);
  if (secret.length < 32)
    found.push(`The secret has ${countOf(secret.length, "character")}; the service's own have 43.`);
  return found;
}

/**
 * The first four bytes of the SHA-256 of a secret, to tell secrets apart in logs and output without showing them.
 *
 * @example
 * ```ts
 * import { secretFingerprint } from "hookproof";
 *
 * secretFingerprint("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"); // "sha256:ea866a75"
 * ```
 */
export function secretFingerprint(secret: string): string {
  if (secret === undefined) throw notGiven("secret", secret);
  const digest = decodeBase64url(sha256Base64url(utf8(secret))) ?? new Uint8Array();
  return `sha256:${Array.from(digest.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The two secrets that most examples use; found anywhere in a text. */
const MAX_USED = /AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka(?:GxwdHh8|--xw_R8)/;

/** All others: the first 36 bits of the SHA-256 of each, as the texts themselves would take five times the space. */
const OTHERS =
  "2EZ2XU Jg0kcV KM7tNS rAqYr7 m6Nhsc fbGOMB 5LBWZb KO_wCA lWXPAX nXBx8E FIcQVH tmHRAa Ne9GEm PrvUwt EzorPO SkrQeJ -0_l2- ZDOb1- CAIcIa Sm5zEP -7ZMGz KmOyXh MAoYPq cVL5lY hPUmsR DEfdMM";

/**
 * Whether a secret is one of the documentation or of `vectors/`, which everybody knows: as it is printed there; with
 * quotes, padding or a prefix; in standard base64 or hex; or encoded once more, as some secret stores show it.
 */
function isDocumented(secret: string): boolean {
  const parts = [...urlSafe(secret).split(/[^\w-]+/), urlSafe(secret).replace(/[^\w-]+/g, "")];
  return parts.map((part) => part.replace(/^(?:whsec_|0x)/, "")).some((part) => forms(part).some(isKnown));
}

function isKnown(text: string): boolean {
  return MAX_USED.test(text) || OTHERS.split(" ").includes(sha256Base64url(utf8(text)).slice(0, 6));
}

/** The secrets that a text may mean: itself, the bytes it is the hex of, and the text it is the base64 or hex of. */
function forms(text: string): string[] {
  const hex = /^(?:[\da-f]{2})+$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined;
  const inner = [decodeBase64url(text), hex].map((bytes) => bytes && decodeUtf8(bytes)?.trim());
  return [text, hex && encodeBase64url(hex), ...inner.map((decoded) => decoded && urlSafe(decoded))].filter(
    (form): form is string => form !== undefined && form !== "",
  );
}

/** In base64url without padding, as the documentation writes secrets. By hand: `/=+$/` is quadratic in the number of `=`. */
function urlSafe(text: string): string {
  let end = text.length;
  while (text[end - 1] === "=") end -= 1;
  return text.slice(0, end).replaceAll("+", "-").replaceAll("/", "_");
}
