import { bodyBytes, concatBytes } from "../primitives/bytes.js";
import { MAX_BODY_BYTES } from "../protocol/limits.js";
import type { BodyReader } from "./verify-request.js";

/** A body as servers hand it over: bytes, a text that stands for its UTF-8 bytes, or chunks still arriving. */
export type BodyInput = Uint8Array | string | AsyncIterable<Uint8Array> | null | undefined;

/** Reads a body, and stops reading as soon as it is larger than any listener takes. */
export function bodyReader(body: BodyInput): BodyReader {
  if (body === null || body === undefined) return async () => new Uint8Array();
  if (typeof body === "string" || body instanceof Uint8Array) return async () => bodyBytes(body);
  if (typeof body === "object" && Symbol.asyncIterator in body) return () => readChunks(body);
  throw new TypeError(
    "body must be the raw bytes (Uint8Array, string or a stream). This looks like a parsed body: its bytes, and with them " +
      "the signature, are gone. Turn off the body parser for this route, or let it keep the raw buffer.",
  );
}

async function readChunks(body: AsyncIterable<Uint8Array>): ReturnType<BodyReader> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let decoded = false;
  try {
    for await (const chunk of body) {
      decoded = typeof chunk === "string";
      if (decoded) break;
      length += chunk.length;
      if (length > MAX_BODY_BYTES) return "too-large";
      chunks.push(chunk);
    }
  } catch {
    return "unreadable";
  }
  if (decoded)
    throw new TypeError(
      "body must give chunks of bytes. These are text: leave out setEncoding() and any decoder, as they change bytes that are not UTF-8.",
    );
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : concatBytes(chunks);
}

/** The chunks of a web stream; not every runtime can iterate over one. */
export async function* streamChunks(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); read.value; read = await reader.read()) yield read.value;
  } finally {
    void reader.cancel().catch(() => {});
  }
}
