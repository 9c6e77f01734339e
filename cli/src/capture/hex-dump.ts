// Reads the bytes of a hex dump: of Wireshark's "Follow TCP Stream", of xxd and of hexdump -C.

/** Whether a text begins as a hex dump does: with an offset of zeros and a byte. */
export function isHexDump(start: string): boolean {
  return /^0{4,8}:? {1,2}[0-9a-f]{2}(?: |[0-9a-f]{2} )/i.test(start);
}

/** The bytes of the dump; lines that are indented are the other side's, as Wireshark writes them. */
export function bytesOfDump(text: string): Buffer {
  const parts: Buffer[] = [];
  for (const line of text.split("\n")) {
    const [offset] = /^[0-9a-f]{4,8}:? {1,2}/i.exec(line) ?? [];
    if (offset !== undefined) parts.push(bytesOfLine(line, offset.length));
  }
  return Buffer.concat(parts);
}

const BYTES_OF_A_LINE = 16;

/** Up to 16 bytes, in pairs of digits with a space or none between them; a wide gap stands before the text column. */
function bytesOfLine(line: string, from: number): Buffer {
  const bytes: number[] = [];
  for (let at = from; bytes.length < BYTES_OF_A_LINE; ) {
    const pair = line.slice(at, at + 2);
    if (!/^[0-9a-f]{2}$/i.test(pair)) break;
    bytes.push(Number.parseInt(pair, 16));
    at += 2;
    let gap = 0;
    while (line[at + gap] === " ") gap++;
    if (gap > 2 || (gap === 2 && bytes.length !== BYTES_OF_A_LINE / 2)) break;
    at += gap;
  }
  return Buffer.from(bytes);
}
