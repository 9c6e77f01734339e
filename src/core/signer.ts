import type { HeaderPair } from "./headers.js";

/** What a signer is given for one attempt: the values exactly as they will be sent. */
export interface UnsignedRequest {
  /** The listener's URL. */
  readonly url: string;
  /** The text of `Webhook-Timestamp`, Unix seconds. */
  readonly timestamp: string;
  /** The text of `Webhook-Event-Id`. */
  readonly eventId: string;
  /** The body's exact bytes. */
  readonly body: Uint8Array;
}

/** Makes the header that proves a request in the default scheme. `hmacSigner` and `jwtSigner` make signers. */
export interface Signer {
  /** None is named: the default scheme's. */
  readonly scheme?: undefined;
  /** How it proves: a signature (`hmac`) or a token (`jwt`). */
  readonly method: "hmac" | "jwt";
  /** What looks wrong about the secret or key, in plain words; the sender passes it on to its observer. */
  readonly warnings?: readonly string[];
  /** Makes the header for one attempt; a sender calls it again for every attempt. */
  sign(request: UnsignedRequest): HeaderPair | Promise<HeaderPair>;
}

/** One signer for each secret, the preferred one first; a function gives those of now. */
export type SignersBySecret = readonly Signer[] | (() => Promise<readonly Signer[]>);

const bySecret = new WeakMap<Signer, SignersBySecret>();

/** Notes that a signer has several secrets, as during a rotation, or secrets that change. */
export function noteSecrets<One extends Signer>(signer: One, signers: SignersBySecret): One {
  bySecret.set(signer, signers);
  return signer;
}

/** One signer for each secret of a signer; the signer itself where it has only one. */
export function signersOf(signer: Signer): SignersBySecret {
  return bySecret.get(signer) ?? [signer];
}
