// Finds what is wrong with a token's key and signature.

import { digestOf, hmacOf } from "#hash";
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../core/bytes.js";
import { isObject } from "../../core/json.js";
import { shown } from "../../core/shown.js";
import { MAX_KEY_SET_KEYS, otherShapeOf } from "../../jwks/key-set-shape.js";
import { ALGORITHM_FACTS, type Algorithm, algorithmOf, isAlgorithm } from "../../jwt/algorithms.js";
import { PRIVATE_MEMBERS } from "../../jwt/key.js";
import { rawFromDer } from "../../jwt/sign-token.js";
import type { KeyResolver } from "../../jwt/verify.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { plainKid } from "../schemes/kids-in-words.js";
import { hexOf, latin1Text } from "../texts/rewrite.js";
import {
  type CandidateKey,
  candidate,
  candidatesOf,
  hasMade,
  isByOtherHash,
  type Member,
  signedText,
  type TokenParts,
  usable,
} from "./candidate-keys.js";
import { mistakesInMaterial, repairedKeys } from "./key-material.js";
import { KEY_MATERIAL_MISTAKES } from "./mistakes/key-material.js";
import { KEY_SET_SHAPES, KID_MISTAKES } from "./mistakes/key-set.js";
import { TOKEN_MISTAKES as MISTAKES } from "./mistakes/token.js";
import {
  OTHER_BYTES,
  OTHER_HALVES,
  OTHER_TEXTS,
  TOKEN_SIGNATURE_MISTAKES as SIGNATURES,
} from "./mistakes/token-signature.js";
import { opened } from "./rsa.js";

/** The keys that the caller knows. */
export interface KnownKeys {
  /** The document of a key set, as it is served. */
  readonly jwks: unknown;
  readonly resolver: KeyResolver | undefined;
}

/** A key set has a handful of keys; more are not tried. */
const MAX_TRIED_KEYS = 12;

/** What is wrong with the token's key and signature; nothing where no key is known. */
export async function mistakesInKey(token: TokenParts, known: KnownKeys): Promise<Mistake[]> {
  const members = keySetMembers(known.jwks);
  if (members === "malformed") return [notAKeySet(known.jwks)];
  if (members === undefined) return withResolver(token, known);
  if (members.length > MAX_KEY_SET_KEYS) return [KEY_MATERIAL_MISTAKES.tooMany];
  const ofSet = members.some((key) => PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name)))
    ? [MISTAKES.keySetPrivate]
    : [];
  const named = members.filter(({ kid }) => kid === token.header.kid);
  const others = members.filter(({ kid }) => kid !== token.header.kid);
  const candidates = candidatesOf([...named, ...others].slice(0, MAX_TRIED_KEYS), token);
  const material =
    named.length === 1 ? await mistakesInPublished(named[0] as Member, candidates[0], token) : [];
  if (material.length > 0) return [...ofSet, ...material];
  const mistakes = [...ofSet, ...mistakesInNamedKey(named, token)];
  return [...mistakes, ...(await mistakesInTokenSignature(token, candidates, named.length > 0))];
}

/** What is wrong with the numbers of the key that the token names: proven by the signature, or seen by themselves. */
async function mistakesInPublished(
  key: Member,
  own: CandidateKey | undefined,
  token: TokenParts,
): Promise<Mistake[]> {
  const { header } = token;
  const alg =
    isAlgorithm(header.alg) && (key.alg === header.alg || !isAlgorithm(key.alg)) ? header.alg : undefined;
  if (alg === undefined) return [];
  const isUsable = own?.alg === alg && own.kid === header.kid && (await own.key()) !== undefined;
  // Numbers that make a point of P-256 stand for no other one: what is done to them makes none.
  if (isUsable && (alg === "ES256" || (await own.isRight()))) return [];
  for (const { mistake, repaired } of repairedKeys(key, alg)) {
    const [candidate] = candidatesOf([repaired], token);
    if (await candidate?.isRight()) return [mistake];
  }
  return isUsable ? [] : mistakesInMaterial(key, alg);
}

async function withResolver(token: TokenParts, { resolver }: KnownKeys): Promise<Mistake[]> {
  const { kid, alg } = token.header;
  if (resolver === undefined || typeof kid !== "string" || !isAlgorithm(alg)) return [];
  try {
    const resolved = await resolver.resolve(kid, alg);
    if (resolved.ok)
      return await mistakesInTokenSignature(
        token,
        [candidate({ kid, alg, key: async () => resolved.key }, token)],
        true,
      );
    // What could not be read is no mistake of the sender's, and the verdict says that it was not.
    return resolved.code === "KEY_SET_UNAVAILABLE" ? [] : [mistakeOfRefusal(resolved.code, resolved.detail)];
  } catch {
    return []; // the caller's resolver may throw anything
  }
}

/** A resolver's refusal as a mistake: it says no more than the resolver did. */
function mistakeOfRefusal(code: "KEY_NOT_FOUND" | "KEY_SET_INVALID", detail: string): Mistake {
  if (code === "KEY_SET_INVALID")
    return { ...MISTAKES.keySetMalformed, message: `The key set is refused: ${detail}.` };
  if (/^kid .* occurs [0-9]+ times$/s.test(detail)) return withDetail(MISTAKES.kidTwice, `Seen: ${detail}.`);
  if (/^kid .* has (?:use|alg|key_ops) /s.test(detail))
    return withDetail(MISTAKES.keyMembers, `Seen: ${detail}.`);
  return { ...MISTAKES.kidUnknown, message: `The key set has no key for the token's kid: ${detail}.` };
}

function keySetMembers(jwks: unknown): readonly Member[] | "malformed" | undefined {
  if (jwks === undefined) return undefined;
  const keys = isObject(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys)) return "malformed";
  return keys.length > 0 && keys.every((key) => typeof key === "string")
    ? "malformed"
    : keys.filter(isObject);
}

function notAKeySet(document: unknown): Mistake {
  const shape = otherShapeOf(document) ?? otherShapeOf((document as { keys: unknown[] }).keys[0]) ?? "other";
  return shape === "other" ? MISTAKES.keySetMalformed : KEY_SET_SHAPES[shape];
}

function mistakesInNamedKey(named: readonly Member[], { header }: TokenParts): Mistake[] {
  const [key] = named;
  if (key === undefined) return [];
  if (named.length > 1) return [MISTAKES.kidTwice];
  const alg = algorithmOf(key);
  if (isAlgorithm(header.alg) && alg !== undefined && alg !== header.alg)
    return [withDetail(MISTAKES.algOfOtherKey, `The token says ${header.alg}, the key is for ${alg}.`)];
  return mistakesInMembers(key, alg);
}

/** What the key says of itself, which is all that a listener goes by. */
function mistakesInMembers(key: Member, alg: Algorithm | undefined): Mistake[] {
  const { use, alg: said, key_ops } = key;
  const canVerify = key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes("verify"));
  if (use === "sig" && said === alg && canVerify) return [];
  const names = { use, alg: said, ...(canVerify ? {} : { key_ops }) };
  const seen = Object.entries(names).map(
    ([name, value]) => `${name} ${value === undefined ? "missing" : shown(value)}`,
  );
  return [withDetail(MISTAKES.keyMembers, `Seen: ${seen.join(", ")}.`)];
}

async function mistakesInTokenSignature(
  token: TokenParts,
  candidates: readonly CandidateKey[],
  isNamed: boolean,
): Promise<Mistake[]> {
  const { header, signature, segments } = token;
  const input = signedText(segments);
  const prehashed = decodeBase64url(digestOf("sha256", [input])) ?? input;
  const raw = rawFromDer(signature);
  const attempts: readonly (readonly [
    bytes: Uint8Array,
    message: Uint8Array,
    mistakes: readonly Mistake[],
  ])[] = [
    [signature, input, []],
    [raw, input, [MISTAKES.der]],
    [signature, prehashed, [MISTAKES.prehashed]],
    [raw, prehashed, [MISTAKES.der, MISTAKES.prehashed]],
  ];
  for (const [bytes, message, mistakes] of attempts) {
    if (bytes.length === 0) continue;
    for (const one of candidates) {
      if (!(await (mistakes.length === 0 ? one.isRight() : hasMade(one, bytes, message)))) continue;
      const { kid } = one;
      // That the token has no kid, or a number, its header's check has said.
      if (kid === header.kid || header.kid === undefined || header.kid === null) return [...mistakes];
      const mistake = kidMistake(header.kid, kid);
      if (mistake === KID_MISTAKES.otherType && typeof header.kid === "number") return [...mistakes];
      // A key without a kid has no name to be told.
      if (mistake === KID_MISTAKES.missingInSet) return [mistake, ...mistakes];
      const told =
        isNamed || mistake !== MISTAKES.kidOfOtherKey ? mistake : { ...mistake, message: OF_NO_KEY };
      return [withDetail(told, `The key ${shown(kid)} made it.`), ...mistakes];
    }
  }
  if (segments[2] === "") return [SIGNATURES.none];
  const ofAlg = await usable(
    candidates.filter(({ alg }) => alg === header.alg),
    MAX_SEARCHED_KEYS,
  );
  for (const one of ofAlg) {
    const found = await mistakesBySearch(token, one, raw);
    if (found.length > 0) return found;
  }
  if (/(?:\u00ef\u00bf\u00bd.*){3}/s.test(latin1Text(signature))) return [SIGNATURES.asText];
  // A sequence of its own length that begins with a number: single bytes of it are those of any signature too.
  const [sequence, length, number] = signature;
  const isDer = raw.length > 0 || (sequence === 0x30 && length === signature.length - 2 && number === 0x02);
  if (!isDer && isAlgorithm(header.alg) && header.alg !== "RS256" && signature.length !== 64)
    return [withDetail(SIGNATURES.length, `It has ${signature.length}, and ${header.alg} gives 64.`)];
  const [first] = ofAlg;
  if (first?.modulus && isNamed && signature.length !== first.modulus.length)
    return [
      withDetail(
        SIGNATURES.length,
        `It has ${signature.length}, and this key gives ${first.modulus.length}.`,
      ),
    ];
  if (raw.length > 0 && isAlgorithm(header.alg) && ALGORITHM_FACTS[header.alg].isOftenDer)
    return [MISTAKES.der, MISTAKES.signature];
  if (!isNamed) return [MISTAKES.kidUnknown];
  // What another algorithm makes was not tried, so it is not known whether a key of the set made it.
  return typeof header.alg === "string" && !isAlgorithm(header.alg) ? [] : [MISTAKES.signature];
}

/** The message where the token's kid names no key at all. */
const OF_NO_KEY = "No key of the key set has the token's kid, and another key of it made the signature.";

/** Each other text and spelling is tried with so many keys of the token's algorithm, the named one first. */
const MAX_SEARCHED_KEYS = 2;

/** Other spellings of the signature, other texts and other hashes that one key verifies. */
async function mistakesBySearch(
  { segments, signature, body }: TokenParts,
  candidate: CandidateKey,
  raw: Uint8Array,
): Promise<Mistake[]> {
  const { alg, modulus } = candidate;
  const [header = "", claims = "", segment = ""] = segments;
  const input = utf8(`${header}.${claims}`);
  const isRight = (bytes: Uint8Array, message: Uint8Array) => hasMade(candidate, bytes, message);
  for (const { of, bytes } of alg === "ES256" ? [...OTHER_BYTES, ...OTHER_HALVES] : OTHER_BYTES)
    for (const other of bytes(segment, signature)) {
      if (other === undefined || other.length < 60 || other.length > 1_100) continue;
      if (await isRight(other, input)) return [SIGNATURES[of]];
      const inDer = alg === "ES256" ? rawFromDer(other) : signature.subarray(0, 0);
      if (inDer.length > 0 && (await isRight(inDer, input))) return [MISTAKES.der, SIGNATURES[of]];
    }
  const seen = new Set<string | Uint8Array | undefined>([undefined, `${header}.${claims}`]);
  const texts = OTHER_TEXTS.flatMap(({ of, says, text }) => {
    const made = text({ header, claims, body });
    if (made === undefined || seen.has(made)) return [];
    seen.add(made);
    const mistake = says === "" ? SIGNATURES[of] : withDetail(SIGNATURES[of], `It has signed ${says}.`);
    return { mistake, message: typeof made === "string" ? utf8(made) : made };
  });
  const all = [...hashesOf(input), ...texts];
  if (alg === "RS256") return modulus === undefined ? [] : insideOfRsa(signature, modulus, input, all);
  for (const { mistake, message } of all) {
    if (await isRight(signature, message)) return [mistake];
    if (raw.length > 0 && (await isRight(raw, message))) return [MISTAKES.der, mistake];
  }
  if (alg !== "ES256") return [];
  for (const hash of ["SHA-512", "SHA-384", "SHA-1"])
    for (const bytes of [signature, raw])
      if (bytes.length === 64 && (await isByOtherHash(candidate, hash, bytes.slice(), input.slice()))) {
        const mistake = withDetail(SIGNATURES.otherHash, `It is ${hash}.`);
        return bytes === raw ? [MISTAKES.der, mistake] : [mistake];
      }
  return [];
}

interface SignedText {
  readonly mistake: Mistake;
  readonly message: Uint8Array;
}

/** The hash of the right text, signed as if it were the text. */
function hashesOf(input: Uint8Array): readonly SignedText[] {
  const [short, long] = (["sha256", "sha512"] as const).map(
    (hash) => decodeBase64url(digestOf(hash, [input])) ?? input,
  ) as [Uint8Array, Uint8Array];
  const spelled = [hexOf(short), encodeBase64(short), encodeBase64url(short), hexOf(long)].map(utf8);
  return [long, ...spelled].map((message) => ({ mistake: MISTAKES.prehashed, message }));
}

/** An RSA signature says by itself which hash it holds, so that all texts are compared at the cost of one. */
function insideOfRsa(
  signature: Uint8Array,
  modulus: Uint8Array,
  input: Uint8Array,
  texts: readonly SignedText[],
): Mistake[] {
  const inside = opened(signature, modulus);
  if (inside === undefined) return [];
  if (inside.isPssOf(input)) return [SIGNATURES.pss];
  const { hash, held } = inside;
  if (held === undefined) return [];
  const hashed = (message: Uint8Array, name = hash ?? "sha256") =>
    hexOf(decodeBase64url(digestOf(name, [message])) ?? message);
  if (hash === undefined)
    return [hashed(input), hexOf(utf8(hashed(input))), hexOf(input)].includes(held)
      ? [SIGNATURES.bareHash]
      : [];
  if (hash !== "sha256" && held === hashed(input))
    return [withDetail(SIGNATURES.otherHash, `It is ${hash.replace("sha", "SHA-")}.`)];
  const found = hash === "sha256" ? texts.find(({ message }) => hashed(message) === held) : undefined;
  return found ? [found.mistake] : [];
}

/** Whether a token with an algorithm of the HMAC family is signed with what everybody knows of a published key. */
export async function isSignedWithPublicKey(token: TokenParts, jwks: unknown): Promise<boolean> {
  const { segments, header } = token;
  const members = keySetMembers(jwks);
  const hash = /^HS(256|384|512)$/i.exec(String(header.alg))?.[1];
  if (hash === undefined || !Array.isArray(members)) return false;
  const isKey = (key: Uint8Array) =>
    hmacOf(`sha${hash}` as "sha256", key, [segments.slice(0, 2).join(".")]) === segments[2];
  for (const { key } of candidatesOf(members.slice(0, MAX_TRIED_KEYS), token)) {
    const imported = await key();
    if (imported === undefined) continue;
    const der = new Uint8Array(await crypto.subtle.exportKey("spki", imported));
    const lines = (encodeBase64(der).match(/.{1,64}/g) ?? []).join("\n");
    const pem = `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----`;
    if ([der, ...[pem, `${pem}\n`, pem.replaceAll("\n", "\\n"), lines].map(utf8)].some(isKey)) return true;
  }
  return members.some((jwk) => {
    const numbers = [jwk.x, jwk.n].filter((one): one is string => typeof one === "string");
    return [JSON.stringify(jwk), ...numbers].some((text) => isKey(utf8(text)));
  });
}

/** Why the key that made the signature is not found by the token's kid. */
function kidMistake(ofToken: unknown, ofKey: unknown): Mistake {
  if (ofKey === undefined || ofKey === null || ofKey === "") return KID_MISTAKES.missingInSet;
  if (plainKid(ofToken) !== plainKid(ofKey)) return MISTAKES.kidOfOtherKey;
  return typeof ofToken === typeof ofKey ? KID_MISTAKES.otherCase : KID_MISTAKES.otherType;
}
