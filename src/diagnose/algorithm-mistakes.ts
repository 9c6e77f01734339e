import { digestOf, hmacOf } from "#hash";
import { bodyBytes, concatBytes } from "../primitives/bytes.js";
import type { HashName } from "../primitives/hash-portable.js";
import type { Trial } from "./mistake.js";

/** A digest of a message with a key, as base64url. */
export type Digest = (hash: HashName, key: Uint8Array, message: readonly (string | Uint8Array)[]) => string;

const HMAC =
  "Use HMAC-SHA256 with the secret as key: createHmac('sha256', secret).update(input).digest('base64url').";

/** What people compute instead of an HMAC (specification 5.2, HMAC method, step 4). */
export const ALGORITHM_TRIALS: readonly Trial<Digest>[] = [
  {
    id: "hmac-arguments-swapped",
    title: "Key and message swapped",
    message:
      "It matches if the signing input is the key and the secret the message: the arguments are swapped.",
    fix: `${HMAC} In PHP hash_hmac('sha256', $input, $secret, true); in Python hmac.new(secret, input, 'sha256').`,
    ways: [[2, (hash, key, message) => hmacOf(hash, concatBytes(message.map(bodyBytes)), [key])]],
  },
  {
    id: "hash-instead-of-hmac",
    title: "A hash instead of an HMAC",
    message: "It matches as a plain hash of the signing input, with the secret in front, behind or left out.",
    fix: HMAC,
    ways: [
      [2, (hash, key, message) => digestOf(hash, [key, ...message])],
      [3, (hash, key, message) => digestOf(hash, [...message, key])],
      [3, (hash, _key, message) => digestOf(hash, message)],
    ],
  },
];
