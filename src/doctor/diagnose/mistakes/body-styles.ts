// The styles in which serialisers write JSON.
import type { ReceivedJson, Reshape } from "../../texts/json-shapes.js";
import { asciiQuotes, type JsonStyle, phpQuotes, plainQuotes, writeJson } from "../../texts/json-writer.js";

/** The text that was signed, made from the received JSON; `undefined` if there is none. */
export type Reserialise = (json: ReceivedJson | undefined) => string | undefined;

export const ONCE = "Serialise once, and sign and send the same text: const body = JSON.stringify(payload).";
export const ONCE_PYTHON =
  "Serialise once, and sign and send the same bytes: body = json.dumps(payload).encode(); requests.post(url, data=body), not json=payload.";
export const RAW_BODY =
  "To verify, take the bytes as received, before anything parses them: await request.text(), express.raw().";

/** JSON.stringify, and most others. */
export const COMPACT: JsonStyle = { comma: ",", colon: ":", quote: plainQuotes };
/** Python's json.dumps. */
export const PYTHON: JsonStyle = { comma: ", ", colon: ": ", quote: asciiQuotes };
/** The same with ensure_ascii=False; PostgreSQL's jsonb and MySQL's JSON. */
export const SPACED: JsonStyle = { comma: ", ", colon: ": ", quote: plainQuotes };
/** PHP's json_encode. */
export const PHP: JsonStyle = { comma: ",", colon: ":", quote: phpQuotes };

export function inStyle(style: JsonStyle): Reserialise {
  return (json) => json && writeJson(json, style);
}

/** The JSON with a change in its parts, written in a style; nothing where the change makes no difference. */
export function shaped(change: Reshape, style: JsonStyle): Reserialise {
  return (json) => {
    const changed = json?.reshaped(change);
    return changed && writeJson(changed, style);
  };
}
