import { decodeBase64url, isBase64url } from "../core/bytes.js";

/** The members that hold a public key's numbers, in base64url. */
const NUMBERS = ["n", "e", "x", "y"] as const;

type Key = Readonly<Record<string, unknown>>;

/** What is wrong with the spelling of a key's numbers (RFC 7518, 2 and 6); `undefined` if nothing is. */
export function misspelling(jwk: Key): string | undefined {
  for (const name of NUMBERS) {
    const text = jwk[name];
    if (typeof text !== "string") continue;
    if (text.endsWith("=")) return `${name} is padded with =`;
    if (/[+/]/.test(text)) return `${name} is standard base64 and not base64url`;
    if (!isBase64url(text)) return `${name} is not base64url`;
    const isNumber = name === "n" || name === "e";
    if (isNumber && text.startsWith("A") && decodeBase64url(text)?.[0] === 0)
      return `${name} begins with a zero octet`;
  }
  return undefined;
}

/** Whether the certificate of a key is another key's; a key without one has the right one. */
export function hasOtherCertificate(jwk: Key): boolean {
  if (jwk.x5c === undefined) return false;
  const [first] = Array.isArray(jwk.x5c) ? jwk.x5c : [];
  const certificate = typeof first === "string" ? fromBase64(first) : undefined;
  const key = certificate && publicKeyOf(certificate);
  if (key === undefined) return true;
  // The key's numbers stand in the certificate as they are, whatever the algorithm.
  const written = latin1(key);
  const numbers = jwk.kty === "RSA" ? [jwk.n] : [jwk.x, jwk.y].filter((one) => one !== undefined);
  return !numbers.every((one) => {
    const bytes = typeof one === "string" ? decodeBase64url(one) : undefined;
    // A number that cannot be read is another rule's.
    return bytes === undefined || written.includes(latin1(bytes));
  });
}

/** A key set has 64 KiB at most, and so have its certificates. */
const MAX_CERTIFICATE_LENGTH = 65_536;

/** A certificate is standard base64 (RFC 7517, 4.7). */
function fromBase64(text: string): Uint8Array | undefined {
  if (text.length > MAX_CERTIFICATE_LENGTH) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The subject's public key in a certificate: the first sequence behind the two names and the validity. */
function publicKeyOf(certificate: Uint8Array): Uint8Array | undefined {
  const outer = elementAt(certificate, 0);
  const signed = outer && elementAt(certificate, outer.start);
  if (signed === undefined) return undefined;
  let at = signed.start;
  // version (if any), serial number, algorithm, issuer, validity, subject
  const before = certificate[at] === 0xa0 ? 6 : 5;
  for (let count = 0; count < before; count++) {
    const element = elementAt(certificate, at);
    if (element === undefined) return undefined;
    at = element.end;
  }
  const key = elementAt(certificate, at);
  return key && certificate.subarray(key.start, key.end);
}

/** One element of DER: where its content begins and ends. */
function elementAt(bytes: Uint8Array, at: number): { start: number; end: number } | undefined {
  const first = bytes[at + 1];
  if (first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (more > 3) return undefined;
  let length = more === 0 ? first : 0;
  for (let index = 0; index < more; index++) length = length * 256 + (bytes[at + 2 + index] ?? 0);
  const start = at + 2 + more;
  return start + length <= bytes.length ? { start, end: start + length } : undefined;
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
