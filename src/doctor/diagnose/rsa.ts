// Looks into an RSA signature: which hash it holds, and by which padding.
import { digestOf } from "#hash";
import { concatBytes, decodeBase64url } from "../../core/bytes.js";
import type { HashName } from "../../core/hash-portable.js";
import { hexOf, latin1Text } from "../texts/rewrite.js";

/** What an RSA signature holds: a hash by its name, a bare text without one, or the padding of PSS. */
interface OpenedSignature {
  readonly hash?: HashName;
  /** The hash in hex, or what stands in its place. */
  readonly held?: string;
  /** Whether it is a signature by PSS of this message. */
  isPssOf(message: Uint8Array): boolean;
}

/** The DER in front of a hash in a signature of PKCS#1 v1.5, in hex. */
const NAMES: Readonly<Record<HashName, string>> = {
  md5: "3020300c06082a864886f70d020505000410",
  sha1: "3021300906052b0e03021a05000414",
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
};

/** No key of a key set needs more; a longer one takes longer than a diagnosis may. */
const MAX_MODULUS_BYTES = 512;

/** Raises a signature to the public exponent 65537; `undefined` for one that no key of this modulus made. */
export function opened(signature: Uint8Array, modulus: Uint8Array): OpenedSignature | undefined {
  if (modulus.length > MAX_MODULUS_BYTES || modulus.length < 64 || signature.length !== modulus.length)
    return undefined;
  const n = BigInt(`0x${hexOf(modulus)}`);
  const s = BigInt(`0x${hexOf(signature)}`);
  if (n < 2n || s >= n) return undefined;
  let power = s;
  for (let bit = 0; bit < 16; bit++) power = (power * power) % n;
  const block = ((power * s) % n).toString(16).padStart(modulus.length * 2, "0");
  const isPssOf = (message: Uint8Array) => isPss(block, message);
  const content = /^0001(?:ff){8,}00((?:[0-9a-f]{2})+)$/.exec(block)?.[1];
  if (content === undefined) return block.endsWith("bc") ? { isPssOf } : undefined;
  for (const [hash, name] of Object.entries(NAMES))
    if (content.startsWith(name))
      return { hash: hash as HashName, held: content.slice(name.length), isPssOf };
  return { held: content, isPssOf };
}

/** Whether a block is one of PSS with SHA-256 over this message, with a salt of any length (RFC 8017, 9.1.2). */
function isPss(block: string, message: Uint8Array): boolean {
  const bytes = Uint8Array.from(block.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hashAt = bytes.length - 33;
  const [masked, hash] = [bytes.subarray(0, hashAt), bytes.subarray(hashAt, hashAt + 32)];
  const mask = maskOf(hash, masked.length);
  const data = masked.map((byte, index) => byte ^ (mask[index] as number));
  data[0] = (data[0] ?? 0) & 0x7f;
  const start = data.findIndex((byte) => byte !== 0);
  if (start < 0 || data[start] !== 1) return false;
  const made = sha256([new Uint8Array(8), sha256([message]), data.subarray(start + 1)]);
  return latin1Text(made) === latin1Text(hash);
}

function maskOf(seed: Uint8Array, length: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let count = 0; count * 32 < length; count++) parts.push(sha256([seed, Uint8Array.of(0, 0, 0, count)]));
  return concatBytes(parts);
}

function sha256(parts: readonly Uint8Array[]): Uint8Array {
  return decodeBase64url(digestOf("sha256", parts)) ?? new Uint8Array();
}
