// Finds which body the claim htb_s256 is the hash of, and how it is written.
import { digestOf } from "#hash";
import { decodeBase64url, decodeUtf8, encodeBase64, encodeBase64url } from "../../core/bytes.js";
import { signingHead } from "../../schemes/access-governance/protocol.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { firstMatch } from "../rows/run.js";
import { hexOf, parseHex } from "../texts/rewrite.js";
import { isNotText } from "../texts/variables.js";
import { lossyForm, readDigest } from "./digest-text.js";
import { bodyHashSpelling, CLAIM_MISTAKES, lossyBodyHash } from "./mistakes/claim.js";
import { hmac } from "./mistakes/signature.js";
import { signedBodies, workBudget } from "./search.js";

/** The costliest pair of a serialising and an encoding mistake. */
const MAX_BODY_COST = 10;

const NOTHING = new Uint8Array();

interface HashedRequest {
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  /** The listener's URL. */
  readonly url: string | undefined;
}

/** What is wrong with the claim htb_s256: how it is written, and which body it is the hash of. */
export function mistakesInBodyHash(claim: string, request: HashedRequest): Mistake[] {
  const { timestamp, eventId, body, url = "" } = request;
  if (isNotText(claim.trim())) return [CLAIM_MISTAKES.htbNotText];
  const right = decodeBase64url(digestOf("sha256", [body])) ?? NOTHING;
  if (isBodyItself(claim, body)) return [CLAIM_MISTAKES.htbIsBody];
  const lossy = lossyForm(claim, right);
  const read = readDigest(claim);
  if (read === undefined) return [lossy ? lossyBodyHash(lossy) : CLAIM_MISTAKES.htbMalformed];
  const { hash, digest } = read;
  const wanted = encodeBase64url(parseHex(digest) ?? NOTHING);
  const isHashOf = (...parts: (string | Uint8Array)[]) => digestOf(hash, parts) === wanted;
  const spelling = read.forms.map(bodyHashSpelling);
  if (isHashOf(body)) return spelling;
  if (lossy) return [lossyBodyHash(lossy)];
  if (isHashOf(signingHead(timestamp, eventId), body)) return [CLAIM_MISTAKES.htbOfSigningInput, ...spelling];

  const budget = workBudget(body.length);
  const found = firstMatch(
    signedBodies(body, budget),
    { above: 0, upTo: MAX_BODY_COST, budget },
    ({ serialising, encoding }) => {
      const signed = encoding.repeat(serialising.repeat());
      if (signed === undefined) return false;
      budget.spend(signed.length);
      return isHashOf(signed);
    },
  );
  if (found !== undefined)
    return [...found.map((mistake) => withDetail(mistake, "The claim htb_s256 shows it.")), ...spelling];
  const others: readonly (readonly [what: string, ...parts: (string | Uint8Array)[]])[] = [
    ["{event_id}.{body}", eventId, ".", body],
    ["{timestamp}.{body}", timestamp, ".", body],
    ["the method and the body", "POST", body],
    ["the method, the URL and the body", "POST", url, body],
    ["the URL and the body", url, body],
    ["the event id and the body", eventId, body],
    ["the URL", url],
    ["the event id", eventId],
  ];
  for (const [what, ...parts] of others)
    if (!parts.includes("") && isHashOf(...parts))
      return [withDetail(CLAIM_MISTAKES.htbOfOther, `It is the hash of ${what}.`), ...spelling];
  const keys = ["", eventId];
  if (keys.some((key) => hmac(hash, new TextEncoder().encode(key), [body]) === digest))
    return [CLAIM_MISTAKES.htbHmac, ...spelling];
  return [CLAIM_MISTAKES.htbUnexplained, ...spelling];
}

function isBodyItself(claim: string, body: Uint8Array): boolean {
  // No spelling of a long body is as short as a hash, and none is longer than hex.
  if (body.length < 3 || claim.length > 2 * body.length || claim.length < body.length / 3) return false;
  return (
    claim === decodeUtf8(body) || [encodeBase64url(body), encodeBase64(body), hexOf(body)].includes(claim)
  );
}
