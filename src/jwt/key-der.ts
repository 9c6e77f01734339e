// Reads private keys that are bytes: DER as PKCS#8, PKCS#1 and SEC1, and names other files of keys.

import type { JWK } from "jose";
import { concatBytes, encodeBase64 } from "../core/bytes.js";
import { unfitKey } from "./unfit-key.js";

/** A private key as it was found: a canonical JWK, PKCS#8 in DER, or a PEM that is still encrypted. */
export type ReadKey =
  | { readonly form: "jwk"; readonly jwk: JWK }
  | { readonly form: "pkcs8"; readonly der: Uint8Array<ArrayBuffer> }
  | { readonly form: "encrypted"; readonly pem: string };

/** What is said of a public key. */
export const PUBLIC = "is a public key; signing needs the private one";

/** What is wrong with a PEM that holds no key. */
export const DAMAGED = "cannot be read: the PEM is damaged or of an unknown kind";

/** The characters of the same codes. */
export function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** In the lines that OpenSSL wants; the old form has header lines before an empty one. */
export function encrypted(label: string, lines: readonly string[]): ReadKey {
  const trimmed = lines.map((line) => line.trim().replace(/\\$/, ""));
  const headers = trimmed.filter((line) => line.includes(":"));
  const base64 = trimmed.filter((line) => !line.includes(":")).flatMap((line) => line.split(/\s+/));
  const body = base64.join("").match(/.{1,64}/g) ?? [];
  const head = headers.length > 0 ? [...headers, ""] : [];
  const pem = [`-----BEGIN ${label}-----`, ...head, ...body, `-----END ${label}-----`, ""].join("\n");
  return { form: "encrypted", pem };
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
/** What DER begins with. */
export const SEQUENCE = 0x30;
const CURVE = 0xa0;
const VERSION = /* @__PURE__ */ Uint8Array.of(INTEGER, 1, 0);
/** The algorithm identifier of RSA keys: rsaEncryption, NULL (RFC 8017, A.1). */
const RSA = /* @__PURE__ */ Uint8Array.of(0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0);
/** The object identifier ecPublicKey (RFC 5480, 2.1.1). */
const EC = /* @__PURE__ */ Uint8Array.of(6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1);

const TAKE_OUT =
  "take it out: openssl pkcs12 -in key.p12 -nocerts -nodes -out key.pem (it asks for the passphrase)";

/** The key of DER as PKCS#8 of version 0 (RFC 5208), which everything imports. */
export function readDer(bytes: Uint8Array): ReadKey {
  const [outer] = derElements(bytes) ?? [];
  const inner = outer?.tag === SEQUENCE ? (derElements(outer.content) ?? []) : [];
  const tags = inner.slice(0, 3).map(({ tag }) => tag);
  const [first, second, third] = inner;
  const pkcs8 = (algorithm: Uint8Array, key: Uint8Array): ReadKey => ({
    form: "pkcs8",
    der: derOf(SEQUENCE, VERSION, algorithm, derOf(OCTET_STRING, key)),
  });
  if (`${tags}` === `${[INTEGER, SEQUENCE, OCTET_STRING]}` && second && third)
    return pkcs8(second.whole, third.content);
  if (`${tags}` === `${[INTEGER, INTEGER, INTEGER]}` && outer) return pkcs8(RSA, outer.whole);
  if (first?.tag === INTEGER && second?.tag === OCTET_STRING && outer) {
    const curve = inner.find(({ tag }) => tag === CURVE);
    if (curve === undefined) throw unfitKey("does not name its curve, as a SEC1 key must");
    return pkcs8(derOf(SEQUENCE, EC, curve.content), outer.whole);
  }
  if (first?.tag === SEQUENCE && second?.tag === OCTET_STRING && outer)
    return encrypted("ENCRYPTED PRIVATE KEY", [encodeBase64(outer.whole)]);
  if (first?.tag === SEQUENCE && second?.tag === BIT_STRING) throw unfitKey(PUBLIC);
  if (`${tags}` === `${[SEQUENCE, SEQUENCE, BIT_STRING]}`) throw unfitKey(`${PUBLIC} (it is a certificate)`);
  if (inner.length === 2 && `${tags}` === `${[INTEGER, INTEGER]}`) throw unfitKey(PUBLIC);
  if (`${tags}` === `${[INTEGER, SEQUENCE, SEQUENCE]}`) throw unfitKey(`is in a PKCS#12 file; ${TAKE_OUT}`);
  throw unfitKey(DAMAGED);
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

/** The elements that follow each other; nothing where one is cut off. */
function derElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const [tag = 0, short = 0] = bytes.subarray(offset, offset + 2);
    const more = short < 0x80 ? 0 : short & 0x7f;
    if (more > 3) return undefined;
    const start = offset + 2 + more;
    const long = bytes.subarray(offset + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
    const end = start + (more === 0 ? short : long);
    if (end > bytes.length) return undefined;
    elements.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(offset, end) });
    offset = end;
  }
  return elements;
}

function derOf(tag: number, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const content = concatBytes(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return concatBytes([Uint8Array.of(tag, ...size), content]);
}

/** What an Ed25519 key of PKCS#8 has in front of its 32 octets (RFC 8410, 7), in hex. */
const ED25519_IN_HEX = "302e020100300506032b657004220420";

/** Refuses bytes that are no DER and yet no damage: a key store of Java, and the bare octets of a key. */
export function refuseBytes(bytes: Uint8Array): void {
  const start = latin1(bytes.subarray(0, 4));
  if (start === "\xfe\xed\xfe\xed" || start === "\xce\xce\xce\xce")
    throw unfitKey(
      `is in a key store of Java: keytool -importkeystore -srckeystore key.jks -destkeystore key.p12 -deststoretype PKCS12, and ${TAKE_OUT}`,
    );
  if (bytes.length === 32 || bytes.length === 64)
    throw unfitKey(
      `is ${bytes.length} octets and nothing else, as a secret is, or a bare key of Ed25519: of that one put ${ED25519_IN_HEX} before the hex of the first 32`,
    );
}
