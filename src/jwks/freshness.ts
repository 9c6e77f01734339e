import type { HeaderPair } from "../protocol/headers.js";

const MIN_FRESH_SECONDS = 60;
const MAX_FRESH_SECONDS = 600;
const DEFAULT_FRESH_SECONDS = 300;

/**
 * How long a key set is fresh, in seconds: as its `Cache-Control` says, less the `Age` it already has, and
 * always within 60 to 600. A host can neither have every token fetch nor keep a withdrawn key alive.
 */
export function freshSeconds(headers: readonly HeaderPair[]): number {
  const directives = valuesOf(headers, "cache-control").flatMap((value) => value.toLowerCase().split(","));
  const named = directives.map(nameAndValue);
  if (named.some(({ name }) => name === "no-store" || name === "no-cache")) return MIN_FRESH_SECONDS;
  const maxAge = named.find(({ name }) => name === "max-age");
  const lifetime = maxAge ? wholeSeconds(maxAge.value) : DEFAULT_FRESH_SECONDS;
  const fresh = lifetime - wholeSeconds(valuesOf(headers, "age")[0]);
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, fresh));
}

/** A directive's two sides. By hand: an expression for the blanks looks at a row of them once for each. */
function nameAndValue(directive: string): { name: string; value: string } {
  const at = directive.indexOf("=");
  if (at < 0) return { name: directive.trim(), value: "" };
  return { name: directive.slice(0, at).trim(), value: directive.slice(at + 1).trim() };
}

/** What a header says in seconds; whatever is not a number counts as none. */
function wholeSeconds(text: string | undefined): number {
  const digits = /^"?([0-9]+)"?$/.exec(text?.trim() ?? "")?.[1];
  return digits === undefined ? 0 : Number(digits);
}

function valuesOf(headers: readonly HeaderPair[], wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}
