// Reads a captured request in whatever form it is kept in.
import { stripVTControlCharacters } from "node:util";
import type { HeaderPair } from "hookproof";
import { CliError, EXIT, usageError } from "../failure.js";
import { textOf } from "../input/text.js";
import { headersInText, parseCapturedJson } from "./captured-json.js";
import { isCsv, parseCsv } from "./csv-export.js";
import { isTrace, isVerbose, parseTrace, parseVerbose, verboseHead } from "./curl-output.js";
import { isFetch, parseFetch } from "./fetch-call.js";
import { isFollowed, isHttp2, parseFollowed, parseHttp2 } from "./followed-stream.js";
import { bytesOfDump, isHexDump } from "./hex-dump.js";
import { otherFormOf } from "./other-forms.js";
import { isPowerShell, parsePowerShell } from "./powershell.js";
import { type CapturedRequest, parseHeaderLines, parseRawRequest } from "./raw-request.js";
import { isCurl, parseCurl } from "./read-curl.js";

/** Reads a captured request in whatever form it is; one that is known and cannot be read is named. */
export function parseCaptured(given: Buffer): CapturedRequest {
  const { bytes, isUtf16 } = decoded(given);
  const [raw, plain] = [given, withoutColours(bytes)].map((one) => one.subarray(0, 512).toString("latin1"));
  const other = (isUtf16 ? undefined : otherFormOf(raw ?? "")) ?? otherFormOf((plain ?? "").trimStart());
  if (other) throw usageError(`This is ${other.is}.`, other.instead);
  const request = whole(parsed(unwrapped(withoutLeadingLines(withoutColours(bytes)))));
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

/** What stands around a request where people keep it: a fence of Markdown, comments, quote marks, escapes, digits. */
function unwrapped(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, 4_096).toString("latin1");
  if (start.startsWith("```")) {
    const from = bytes.indexOf("\n") + 1;
    const end = bytes.lastIndexOf("\n```");
    return unwrapped(bytes.subarray(from, end < from ? undefined : end));
  }
  if (/^> ?[A-Z]{3,7} \S+ HTTP\/[0-9.]+\r?\n/.test(start)) {
    const lines = bytes.toString("latin1").split("\n");
    const isQuoted = lines.every((line) => line.startsWith(">") || line.trim() === "");
    const bodyAt = lines.findIndex((line) => /^>\s*$/.test(line));
    // curl -v has no such lines behind the empty one.
    if (isQuoted && bodyAt > 0 && lines.slice(bodyAt + 1).some((line) => /^> ?\S/.test(line)))
      return Buffer.from(lines.map((line) => line.replace(/^> ?/, "")).join("\n"), "latin1");
  }
  if (/^< [A-Z]{3,7} \S+ HTTP\/1\.1\r?\n< /.test(start)) return withoutMarks(bytes.toString("latin1"));
  if (start.startsWith('"')) return textInJson(bytes) ?? bytes;
  const comment = /^(?:(?:#|\/\/|@\w+ *=)[^\n]{0,400}\n\s*)+/.exec(start)?.[0];
  if (comment !== undefined) {
    // Files of HTTP clients have several requests, each with such a line in front, and end bodies without blank lines.
    const next = comment.includes("###") ? bytes.indexOf("\n###", comment.length) : -1;
    const own = bytes.subarray(comment.length, next < 0 ? undefined : next);
    return unwrapped(next < 0 ? own : Buffer.from(own.toString("latin1").trimEnd(), "latin1"));
  }
  if (!/^[\w+/=-]{64}/.test(start)) return bytes;
  const text = bytes.toString("latin1").trim();
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
  const inside = Buffer.from(text, isHex ? "hex" : "base64");
  return /^[A-Z]{3,7} \S+ HTTP\//.test(inside.subarray(0, 300).toString("latin1")) ? inside : bytes;
}

/** What requests_toolbelt writes: "< " before each header line and before the body, and "> " before those of the answer. */
function withoutMarks(text: string): Buffer {
  const end = /\r?\n< ?\r?\n/.exec(text);
  const [head, body] = end ? [text.slice(0, end.index), text.slice(end.index + end[0].length)] : [text, ""];
  return Buffer.from(`${head.replace(/^< /gm, "")}\n\n${body.replace(/^< /, "")}`, "latin1");
}

function textInJson(bytes: Buffer): Buffer | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "string" ? Buffer.from(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Headers that prove a request. */
const OF_PROOF = /^(?:webhook-|x-webhook-|svix-|signature|authorization$)/i;
/** What a template or a shell fills when the request is sent. */
const UNFILLED =
  /\{\{[^{}]{1,100}\}\}|\{%[^%]{1,100}%\}|^(?:Bearer )?(?:\$\{?\w{1,60}\}?|\$\([^)]{1,200}\)|%\w{1,60}%)$/;
/** What logs and exports write in place of a secret, and at the end of what they cut. */
const HIDDEN =
  /^(?:Bearer |v1,)?(?:[*x\u2022\u00b7.-]{3,}|[<[({]{0,2}(?:redacted|filtered|masked|hidden|removed|secret|sanitized|scrubbed)[>\])}]{0,2})$|(?:\.{3}|\u2026)$/i;

/** The request, unless the capture does not have the values that prove it; a body that was cut is doubted. */
function whole(request: CapturedRequest): CapturedRequest {
  const { headers, body, doubt, lacksBody } = request;
  for (const [name, value] of headers) {
    if (!OF_PROOF.test(name) || value.length > 300) continue;
    const shownName = /^[\w-]{1,60}$/.test(name) ? name : "a header";
    if (UNFILLED.test(value))
      throw usageError(
        `${shownName} in this capture is a variable, which is filled when the request is sent.`,
        "Send it to hookproof listen, and export the request from the inspector; of a curl command, give what --trace writes.",
      );
    if (HIDDEN.test(value))
      throw new CliError(
        EXIT.setup,
        "CAPTURE_INCOMPLETE",
        `${shownName} in this capture is masked or cut: what was sent is not there.`,
        { hint: "Capture it where nothing hides it: hookproof listen keeps all of it." },
      );
  }
  const hasLength = headers.some(([name]) => /^content-length$/i.test(name));
  const end = Buffer.from(body.subarray(-40)).toString("utf8");
  if (hasLength || doubt !== undefined || lacksBody !== undefined || !CUT.test(end)) return request;
  return { ...request, doubt: "it ends as what a log has cut" };
}

const CUT = /(?:\.{3}|\u2026|[[(<]?truncated[\])>]?|\bmore (?:bytes|characters)\)?)\s*$/i;

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

/** Without blank lines in front, which come by copying; what tshark and editors write begins with some. */
function withoutLeadingLines(bytes: Buffer): Buffer {
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x0a) from = at + 1;
    else if (byte !== 0x0d && byte !== 0x20 && byte !== 0x09) break;
  }
  // What chats and pages put in front when they are copied.
  const isUnseen = ["\u200b", "\ufeff", "\u2060"].some((one) => bytes.indexOf(one, from) === from);
  return bytes.subarray(isUnseen ? from + 3 : from);
}
