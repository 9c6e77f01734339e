import type { Check } from "../protocol/check.js";
import { shown } from "../protocol/check.js";
import { CONTENT_TYPE_HEADER, type ReceivedHeaders } from "../protocol/headers.js";
import { parseJson } from "../protocol/json.js";
import { failed, passed } from "./verdict.js";

/** What step 6 found: its checks, and the parsed body when all of them passed. */
export interface BodyChecks {
  readonly checks: readonly Check[];
  readonly payload: unknown;
}

/** The white space is HTTP's own, space and tab; trim() would take away more. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

/** Step 6: the media type, no encoding, and one JSON value in strict UTF-8. */
export function checkBody(headers: ReceivedHeaders, body: Uint8Array): BodyChecks {
  const typeRule = `${CONTENT_TYPE_HEADER} is application/json, and the body is not encoded`;
  const [contentType = ""] = headers.all(CONTENT_TYPE_HEADER);
  if (!JSON_TYPE.test(contentType)) {
    return refused(failed("body", "CONTENT_TYPE_UNSUPPORTED", typeRule, shown(contentType)));
  }
  const encodings = headers.all("Content-Encoding");
  if (encodings.length > 0)
    return refused(failed("body", "CONTENT_ENCODING_UNSUPPORTED", typeRule, shown(encodings.join(", "))));

  const rule = "the body is one JSON value in UTF-8, without a byte order mark";
  const parsed = parseJson(body);
  if (parsed.ok) return { checks: [passed("body", rule)], payload: parsed.value };
  const reason =
    parsed.reason === "not-utf8" ? "bytes that are not UTF-8" : "text that is not one JSON value";
  return refused(failed("body", "BODY_NOT_JSON", rule, body.length === 0 ? "an empty body" : reason));
}

function refused(check: Check): BodyChecks {
  return { checks: [check], payload: undefined };
}
