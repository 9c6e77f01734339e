import { sha256Base64url } from "#hash";
import { decodeBase64url, encodeBase64url } from "../primitives/base64url.js";
import { decodeUtf8, utf8 } from "../primitives/bytes.js";

/** The two that most examples have, wherever they stand in a text. */
const MOST_USED = /AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka(?:GxwdHh8|--xw_R8)/;

/** Every other one, as the first 36 bits of the SHA-256 of its text: the texts would weigh five times as much. */
const OTHERS =
  "2EZ2XU Jg0kcV KM7tNS rAqYr7 m6Nhsc fbGOMB 5LBWZb KO_wCA lWXPAX nXBx8E FIcQVH tmHRAa Ne9GEm PrvUwt EzorPO SkrQeJ -0_l2- ZDOb1- CAIcIa Sm5zEP -7ZMGz KmOyXh MAoYPq cVL5lY hPUmsR DEfdMM";

/**
 * Whether a secret is one of the documentation or of `vectors/`, which everybody knows: as it stands there, quoted,
 * padded or with a prefix, in standard base64, in hex, or encoded once more, as secret stores show what they hold.
 */
export function isDocumented(secret: string): boolean {
  const parts = [...urlSafe(secret).split(/[^\w-]+/), urlSafe(secret).replace(/[^\w-]+/g, "")];
  return parts.map((part) => part.replace(/^(?:whsec_|0x)/, "")).some((part) => forms(part).some(isKnown));
}

function isKnown(text: string): boolean {
  return MOST_USED.test(text) || OTHERS.split(" ").includes(sha256Base64url(utf8(text)).slice(0, 6));
}

/** What a text may stand for: itself, bytes in hex, and a text in base64 or hex. */
function forms(text: string): string[] {
  const hex = /^(?:[\da-f]{2})+$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined;
  const inner = [decodeBase64url(text), hex].map((bytes) => bytes && decodeUtf8(bytes)?.trim());
  return [text, hex && encodeBase64url(hex), ...inner.map((decoded) => decoded && urlSafe(decoded))].filter(
    (form): form is string => form !== undefined && form !== "",
  );
}

/** The spelling of base64 that the documentation has. */
function urlSafe(text: string): string {
  let end = text.length;
  while (text[end - 1] === "=") end -= 1;
  return text.slice(0, end).replaceAll("+", "-").replaceAll("/", "_");
}
