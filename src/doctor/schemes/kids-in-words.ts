// Says which kids a key set has, where the wanted one is not among them.
import { digestOf } from "#hash";
import { shown } from "../../core/shown.js";

/** More kids are not listed; a key set has a handful. */
const MAX = 5;

/** A sentence about the kids of a document that is a key set, with a space before it; empty if it has the kid, or is none. */
export function kidsInWords(document: unknown, wanted: unknown): string {
  const kids = kidsOf(document);
  if (kids === undefined || kids.includes(wanted)) return "";
  if (kids.length === 0) return " The set is empty.";
  const near = kids.find((kid) => typeof kid !== "object" && plainKid(kid) === plainKid(wanted));
  if (near !== undefined && near !== null)
    return ` It has ${shown(near)}, which is ${typeof near === typeof wanted ? "written otherwise" : `no text but a ${typeof near}`}.`;
  const meant = kids.find((kid) => typeof kid === "string" && kid !== "" && isEndOf(kid, wanted));
  if (meant !== undefined) return ` It has ${shown(meant)}, with which this one ends: send the kid alone.`;
  const own = ofThumbprint(document, wanted);
  if (own !== undefined)
    return ` It is the thumbprint (RFC 7638) of a key that the set has ${own === null ? "without a kid" : `as ${shown(own)}`}.`;
  const [named, without] = [kids.filter((kid) => kid !== undefined), kids.includes(undefined)];
  const rest = named.length > MAX ? " and others" : "";
  const list = named
    .slice(0, MAX)
    .map((kid) => shown(kid))
    .join(", ");
  const said = named.length === 0 ? "" : ` It has ${list}${rest}.`;
  return `${said}${without ? " A key of it has no kid." : ""}`;
}

/** Whether a name is the address of a key set and a kid, as some write them together. */
function isEndOf(kid: string, wanted: unknown): boolean {
  return typeof wanted === "string" && ["#", "/", ":"].some((mark) => wanted.endsWith(`${mark}${kid}`));
}

/** The kid of the key of which this is the thumbprint, null for one that has none; undefined if no key's. */
function ofThumbprint(document: unknown, wanted: unknown): unknown {
  if (typeof wanted !== "string" || !/^[\w-]{43}$/.test(wanted)) return undefined;
  const keys = (document as { keys: readonly unknown[] }).keys.slice(0, MAX_THUMBPRINTS);
  for (const key of keys) {
    if (typeof key !== "object" || key === null) continue;
    const own = key as Readonly<Record<string, unknown>>;
    const names = MEMBERS.get(own.kty);
    if (!names?.every((name) => typeof own[name] === "string")) continue;
    const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, own[name]])));
    if (digestOf("sha256", [text]) === wanted) return own.kid ?? null;
  }
  return undefined;
}

const MAX_THUMBPRINTS = 12;

/** The members of a key that its thumbprint is made of, in their order (RFC 7638 section 3.2, RFC 8037). */
const MEMBERS = new Map<unknown, readonly string[]>([
  ["EC", ["crv", "kty", "x", "y"]],
  ["OKP", ["crv", "kty", "x"]],
  ["RSA", ["e", "kty", "n"]],
]);

function kidsOf(document: unknown): unknown[] | undefined {
  const keys =
    typeof document === "object" && document !== null && "keys" in document ? document.keys : undefined;
  if (!Array.isArray(keys)) return undefined;
  return keys.flatMap((key) => (typeof key === "object" && key !== null ? [key.kid] : []));
}

/** What two kids that are easily mistaken have in common. */
export function plainKid(kid: unknown): string {
  // An object may have a member toString, which is no function.
  if (typeof kid === "object") return "";
  return String(kid)
    .trim()
    .replace(/^["']|["']$/g, "")
    .toLowerCase();
}
