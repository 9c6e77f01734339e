// Reads a captured request in whatever form it is kept in.
import { CliError, EXIT, usageError } from "../failure.js";
import { textOf } from "../input/text.js";
import { parseCapturedJson } from "./captured-json.js";
import { isCsv, parseCsv } from "./csv-export.js";
import { isTrace, isVerbose, parseTrace, parseVerbose } from "./curl-output.js";
import { isFetch, parseFetch } from "./fetch-call.js";
import { isFollowed, isHttp2, parseFollowed, parseHttp2 } from "./followed-stream.js";
import { bytesOfDump, isHexDump } from "./hex-dump.js";
import { otherFormOf } from "./other-forms.js";
import { isPowerShell, parsePowerShell } from "./powershell.js";
import { type CapturedRequest, parseRawRequest } from "./raw-request.js";
import { parseCurl } from "./read-curl.js";

/** Reads a captured request in whatever form it is; one that is known and cannot be read is named. */
export function parseCaptured(given: Buffer): CapturedRequest {
  const { bytes, isUtf16 } = decoded(given);
  const other = otherFormOf(given.subarray(0, 512).toString("latin1"));
  if (other && !isUtf16) throw usageError(`This is ${other.is}.`, other.instead);
  const request = parsed(withoutLeadingLines(bytes));
  // PowerShell decodes what a program prints before it writes UTF-16.
  const isPlain = /^[\x20-\x7e]*$/.test(Buffer.from(request.body).toString("latin1"));
  if (!isUtf16 || isPlain || request.doubt !== undefined) return request;
  return {
    ...request,
    doubt:
      "the file is UTF-16, as PowerShell writes it: line breaks and characters beyond ASCII may be others than were sent",
  };
}

/** The refusal of a capture without the body that was sent. */
export function withoutBody(name: string, why: string, hint?: string): CliError {
  return new CliError(EXIT.setup, "CAPTURE_INCOMPLETE", `${name} has no body: ${why}.`, { hint });
}

function parsed(bytes: Buffer): CapturedRequest {
  const start = bytes.subarray(0, 4_096).toString("utf8");
  const text = () => textOf(bytes, "The capture"); // U+FFFD for a byte would be a change that nobody made
  if (/^(?:[$>%#]\s+|[A-Z]:\\[^>\n]{0,200}>\s*)?curl(?:\.exe)?\s/.test(start)) return parseCurl(text());
  if (isTrace(start)) return parseTrace(bytes.toString("latin1"));
  if (isVerbose(start)) return parseVerbose(bytes.toString("utf8")); // which may show any answer's bytes
  if (isFetch(start)) return parseFetch(text());
  if (isHttp2(start)) return parseHttp2(bytes);
  if (isFollowed(start)) return parseFollowed(bytes);
  if (isHexDump(start)) return parseRawRequest(bytesOfDump(bytes.toString("latin1")));
  if (/^(?:\$\w|\w+-WebRequest|\w+-RestMethod|iwr\s|irm\s)/i.test(start) && isPowerShell(text()))
    return parsePowerShell(text());
  if (isCsv(start)) return parseCsv(text());
  if (!/^[{[]/.test(start)) return parseRawRequest(bytes);
  try {
    return parseCapturedJson(text().trim());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageError(
      "This is neither a raw HTTP request nor complete JSON.",
      "Give the parts separately with --headers @file and --body @file.",
    );
  }
}

/** The bytes as UTF-8; PowerShell 5 writes UTF-16 with >. */
function decoded(bytes: Buffer): { bytes: Buffer; isUtf16: boolean } {
  const [first, second] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (second === 0 && first !== 0 && bytes[3] === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && bytes[2] === 0);
  if (isLittle || isBig) {
    const text = new TextDecoder(isLittle ? "utf-16le" : "utf-16be").decode(bytes);
    // A UTF-8 file with a mark that was written again as UTF-16 has two.
    return { bytes: Buffer.from(text.replace(/^\uFEFF/, "")), isUtf16: true };
  }
  const isMarked = first === 0xef && second === 0xbb && bytes[2] === 0xbf;
  return { bytes: isMarked ? bytes.subarray(3) : bytes, isUtf16: false };
}

/** Without blank lines in front, which come by copying; what tshark and editors write begins with some. */
function withoutLeadingLines(bytes: Buffer): Buffer {
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x0a) from = at + 1;
    else if (byte !== 0x0d && byte !== 0x20 && byte !== 0x09) break;
  }
  return bytes.subarray(from);
}
