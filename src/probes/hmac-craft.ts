import { hmacKey, hmacSha256 } from "#hash";
import { checkSecret, generateSecret } from "../hmac/secret.js";
import { AUTHORIZATION_HEADER, SIGNATURE_HEADER } from "../protocol/headers.js";
import { signingHead } from "../protocol/signing-input.js";
import { type Craft, type Parts, type ProbeRequest, partsOf, requestOf, type Scene } from "./craft.js";

/** How the text that is signed is put together. */
export type SigningInput = (timestamp: string, eventId: string) => string;

/** The pieces of the HMAC method. */
export interface HmacCraft extends Craft {
  readonly secret: string;
  /** A signature over the parts, by this key and over this head unless told otherwise the correct ones. */
  signature(over?: Partial<Parts>, key?: string | Uint8Array, head?: SigningInput): string;
  /** A request with any text as its signature. */
  withSignature(signature: string, over?: Partial<Parts>): ProbeRequest;
}

/** A token of the right form, for listeners that do not take any. */
const SOME_TOKEN = "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ.e30.AAAA";

/** Makes crafts for an HMAC listener. */
export function hmacCrafts(secret: string): (scene: Scene) => HmacCraft {
  checkSecret(secret);
  return (scene) => {
    const craft: HmacCraft = {
      ...scene,
      secret,
      signature(over, key = secret, head = signingHead) {
        const { timestamp, eventId, body } = partsOf(scene, over);
        return hmacSha256(hmacKey(key), head(timestamp, eventId), body);
      },
      withSignature: (signature, over) => requestOf(partsOf(scene, over), [SIGNATURE_HEADER, signature]),
      signed: async (over) => craft.withSignature(craft.signature(over), over),
      signedByStranger: async (over) => craft.withSignature(craft.signature(over, generateSecret()), over),
      otherMethod: () => [AUTHORIZATION_HEADER, SOME_TOKEN],
    };
    return craft;
  };
}
