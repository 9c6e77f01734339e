// Says which kids a key set has, where the wanted one is not among them.
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
  const [named, without] = [kids.filter((kid) => kid !== undefined), kids.includes(undefined)];
  const rest = named.length > MAX ? " and others" : "";
  const list = named
    .slice(0, MAX)
    .map((kid) => shown(kid))
    .join(", ");
  const said = named.length === 0 ? "" : ` It has ${list}${rest}.`;
  return `${said}${without ? " A key of it has no kid." : ""}`;
}

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
