import type { HeaderPair } from "./headers.js";

/** What a signer is given for one attempt: the values exactly as they will be sent. */
export interface UnsignedRequest {
  /** The listener's URL. */
  readonly url: string;
  /** The text of `Webhook-Timestamp`, Unix seconds. */
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
}

/** Gives a request its proof. `hmacSigner` and `jwtSigner` make one. */
export interface Signer {
  readonly method: "hmac" | "jwt";
  /** How many secrets may be tried: two during a rotation, otherwise one. */
  readonly candidates: number;
  /** What looks wrong about the secret or key, in plain words; the sender passes it on to its observer. */
  readonly warnings?: readonly string[];
  /** The header that proves the request, made anew for every attempt. */
  sign(request: UnsignedRequest, candidate?: number): HeaderPair | Promise<HeaderPair>;
}
