// Reads bytes as text without losing those that are none.
/** The bytes behind standard base64. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Standard base64 of a text's UTF-8 bytes. */
export function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

/** Text and bytes that are none, in the order they come. */
type Decoded = readonly (string | Uint8Array)[];

const utf8 = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads bytes as UTF-8 without losing those that are not. */
export function decode(bytes: Uint8Array): Decoded {
  try {
    return [utf8().decode(bytes)];
  } catch {
    return decodeBroken(bytes);
  }
}

function decodeBroken(bytes: Uint8Array): Decoded {
  const parts: (string | Uint8Array)[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOfCharacter(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    if (at > start) parts.push(utf8().decode(bytes.subarray(start, at)));
    parts.push(bytes.subarray(at, at + 1));
    start = ++at;
  }
  if (start < bytes.length) parts.push(utf8().decode(bytes.subarray(start)));
  return parts;
}

/** How many bytes the character at a place has; 0 where there is none. */
function lengthOfCharacter(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  try {
    utf8().decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** A byte that is no text. */
export function hexOf([byte = 0]: Uint8Array): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

const COLUMNS = 16;

/** A dump: offset, sixteen bytes in hex, and what they are in ASCII. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += COLUMNS) {
    const row = bytes.subarray(at, at + COLUMNS);
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, "0"));
    const ascii = Array.from(row, (byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "."));
    const left = hex.slice(0, 8).join(" ").padEnd(23);
    const right = hex.slice(8).join(" ").padEnd(23);
    lines.push(`${at.toString(16).padStart(8, "0")}  ${left}  ${right}  ${ascii.join("")}`);
  }
  return lines.join("\n");
}

/** A size as people say it. */
export function sizeOf(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KB`;
}
