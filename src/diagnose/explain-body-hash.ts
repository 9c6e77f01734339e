import { digestOf } from "#hash";
import { signingHead } from "../protocol/signing-input.js";
import { bodyHashSpelling, CLAIM_MISTAKES } from "./claim-mistakes.js";
import { combinations } from "./combinations.js";
import { effort } from "./effort.js";
import type { Finding, Mistake } from "./mistake.js";
import { readDigest } from "./read-signature.js";
import { signedBodies } from "./signed-bodies.js";

/** Both dimensions, whatever their weights. */
const MAX_COST = 10;

/** What is wrong about the claim htb_s256: how it is written, and which body it is the hash of. */
export function explainBodyHash(
  claim: string,
  request: { timestamp: string; eventId: string; body: Uint8Array },
): Finding[] {
  const read = readDigest(claim);
  if (read === undefined) return [{ mistake: CLAIM_MISTAKES.htbMalformed }];
  const { hash, digest } = read;
  const isHashOf = (...parts: (string | Uint8Array)[]) => digestOf(hash, parts) === digest;
  const spelling = read.forms.map((form) => ({ mistake: bodyHashSpelling(form) }));
  if (isHashOf(request.body)) return spelling;
  if (isHashOf(signingHead(request.timestamp, request.eventId), request.body))
    return [{ mistake: CLAIM_MISTAKES.htbOfSigningInput }, ...spelling];
  const behind = mistakesBehind(request.body, isHashOf);
  if (behind === undefined) return [{ mistake: CLAIM_MISTAKES.htbUnexplained }, ...spelling];
  const detail = "So says the claim htb_s256.";
  return [...behind.map((mistake) => ({ mistake, detail })), ...spelling];
}

/** The mistakes that made another body of this one. */
function mistakesBehind(
  body: Uint8Array,
  isHashOf: (body: Uint8Array) => boolean,
): readonly Mistake[] | undefined {
  const work = effort(body.length);
  const { reserialisings, encodings } = signedBodies(body, work);
  const weights = [reserialisings, encodings].map((options) => options.map(({ weight }) => weight));
  for (const [reserialising = 0, encoding = 0] of combinations(weights, MAX_COST)) {
    if (work.isSpent) return undefined;
    const made = encodings[encoding]?.repeat(reserialisings[reserialising]?.repeat());
    if (made === undefined) continue;
    work.spend(made.length);
    if (isHashOf(made))
      return [reserialisings[reserialising], encodings[encoding]].flatMap((option) => option?.mistake ?? []);
  }
  return undefined;
}
