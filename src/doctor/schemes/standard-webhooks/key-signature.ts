// Searches the mistakes that give a signature by a key (v1a) of Standard Webhooks.
import { hmacOf } from "#hash";
import { ed25519Signer, ed25519Verifier } from "#signature";
import { concatBytes, utf8 } from "../../../core/bytes.js";
import type { readKey } from "../../../schemes/standard-webhooks/key.js";
import type { WorkBudget } from "../../diagnose/search.js";
import { type MistakeRow, type Option, optionsOf } from "../../rows/mistake.js";
import { choices, mistakesOf } from "../../rows/run.js";
import {
  hmacByKey,
  MIXED_UP,
  PREHASH_MISTAKES,
  readKeySignatures,
  UNEXPLAINED_BY_KEY,
  writtenOtherwise,
} from "./key-forms.js";
import { KEY_HEADS } from "./mistakes.js";

/** A request, and its body in the ways that it may have been signed. */
interface SignedByKey {
  readonly id: string;
  readonly timestamp: string;
  /** The value of webhook-signature. */
  readonly list: string;
  readonly sent: Uint8Array;
  readonly bodies: readonly Option<() => Uint8Array | undefined>[];
}

/** A key of the receiver: a public one, or the sender's private one. */
interface KeyOfPair extends ReturnType<typeof readKey> {
  readonly text: string;
}

type Signature = ReturnType<typeof readKeySignatures>["read"][number];

/** Whether a signature is that of a text by one key. */
type IsSigned = (signature: Signature, parts: readonly Uint8Array[]) => boolean | Promise<boolean>;

/** What one verification costs, in bytes hashed (bench/diagnose.bench.mjs). */
const BYTES_PER_VERIFICATION = 65_000;

/** So many pairs of a signature and a key are tried with the right text, and with others. */
const MAX_PAIRS = 16;
const MAX_SEARCHED_PAIRS = 4;

/** A mistake of any weight, and the likeliest two. */
const MAX_COST = 6;

const PREHASHES = optionsOf((text: Uint8Array) => text, PREHASH_MISTAKES);

/** What is wrong with the signatures by a key: nothing if one is right, and what was tried where nothing explains them. */
export async function mistakesInKeySignature(
  request: SignedByKey,
  keys: readonly KeyOfPair[],
  budget: WorkBudget,
): Promise<readonly MistakeRow[]> {
  const { id, timestamp, list, sent } = request;
  const { read, faults } = readKeySignatures(list);
  const right = [utf8(`${id}.${timestamp}.`), sent];
  const pairs = keys
    .flatMap((key) => read.map((signature) => ({ signature, isSigned: checkOf(key) })))
    .slice(0, MAX_PAIRS);
  for (const { signature, isSigned } of pairs)
    if (await isSigned(signature, right)) return signature.mistakes;
  for (const key of keys) {
    const texts = [key.text, key.text.replace(/^wh[ps]k_/, "")].map(utf8);
    const isMac = (digest: string) =>
      [key.bytes, ...texts].some((secret) => hmacOf("sha256", secret, right) === digest);
    const ofSecret = hmacByKey(list, isMac);
    if (ofSecret) return [ofSecret];
    const isOfHalf = checkOf({ ...key, kind: key.kind === "public" ? "private" : "public" });
    for (const signature of read)
      if (await isOfHalf(signature, right)) return [MIXED_UP, ...signature.mistakes];
  }
  for (const { signature, isSigned } of pairs.slice(0, MAX_SEARCHED_PAIRS))
    for (const { says, bytes } of ordersOf(signature.bytes))
      if (await isSigned({ ...signature, bytes }, right)) return [writtenOtherwise(says)];
  const found = await byOtherText(request, pairs.slice(0, MAX_SEARCHED_PAIRS), budget);
  if (found) return found;
  return faults.length > 0 ? faults.slice(0, 1) : [UNEXPLAINED_BY_KEY];
}

async function byOtherText(
  { id, timestamp, bodies }: SignedByKey,
  pairs: readonly { readonly signature: Signature; readonly isSigned: IsSigned }[],
  budget: WorkBudget,
): Promise<readonly MistakeRow[] | undefined> {
  const head = KEY_HEADS.map(({ repeat, ...option }) => ({
    ...option,
    repeat: repeat(id, timestamp, undefined),
  }));
  const tried = new Set([head[0]?.repeat]);
  for (const choice of choices({ body: bodies, prehash: PREHASHES, head }, { above: 0, upTo: MAX_COST })) {
    if (budget.isSpent) return undefined;
    const { body, prehash } = choice;
    const signed = body.repeat();
    if (signed === undefined) continue;
    if (choice.head.mistake && !body.mistake && !prehash.mistake) {
      // Of a head that changes nothing, or gives what another did, nothing new is known.
      if (tried.has(choice.head.repeat)) continue;
      tried.add(choice.head.repeat);
    }
    const text = [utf8(choice.head.repeat), signed];
    const parts = prehash.mistake ? [prehash.repeat(concatBytes(text))] : text;
    for (const { signature, isSigned } of pairs) {
      budget.spend(BYTES_PER_VERIFICATION + 2 * signed.length);
      if (await isSigned(signature, parts)) return [...mistakesOf(choice), ...signature.mistakes];
    }
  }
  return undefined;
}

/** Verifies by a public key. A private one signs again, and gives the same bytes for the same text (RFC 8032). */
function checkOf({ kind, bytes: key }: Pick<KeyOfPair, "kind" | "bytes">): IsSigned {
  const verify = kind === "public" ? ed25519Verifier(key) : undefined;
  const sign = verify ? undefined : ed25519Signer(key);
  return async ({ bytes }, parts) => {
    try {
      if (verify) return await verify(bytes, ...parts);
      const made = await sign?.(...parts);
      return made?.every((byte, index) => byte === bytes[index]) ?? false;
    } catch {
      return false; // bytes that are no point have made no signature
    }
  };
}

function ordersOf(
  bytes: Signature["bytes"],
): readonly { readonly says: string; readonly bytes: typeof bytes }[] {
  const [first, second] = [bytes.subarray(0, 32), bytes.subarray(32)];
  return [
    { says: "Its bytes stand in the opposite order.", bytes: bytes.slice().reverse() },
    { says: "Its two halves are swapped.", bytes: Uint8Array.from([...second, ...first]) },
  ];
}
