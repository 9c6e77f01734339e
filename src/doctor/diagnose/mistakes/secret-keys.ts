// Makes keys of a secret's text, as people do by mistake.
import { digestOf } from "#hash";
import { decodeBase64url, decodeUtf8, utf8 } from "../../../core/bytes.js";
import { decodeAnyBase64, hexOf, parseHex } from "../../texts/rewrite.js";

/** What else of the request may have been taken for the key. */
interface AroundSecret {
  readonly timestamp: string;
  readonly eventId: string;
  /** The listener's URL, or its path; empty if it is not known. */
  readonly url: string;
  readonly body: Uint8Array;
}

/** The bytes that are used as the key; `undefined` where the mistake is impossible. */
export type KeyOfSecret = (secret: string, around?: AroundSecret) => Uint8Array | undefined;

export const AS_IT_IS = "Use the secret's text as it is: createHmac('sha256', secret)";

export const PREFIX = /^(?:whsec|whsk|sk|secret)_/;

/** What stands around the secret that was given, taken away in one go. */
export function coreOf(secret: string): string {
  const text = secret
    .replace(/^[\uFEFF\u200b\s]+/, "")
    .replace(/(?<![\u200b\s])[\u200b\s]+$/, "")
    .replace(/^(?:export\s{1,4})?[A-Z][A-Z0-9_]{2,60}=/, "")
    .replace(/^["'`]|["'`]$/g, "");
  return text.replace(/^v1,(?=whsec_)/, "");
}

/** The key made of what follows the prefix; nothing where there is none. */
export function bare(keyOf: (secret: string) => Uint8Array | undefined): KeyOfSecret {
  return (secret) => (PREFIX.test(secret) ? keyOf(secret.replace(PREFIX, "")) : undefined);
}

/** The key made of the bytes that are decoded from base64, or hex, behind the prefix. */
export function decodedAnd(keyOf: (bytes: Uint8Array) => Uint8Array | undefined): KeyOfSecret {
  return (secret) => {
    const text = secret.replace(PREFIX, "");
    const bytes = parseHex(text) ?? decodeAnyBase64(text);
    return bytes && keyOf(bytes);
  };
}

export function ofHex(secret: string, keyOf: (bytes: Uint8Array) => Uint8Array): Uint8Array | undefined {
  const bytes = parseHex(secret);
  return bytes && keyOf(bytes);
}

/** Nothing where the bytes are no text. */
export function ofText(
  bytes: Uint8Array | undefined,
  change: (text: string) => string,
): Uint8Array | undefined {
  const text = bytes && decodeUtf8(bytes);
  return text && /^[ -~]{8,}\s?$/.test(text) ? utf8(change(text)) : undefined;
}

export function filled(text: string): Uint8Array | undefined {
  return text === "" ? undefined : utf8(text);
}

export function listenerOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

export function cutTo(secret: string, size: number): Uint8Array | undefined {
  return secret.length > size + 1 ? utf8(secret.slice(0, size)) : undefined;
}

export function percentEncoded(secret: string): Uint8Array | undefined {
  try {
    return utf8(encodeURIComponent(secret));
  } catch {
    return undefined; // half of a surrogate pair
  }
}

export function percentDecoded(secret: string): Uint8Array | undefined {
  try {
    return secret.includes("%") ? utf8(decodeURIComponent(secret)) : undefined;
  } catch {
    return undefined;
  }
}

export function afterAssignment(secret: string): Uint8Array | undefined {
  return /^\s{0,8}(?:export\s)?[A-Z][A-Z0-9_]{2,60}=/.test(secret) ? utf8(coreOf(secret)) : undefined;
}

/** The only long text among the members of an object that was given as the secret. */
export function insideOfJson(secret: string): Uint8Array | undefined {
  if (!/^\s{0,8}[{[]/.test(secret) || secret.length > 4_096) return undefined;
  try {
    const texts = Object.values(JSON.parse(secret) as object).filter((one) => typeof one === "string");
    const longest = texts.toSorted((a, b) => b.length - a.length)[0];
    return longest === undefined ? undefined : utf8(longest);
  } catch {
    return undefined;
  }
}

/** Nothing where the decoded bytes are valid UTF-8: then the key is the decoded secret, which is another mistake. */
export function ofDecoded(secret: string, keyOf: (bytes: Uint8Array) => Uint8Array): Uint8Array | undefined {
  const bytes = decodeAnyBase64(secret);
  return bytes && decodeUtf8(bytes) === undefined ? keyOf(bytes) : undefined;
}

export function hashInHex(secret: string): string {
  return hexOf(decodeBase64url(digestOf("sha256", [utf8(secret)])) ?? new Uint8Array());
}
