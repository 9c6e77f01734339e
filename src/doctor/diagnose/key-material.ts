// Says what is wrong with the numbers of a published key, and makes the keys that they may stand for.
import { decodeBase64url } from "../../core/bytes.js";
import { countOf, shown } from "../../core/shown.js";
import { ALGORITHM_FACTS, type Algorithm } from "../../jwt/algorithms.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { KEY_MATERIAL_MISTAKES as MISTAKES, OTHER_KEYS } from "./mistakes/key-material.js";

type Key = Readonly<Record<string, unknown>>;

/** The keys that a published one may stand for, each with the mistake that it proves. */
export function repairedKeys(
  published: Key,
  alg: Algorithm,
): readonly { readonly mistake: Mistake; readonly repaired: Key }[] {
  const named = seenInName(published, alg);
  const { kty, crv } = ALGORITHM_FACTS[alg];
  const right = { ...published, kty, ...(crv === undefined ? {} : { crv }) };
  const ofName = named.map((mistake) => ({ mistake, repaired: right }));
  const seen = new Set([JSON.stringify(right)]);
  const ofNumbers = OTHER_KEYS.flatMap(({ of, says, key }) => {
    const repaired = key(right);
    if (repaired === undefined) return [];
    const text = JSON.stringify(repaired);
    if (seen.has(text)) return [];
    seen.add(text);
    return { mistake: withDetail(MISTAKES[of], `It verifies the signature ${says}`), repaired };
  });
  const withExponent = { ...right, e: "AQAB" };
  const ofExponent =
    alg === "RS256" && published.e !== "AQAB"
      ? [{ mistake: withDetail(MISTAKES.exponent, `It is ${shown(published.e)}.`), repaired: withExponent }]
      : [];
  return [...ofName, ...ofExponent, ...ofNumbers];
}

function seenInName({ kty, crv }: Key, alg: Algorithm): readonly Mistake[] {
  const facts = ALGORITHM_FACTS[alg];
  if (kty !== facts.kty) return [withDetail(MISTAKES.type, `It is ${said(kty)}; ${alg} has ${facts.kty}.`)];
  if (facts.crv === undefined || crv === facts.crv) return [];
  return [withDetail(MISTAKES.curve, `It is ${said(crv)}; ${alg} has ${facts.crv}.`)];
}

/** Why a key cannot be imported for its algorithm, by what is seen of it; the first reason says enough. */
export function mistakesInMaterial(key: Key, alg: Algorithm): Mistake[] {
  const names = alg === "RS256" ? ["n", "e"] : alg === "ES256" ? ["x", "y"] : ["x"];
  const missing = names.filter((name) => key[name] === undefined || key[name] === null);
  const ofName = seenInName(key, alg);
  const isBare = missing.length === names.length;
  if (ofName.length > 0 && !isBare) return [...ofName];
  if (missing.length > 0) return [withDetail(MISTAKES.missing, `Missing: ${missing.join(", ")}.`)];
  for (const name of names) {
    const [text, number] = [key[name], name];
    if (name === "e" && text !== "AQAB") return [withDetail(MISTAKES.exponent, `It is ${said(text)}.`)];
    const bytes = typeof text === "string" ? decodeBase64url(text.replace(/(?<!=)=+$/, "")) : undefined;
    if (bytes === undefined) return [withDetail(MISTAKES.spelling, `${number} is ${said(text)}.`)];
    if (name === "n" && bytes.length < 256)
      return [withDetail(MISTAKES.short, `It has ${countOf(bytes.length, "byte")}; 256 are needed.`)];
    if (name !== "n" && name !== "e" && bytes.length !== 32)
      return [withDetail(MISTAKES.length, `${number} has ${countOf(bytes.length, "byte")}.`)];
  }
  return alg === "RS256" ? [] : [MISTAKES.noPoint];
}

function said(value: unknown): string {
  return value === undefined ? "missing" : shown(value, 24);
}
