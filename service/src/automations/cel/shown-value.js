// Shows a value as JSON, shortened, whatever its size.
import { isCelList, isCelMap } from "@bufbuild/cel";
import { jsonValue } from "./values.js";

const MAX_TEXT = 300;
const MAX_ITEMS = 20;
const MAX_DEPTH = 6;
const MORE = "…";

/** A value as JSON text; what is left out of a large one is `…`. */
export function shownValue(value) {
  const text = textOf(value);
  return text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) + MORE : text;
}

function part(value, depth) {
  if (typeof value === "string") return value.length > MAX_TEXT ? value.slice(0, MAX_TEXT) + MORE : value;
  if (value instanceof Uint8Array) return jsonValue(value.subarray(0, MAX_TEXT));
  const isMap = isCelMap(value);
  if (!isMap && !isCelList(value)) return jsonValue(value);
  if (depth === MAX_DEPTH) return MORE;
  const items = [];
  for (const item of value) {
    if (items.length === MAX_ITEMS) {
      items.push(isMap ? [MORE, MORE] : MORE);
      break;
    }
    items.push(isMap ? [String(jsonValue(item[0])), part(item[1], depth + 1)] : part(item, depth + 1));
  }
  return isMap ? Object.fromEntries(items) : items;
}

/** What has no JSON is not shown: the expression itself says why it fails. */
function textOf(value) {
  try {
    return JSON.stringify(part(value, 0));
  } catch {
    return MORE;
  }
}
