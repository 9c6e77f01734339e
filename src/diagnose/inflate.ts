import { concatBytes } from "../core/bytes.js";

/** The bytes inside of gzip or zlib; `undefined` if it is neither, is broken, or holds more than `maxBytes`. */
export async function inflate(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | undefined> {
  const format = bytes[0] === 0x1f && bytes[1] === 0x8b ? "gzip" : isZlib(bytes) ? "deflate" : undefined;
  if (format === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([new Uint8Array(bytes)])
    .stream()
    .pipeThrough(new DecompressionStream(format))
    .getReader();
  try {
    for (let read = await reader.read(); read.value; read = await reader.read()) {
      length += read.value.length;
      if (length > maxBytes) return undefined;
      chunks.push(read.value);
    }
  } catch {
    return undefined;
  } finally {
    void reader.cancel().catch(() => {});
  }
  return concatBytes(chunks);
}

/** The first two bytes of zlib, read as one number, are divisible by 31. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}
