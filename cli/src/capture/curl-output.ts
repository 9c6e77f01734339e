// Reads what curl writes about a request: -v, --trace and --trace-ascii.
import { usageError } from "../failure.js";
import { type CapturedRequest, judged, parseRawRequest } from "./raw-request.js";

/** Whether a text begins as the output of `curl -v` does. */
export function isVerbose(start: string): boolean {
  // Notes, warnings and the bar of progress come first where the output goes to a file.
  const isBefore = /^(?:Note: |Warning: | {0,4}% Total)/.test(start);
  return /^(?:\* |> [A-Z]+ \S)/.test(start) || (isBefore && /^> [A-Z]+ \S+ HTTP\//m.test(start));
}

/** The header lines that curl -v shows, the last request's: after a redirect there are several. */
export function verboseHead(text: string): string | undefined {
  const lines = text.split(/\r?\n/);
  const first = lines.findLastIndex((line) => /^> [A-Z]+ \S+ HTTP\/[0-9.]+\s*$/.test(line));
  if (first < 0) return undefined;
  const [requestLine = "", ...rest] = lines.slice(first);
  // Guzzle and others write the sign before the first line alone.
  const hasSigns = rest[0]?.startsWith(">") === true;
  const end = rest.findIndex((line) => line.trim() === "");
  const own = hasSigns
    ? rest.filter((line) => line.startsWith("> "))
    : rest.slice(0, end < 0 ? undefined : end);
  return [requestLine, ...own.map((line) => (hasSigns ? line : `> ${line}`))]
    .map((line) => line.slice(2).trimEnd())
    .filter((line) => line !== "")
    .join("\r\n");
}

/** Reads the output of `curl -v`; the body is not in it, and comes from `body` where that is known. */
export function parseVerbose(text: string, body?: Uint8Array): CapturedRequest {
  const head = verboseHead(text);
  if (head === undefined)
    throw usageError("This output of curl -v has no request in it: no line begins with > POST.");
  const request = parseRawRequest(Buffer.from(`${head}\r\n\r\n`, "latin1"));
  const { doubt: _ofNoBody, ...known } = request;
  const { lacksBody: _norWhy, ...rest } = known;
  if (body !== undefined) return judged({ ...rest, body });
  if (!/\n>?[ \t]*\r?\n/.test(text))
    return { ...rest, lacksBody: "this output of curl -v ends in its headers" };
  const isEmpty = request.headers.every(
    ([name, value]) => !/^(?:content-length|transfer-encoding)$/i.test(name) || value === "0",
  );
  return isEmpty ? rest : { ...rest, lacksBody: "curl -v does not show the body that it sends" };
}

const SECTION = /(?:^|\s)(=>|<=|==) (Send header|Send data|Info|[A-Z][\w ]*)(?:, ([0-9]{1,10}) bytes|:)/;

/** Whether a text begins as a trace of curl does. */
export function isTrace(start: string): boolean {
  return /^(?:[0-9:.]{8,20} )?(?:\[[0-9x-]+\] )?(?:== Info: |=> Send )/.test(start);
}

/** Reads `curl --trace`, which has every byte, and `curl --trace-ascii`, which has a point for many. */
export function parseTrace(text: string): CapturedRequest {
  let kind: "header" | "data" | undefined;
  const requests: { head: Part[]; data: Part[] }[] = [];
  for (const line of text.split("\n")) {
    const isData = /^[0-9a-f]{4,8}: /.test(line);
    const [, arrow, what] = isData ? [] : (SECTION.exec(line.slice(0, 120)) ?? []);
    if (arrow !== undefined) {
      kind =
        arrow !== "=>"
          ? undefined
          : what === "Send header"
            ? "header"
            : what === "Send data"
              ? "data"
              : undefined;
      const length = Number(/, ([0-9]{1,10}) bytes/.exec(line.slice(0, 120))?.[1] ?? 0);
      const last = requests.at(-1);
      // Headers after data, or after a whole head, are the next request's.
      if (kind === "header" && (last === undefined || last.data.length > 0))
        requests.push({ head: [], data: [] });
      requests
        .at(-1)
        ?.[kind === "data" ? "data" : "head"].push(...(kind === undefined ? [] : [{ length, lines: [] }]));
    } else if (isData && kind !== undefined)
      requests.at(-1)?.[kind === "data" ? "data" : "head"].at(-1)?.lines.push(line.replace(/\r$/, ""));
  }
  const last = requests.at(-1);
  if (last === undefined)
    throw usageError("This trace of curl has no request in it: no line has => Send header.");
  const [head, data] = [bytesOf(last.head), bytesOf(last.data)];
  const request = parseRawRequest(Buffer.concat([head.bytes, data.bytes]));
  if (!data.isLossy || request.doubt !== undefined) return request;
  return {
    ...request,
    doubt:
      "curl --trace-ascii writes a point for a line break and for what is not ASCII, and this body has points; curl --trace writes every byte",
  };
}

interface Part {
  readonly length: number;
  readonly lines: string[];
}

function bytesOf(parts: readonly Part[]): { bytes: Buffer; isLossy: boolean } {
  const read = parts.map((part) =>
    isHex(part) ? { bytes: hexBytes(part), isLossy: false } : asciiBytes(part),
  );
  return {
    bytes: Buffer.concat(read.map(({ bytes }) => bytes)),
    isLossy: read.some(({ isLossy }) => isLossy),
  };
}

/** Whether the part is of --trace: its first line has as many pairs of digits as it has bytes, up to 16. */
function isHex({ length, lines: [first = ""] }: Part): boolean {
  const wanted = Math.min(16, length);
  const pairs = /^[0-9a-f]{4,8}: ((?:[0-9a-f]{2} ){1,16})/.exec(first)?.[1];
  return wanted > 0 && pairs !== undefined && pairs.length === wanted * 3 && first.length > pairs.length + 6;
}

function hexBytes({ lines }: Part): Buffer {
  return Buffer.concat(
    lines.map((line) => {
      const pairs = /^[0-9a-f]{4,8}: ((?:[0-9a-f]{2} ){1,16})/.exec(line)?.[1] ?? "";
      return Buffer.from(pairs.replaceAll(" ", ""), "hex");
    }),
  );
}

/** Each line's offset says whether a line break, which is not shown, stood before it. */
function asciiBytes({ length, lines }: Part): { bytes: Buffer; isLossy: boolean } {
  const parts: string[] = [];
  let size = 0;
  for (const line of lines) {
    const at = line.indexOf(":");
    const offset = Number.parseInt(line.slice(0, at), 16);
    const content = line.slice(at + 2);
    if (offset === size + 2) {
      parts.push("\r\n");
      size += 2;
    }
    parts.push(content);
    size += content.length;
  }
  if (length === size + 2) parts.push("\r\n");
  const text = parts.join("");
  return { bytes: Buffer.from(text, "latin1"), isLossy: text.includes(".") };
}
