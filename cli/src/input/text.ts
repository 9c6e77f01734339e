// The one place where the bytes of a text that somebody has written become text.
import { CliError, EXIT } from "../failure.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes without a byte order mark of UTF-8, which some editors write; UTF-16 is refused, as it was never meant. */
export function withoutMark(bytes: Buffer, name: string): Buffer {
  const [first, second, ...rest] = bytes.subarray(0, 4);
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // The mark of UTF-32 begins as the one of UTF-16.
  const bits = isMarked && `${rest}` === "0,0" ? 32 : 16;
  if (isMarked || looksLikeUtf16(bytes)) throw refused(name, `is UTF-${bits}, and not UTF-8`);
  return bytes.subarray(0, 3).equals(UTF8_MARK) ? bytes.subarray(3) : bytes;
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** UTF-16 without a mark: every other byte of what begins as ASCII is zero. */
function looksLikeUtf16(bytes: Buffer): boolean {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return false;
  const start = [...bytes.subarray(0, 8)];
  return [0, 1].some((odd) => start.every((byte, index) => (byte === 0) === (index % 2 === odd)));
}

/** The text of UTF-8 without its byte order mark; `name` is what it is called in a refusal: a file, or standard input. */
export function textOf(bytes: Buffer, name: string): string {
  const plain = withoutMark(bytes, name);
  try {
    return strict.decode(plain);
  } catch {
    throw refused(name, "is not UTF-8");
  }
}

function refused(name: string, what: string): CliError {
  return new CliError(EXIT.setup, "TEXT_ENCODING", `${name} ${what}.`, {
    hint: "Save it as UTF-8. PowerShell 5 writes UTF-16 with >.",
  });
}

/** Decodes a long text piece by piece, under the same rule; called with nothing at its end. */
export function decoding(name: string): (piece?: Buffer) => string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isFirst = true;
  return (piece) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      if (piece && isFirst) withoutMark(piece, name);
      throw refused(name, "is not UTF-8");
    } finally {
      isFirst = false;
    }
  };
}

/** The first line of such a text, without a byte order mark. */
export function firstLineOf(line: string, name: string): string {
  if (line.includes("\0")) {
    withoutMark(Buffer.from(line.slice(0, 8)), name);
    throw refused(name, "is no text");
  }
  return line.replace(/^\uFEFF/, "");
}
