// Reads a captured request in whatever form it is kept in.
import { stripVTControlCharacters } from "node:util";
import type { HeaderPair } from "hookproof";
import { CliError, EXIT, usageError } from "../failure.js";
import { textOf } from "../input/text.js";
import { parseCapturedJson } from "./captured-json.js";
import { isCsv, parseCsv } from "./csv-export.js";
import { isTrace, isVerbose, parseTrace, parseVerbose, verboseHead } from "./curl-output.js";
import { isFetch, parseFetch } from "./fetch-call.js";
import { isFollowed, isHttp2, parseFollowed, parseHttp2 } from "./followed-stream.js";
import { headersInText } from "./header-pairs.js";
import { bytesOfDump, isHexDump } from "./hex-dump.js";
import { otherFormOf } from "./other-forms.js";
import { isPowerShell, parsePowerShell } from "./powershell.js";
import { type CapturedRequest, parseHeaderLines, parseRawRequest } from "./raw-request.js";
import { isCurl, parseCurl } from "./read-curl.js";
import { unwrapped } from "./unwrapped.js";
import { whole } from "./whole.js";

/** Reads a captured request in whatever form it is; one that is known and cannot be read is named. */
export function parseCaptured(given: Buffer): CapturedRequest {
  const { bytes, isUtf16 } = decoded(given);
  const [raw, plain] = [given, withoutColours(bytes)].map((one) => one.subarray(0, 512).toString("latin1"));
  const inside = unwrapped(withoutColours(bytes));
  const starts = [plain ?? "", inside.subarray(0, 512).toString("latin1")].map((one) => one.trimStart());
  const other = [...(isUtf16 ? [] : [raw ?? ""]), ...starts].map(otherFormOf).find(Boolean);
  if (other) throw usageError(`This is ${other.is}.`, other.instead);
  const request = whole(parsed(inside));
  // PowerShell decodes what a program prints before it writes UTF-16.
  const isPlain = /^[\x20-\x7e]*$/.test(Buffer.from(request.body).toString("latin1"));
  if (!isUtf16 || isPlain || request.doubt !== undefined) return request;
  return {
    ...request,
    doubt:
      "the file is UTF-16, as PowerShell writes it: line breaks and characters beyond ASCII may be others than were sent",
  };
}

/** Colours of a terminal, which clients write even into files. */
function withoutColours(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, 512).includes("\u001b[")) return bytes;
  return Buffer.from(stripVTControlCharacters(bytes.toString("latin1")), "latin1");
}

/** Header lines, JSON with them, or those that the output of curl -v has. */
export function parseHeaders(text: string): HeaderPair[] {
  const other = otherFormOf(text.slice(0, 512));
  if (other) throw usageError(`The file of --headers is ${other.is}.`, other.instead);
  if (/^\s*[{[]/.test(text)) return headersInText(text);
  return parseHeaderLines(verboseHead(text)?.split("\r\n").slice(1) ?? text.split(/\r?\n/));
}

/** The first value of a header, by its name in lower case. */
export function headerOf({ headers }: Pick<CapturedRequest, "headers">, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** Where a raw request went by its Host; a signature may have been made over the URL. */
export function originOf(request: CapturedRequest): string | undefined {
  const host = headerOf(request, "host") ?? "";
  if (!/^(?:[\w.-]{1,253}|\[[0-9a-f:]{2,45}\])(?::[0-9]{1,5})?$/i.test(host)) return undefined;
  const isNear = /^(?:localhost|127\.|\[::1\])/i.test(host);
  return `${headerOf(request, "x-forwarded-proto") === "http" || isNear ? "http" : "https"}://${host}`;
}

/** The refusal of a capture without the body that was sent. */
export function withoutBody(name: string, why: string, hint?: string): CliError {
  return new CliError(EXIT.setup, "CAPTURE_INCOMPLETE", `${name} has no body: ${why}.`, { hint });
}

function parsed(bytes: Buffer): CapturedRequest {
  const start = bytes.subarray(0, 4_096).toString("utf8");
  const text = () => textOf(bytes, "The capture"); // U+FFFD for a byte would be a change that nobody made
  if (start.trim() === "") throw usageError("The capture is empty.");
  if (isCurl(start)) return parseCurl(text());
  if (isTrace(start)) return parseTrace(bytes.toString("latin1"));
  if (isVerbose(start)) return parseVerbose(bytes.toString("utf8")); // which may show any answer's bytes
  if (isFetch(start)) return parseFetch(text());
  if (isHttp2(start)) return parseHttp2(bytes);
  if (isFollowed(start)) return parseFollowed(bytes);
  if (isHexDump(start)) return parseRawRequest(bytesOfDump(bytes.toString("latin1")));
  if (/^(?:\$\w|\w+-WebRequest|\w+-RestMethod|iwr\s|irm\s)/i.test(start) && isPowerShell(text()))
    return parsePowerShell(text());
  if (isCsv(start)) return parseCsv(text());
  if (/^(?:Return-Path|Received|Delivered-To|MIME-Version|Subject|From): /i.test(start))
    throw usageError(
      "This is a mail, and no request begins behind its head.",
      "Give the request alone; of a mail with base64 or quoted-printable in it, what the mail program shows.",
    );
  const isHeadless =
    /^[\w-]{2,60}: ?\S/.test(start) && /^(?:webhook-|svix-|authorization:|signature)/im.test(start);
  if (isHeadless) return parseRawRequest(Buffer.concat([Buffer.from("POST / HTTP/1.1\r\n"), bytes]));
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
