// Reads header lines from a text.
/** Header lines of a text with one on each line; what is wrong with it, where it is none. */
export function headersOf(lines: string): [name: string, value: string][] | string {
  const headers: [string, string][] = [];
  for (const line of lines.split("\n").filter((one) => one.trim() !== "")) {
    const colon = line.indexOf(":");
    if (colon < 1) return `A header line has a name, a colon and a value; this one does not: ${line}`;
    headers.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return headers;
}
