// Reads the body of a capture from the JSON that programs write bytes as: exactly, or not at all.
import { usageError } from "../failure.js";

/** The bytes of a body, and why they may be others than those that were sent. */
interface BodyBytes {
  readonly body: Buffer;
  readonly doubt?: string | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The bytes of a body that is a text, base64 where `isBase64` says so, or one of the forms in which JSON has bytes: Node's
 * of a Buffer or a typed array, MongoDB's, a list of numbers. A value that was parsed is refused: its bytes are lost.
 */
export function bodyBytes(value: unknown, isBase64 = false): BodyBytes {
  if (typeof value === "string") {
    if (isBase64) return { body: fromBase64(value) };
    const inspected = INSPECTED.exec(value);
    if (inspected) return { body: Buffer.from((inspected[1] ?? "").replaceAll(" ", ""), "hex") };
    if (CUT.test(value))
      throw usageError(
        "The body in this capture is a Buffer as a log shows it, which leaves out all but the first bytes.",
        "Log body.toString('base64') in its place, or the whole request as JSON.",
      );
    if (/^\[object \w+\]$/.test(value)) throw parsedBody();
    return { body: Buffer.from(value), doubt: replaced(value) };
  }
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every((one) => typeof one === "number")) throw parsedBody();
    return { body: fromNumbers(value), doubt: NUMBERS };
  }
  if (typeof value !== "object" || value === null) throw parsedBody();
  return fromObject(value as JsonObject);
}

/** A Buffer as util.inspect shows it, which a template or console.log writes. */
const INSPECTED = /^<Buffer((?: [0-9a-f]{2})*)>$/;
/** A payload may be numbers too. */
const NUMBERS = "it is a list of numbers, which were taken for its bytes";
const CUT = /^<Buffer(?: [0-9a-f]{2})+ \.\.\. /;

function fromObject(value: JsonObject): BodyBytes {
  const names = Object.keys(value);
  const { type, data, $binary: binary } = value;
  if (type === "Buffer" && names.length === 2) {
    if (Array.isArray(data)) return { body: fromNumbers(data) };
    if (typeof data === "string") return { body: fromBase64(data.replace(/^base64:/, "")) };
  }
  if (typeof binary === "string") return { body: fromBase64(binary) };
  const { base64 } = Object(binary) as { base64?: unknown };
  if (typeof base64 === "string") return { body: fromBase64(base64) };
  const isIndexed = names.length > 0 && names.every((name, index) => name === `${index}`);
  const numbers = isIndexed ? Object.values(value) : [];
  if (numbers.length === 0 || !numbers.every((one) => typeof one === "number")) throw parsedBody();
  return { body: fromNumbers(numbers), doubt: NUMBERS };
}

function fromNumbers(numbers: readonly unknown[]): Buffer {
  const wrong = numbers.findIndex((one) => !isByte(one));
  if (wrong < 0) return Buffer.from(numbers as number[]);
  const shown = JSON.stringify(numbers[wrong])?.slice(0, 40);
  throw usageError(
    `The body in this capture is a list of bytes, and number ${wrong + 1} of them is ${shown}, which is none: a byte is 0 to 255.`,
    "Log body.toString('base64') in its place.",
  );
}

function isByte(one: unknown): boolean {
  return typeof one === "number" && Number.isInteger(one) && one >= 0 && one <= 255;
}

/** The bytes of base64 or base64url, with or without padding and line breaks; Node would skip what is neither. */
export function fromBase64(text: string): Buffer {
  const plain = text.replaceAll(/[\r\n]/g, "");
  const bare = plain.replace(/={1,2}$/, "");
  if (/^[A-Za-z0-9+/_-]*$/.test(bare) && bare.length % 4 !== 1) return Buffer.from(bare, "base64");
  throw usageError(
    "The body in this capture is given as base64, and is not.",
    "Look at how it was recorded, or give the body with --body @file.",
  );
}

/** What a tool that decodes bodies as UTF-8 puts in place of other bytes. */
function replaced(body: string): string | undefined {
  return body.includes("\uFFFD")
    ? "it has replacement characters: what captured it could not read its bytes as UTF-8"
    : undefined;
}

function parsedBody(): Error {
  return usageError(
    "The body in this capture is parsed JSON, and not the text that was sent: its bytes are lost.",
    "Log the raw body before anything parses it: docs/guides/frameworks.md has the lines.",
  );
}
