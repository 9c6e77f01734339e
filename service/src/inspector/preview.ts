// What a body shows of itself in the list.
import { LIMITS, type RequestRow } from "./contract.js";
import { parsedJson, recordOf } from "./entry-line.js";

/** A larger body is not read for the list. */
const MAX_BYTES = 16 * 1024;
const MAX_MEMBERS = 12;
/** Numbers with more digits may be others once they were read. */
const SURE_DIGITS = 15;

/** What a body shows of itself in the list: the type of its event, and the members next to it or how it begins. */
export function previewOf(body: Uint8Array): Pick<RequestRow, "eventType" | "preview"> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const payload = bytes.length <= MAX_BYTES ? recordOf(parsedJson(bytes.toString("utf8"))) : undefined;
  if (!payload) {
    const text = bytes.toString("utf8", 0, 4 * LIMITS.previewCharacters);
    return text === "" ? {} : { preview: oneLine(text) };
  }
  const { type, ...others } = payload;
  const hasType = typeof type === "string" && type !== "";
  const members = Object.entries(hasType ? others : payload).slice(0, MAX_MEMBERS);
  const preview = oneLine(members.map(([name, value]) => `${name}: ${inShort(value)}`).join(", "));
  return { ...(hasType ? { eventType: oneLine(type) } : {}), ...(preview === "" ? {} : { preview }) };
}

function inShort(value: unknown): string {
  if (typeof value === "string") return value.slice(0, LIMITS.previewCharacters);
  if (typeof value === "number") return String(value).length <= SURE_DIGITS ? String(value) : "(number)";
  if (Array.isArray(value)) return `[${value.length}]`;
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, LIMITS.previewCharacters);
}
