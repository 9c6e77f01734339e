// Reads raw HTTP requests and header lines without changing a byte of the body.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import { countOf } from "../output.js";

/** A captured HTTP request, with its header lines and body bytes as they were. */
export interface CapturedRequest {
  readonly method: string;
  /** The request target: usually a path. */
  readonly target: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  /** Why the body may not be what was sent, in words: what the form of the capture loses, or what does not fit. */
  readonly doubt?: string | undefined;
  /** Why the capture has no body although the request had one. */
  readonly lacksBody?: string | undefined;
}

/** Reads a raw HTTP request: request line, header lines, an empty line, the body. Line ends may be LF alone. */
export function parseRawRequest(bytes: Uint8Array): CapturedRequest {
  const buffer = Buffer.from(bytes);
  const end = headEnd(buffer);
  const [requestLine = "", ...lines] = buffer.subarray(0, end.at).toString("latin1").split(/\r?\n/);
  const [, method, target] = /^([A-Z]+) (\S+)(?: HTTP\/[0-9.]+)?$/.exec(requestLine) ?? [];
  if (method === undefined || target === undefined) {
    throw usageError(
      "This is not a raw HTTP request: the first line must look like POST /path HTTP/1.1.",
      "Give the parts separately with --headers @file and --body @file.",
    );
  }
  const headers = parseHeaderLines(lines);
  const length = lengthOf(headers);
  if (end.isMissing && method !== "GET" && length !== 0)
    return {
      ...{ method, target, headers, body: Buffer.alloc(0) },
      lacksBody: "these are the headers alone, and no empty line ends them",
    };
  const rest = withoutChunks(buffer.subarray(end.bodyAt), headers);
  // Editors add a newline at the end of a file; the length that was sent says where the body ends.
  if (length === undefined || length >= rest.length) return judged({ method, target, headers, body: rest });
  const body = rest.subarray(0, length);
  // In a stream the answer follows, or the next request.
  const follows = rest.subarray(length, length + 64).toString("latin1");
  if (/^(?:\s*$|\s*(?:> )?HTTP\/[12]|\s*[A-Z]{3,8} [/h]|\s*(?:={10}|-{10}))/.test(follows))
    return { method, target, headers, body };
  return { method, target, headers, body: rest, doubt: unequal(length, rest.length) };
}

/** The Content-Length that was sent, where it is a number. */
function lengthOf(headers: readonly HeaderPair[]): number | undefined {
  const length = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
  return length !== undefined && /^[0-9]{1,15}$/.test(length) ? Number(length) : undefined;
}

/** The request, with a doubt where its body has not as many bytes as were sent by its own Content-Length. */
export function judged(request: CapturedRequest): CapturedRequest {
  const { headers, body, doubt, lacksBody } = request;
  const length = lengthOf(headers);
  if (length === undefined || length === body.length || doubt !== undefined || lacksBody !== undefined)
    return request;
  if (body.length === 0)
    return { ...request, lacksBody: `it sent ${countOf(length, "byte")}, and the capture has none` };
  return { ...request, doubt: unequal(length, body.length) };
}

function unequal(sent: number, there: number): string {
  const why =
    there < sent
      ? "it is cut off, or what captured it has changed line breaks or characters"
      : "what captured it has written it again, decompressed it or added to it";
  return `the request sent ${countOf(sent, "byte")} by its Content-Length, and the capture has ${there}: ${why}`;
}

/** A request on the wire may hold the sizes of its chunks; what was signed is what stands between them. */
function withoutChunks(bytes: Buffer, headers: readonly HeaderPair[]): Buffer {
  const isChunked = headers.some(
    ([name, value]) => /^transfer-encoding$/i.test(name) && /chunked$/i.test(value),
  );
  const parts: Buffer[] = [];
  for (let at = 0; isChunked && at < bytes.length; ) {
    const [line, size] =
      /^([0-9a-f]{1,8})(?:;.{0,80})?\r?\n/i.exec(bytes.toString("latin1", at, at + 100)) ?? [];
    // A tool that decoded the chunks has left the header.
    if (line === undefined || size === undefined) return bytes;
    const from = at + line.length;
    const to = from + Number.parseInt(size, 16);
    if (to === from) return Buffer.concat(parts);
    parts.push(bytes.subarray(from, to));
    at = to + (bytes[to] === 0x0d ? 2 : 1);
  }
  return isChunked ? Buffer.concat(parts) : bytes;
}

/** Reads header lines, `Name: value`; a line that begins with white space goes on with the one before it. */
export function parseHeaderLines(lines: readonly string[]): HeaderPair[] {
  return unfolded(lines)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name] = /^([^:\s]+):.*$/.exec(line) ?? [];
      if (name === undefined) throw usageError(`Not a header line: ${JSON.stringify(line.slice(0, 80))}.`);
      // The lookbehind lets the expression try a row of blanks at the end once, not once for each blank.
      return [
        name,
        line.slice(name.length + 1).replace(/^(?:[ \t]|\xc2?\xa0)+|(?<![ \t])[ \t]+$/g, ""),
      ] as const;
    });
}

/** Folded lines as one each, with a space where they were folded (RFC 9112, section 5.2). */
function unfolded(lines: readonly string[]): readonly string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const last = whole.length - 1;
    if (/^[ \t]/.test(line) && last >= 0) whole[last] = `${whole[last]} ${line.trim()}`;
    else whole.push(line);
  }
  return whole;
}

/** Where the head ends: at the first empty line, in which clients' logs may have a space. */
function headEnd(buffer: Buffer): { at: number; bodyAt: number; isMissing: boolean } {
  for (let end = buffer.indexOf(LF); end >= 0; end = buffer.indexOf(LF, end + 1)) {
    const next = buffer.indexOf(LF, end + 1);
    const line = next < 0 ? undefined : buffer.subarray(end + 1, next);
    if (line === undefined || line.length > 3 || !/^[ \t]?\r?$/.test(line.toString("latin1"))) continue;
    return { at: buffer[end - 1] === CR ? end - 1 : end, bodyAt: next + 1, isMissing: false };
  }
  return { at: buffer.length, bodyAt: buffer.length, isMissing: true };
}

const [LF, CR] = [0x0a, 0x0d];
