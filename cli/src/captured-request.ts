import { parseCapturedJson } from "./captured-json.js";
import { parseCurl } from "./curl-request.js";
import { usageError } from "./failure.js";
import { type CapturedRequest, parseRawRequest } from "./raw-request.js";

/** Reads a captured request in whatever form it is: raw HTTP, HAR, an exported event, or a curl command. */
export function parseCaptured(bytes: Buffer): CapturedRequest {
  const start = bytes.subarray(0, 64).toString("utf8").trimStart();
  if (/^(?:\$\s+)?curl(?:\.exe)?\s/.test(start)) return parseCurl(bytes.toString("utf8"));
  if (!start.startsWith("{")) return parseRawRequest(bytes);
  const text = bytes.toString("utf8").trim();
  try {
    return parseCapturedJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageError(
      "This is neither a raw HTTP request nor whole JSON.",
      "Separate parts go in with --headers @file and --body @file.",
    );
  }
}
