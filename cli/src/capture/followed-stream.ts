// Reads a stream that tshark -z follow wrote, and requests of HTTP/2 with their pseudo headers.
import { usageError } from "../failure.js";
import { bytesOfDump } from "./hex-dump.js";
import { type CapturedRequest, judged, parseHeaderLines, parseRawRequest } from "./raw-request.js";

/** Whether a text begins as tshark writes a stream that it followed. */
export function isFollowed(start: string): boolean {
  return /^={20,80}\r?\nFollow: /.test(start);
}

/** Reads what the first node of a stream sent: the request. */
export function parseFollowed(bytes: Buffer): CapturedRequest {
  const text = bytes.toString("latin1");
  const [, kind] = /^={20,80}\r?\nFollow: \w{1,10},(\w{1,10})/.exec(text.slice(0, 200)) ?? [];
  const from = /\nNode 1: [^\n]*\n/.exec(text.slice(0, 2_000));
  const content = text.slice(from ? from.index + from[0].length : 0);
  if (kind === "hex") return parseRawRequest(bytesOfDump(content));
  if (kind === "raw") return parseRawRequest(Buffer.from(linesOfFirstNode(content).join(""), "hex"));
  const parts: string[] = [];
  for (let at = 0; at < content.length; ) {
    const [line, tab, length] = /^(\t?)([0-9]{1,9})\r?\n/.exec(content.slice(at, at + 12)) ?? [];
    if (line === undefined) break;
    const start = at + line.length;
    if (tab === "") parts.push(content.slice(start, start + Number(length)));
    at = start + Number(length);
    while (content[at] === "\n" || content[at] === "\r") at++;
  }
  if (parts.length === 0)
    throw usageError(
      "This stream of tshark has nothing in it.",
      "Write it with: tshark -q -r file.pcap -z follow,tcp,raw,0",
    );
  const request = parseRawRequest(Buffer.from(parts.join(""), "latin1"));
  if (kind !== "ascii" || !Buffer.from(request.body).includes("..")) return request;
  return {
    ...request,
    doubt:
      request.doubt ??
      "follow,tcp,ascii writes a point for each byte that is not ASCII, and this body has points in a row; follow,tcp,raw writes every byte",
  };
}

function linesOfFirstNode(content: string): string[] {
  return content
    .split("\n")
    .filter((line) => /^[0-9a-f]/i.test(line))
    .map((line) => line.trim());
}

/** Whether a text begins with the pseudo headers of HTTP/2, as browsers and proxies show them. */
export function isHttp2(start: string): boolean {
  return /^:(?:method|path|scheme|authority|protocol):/.test(start);
}

/** Reads header lines with `:method`, `:path` and so on, an empty line, and the body. */
export function parseHttp2(bytes: Buffer): CapturedRequest {
  const text = bytes.toString("latin1");
  const [gap] = [/\r?\n\r?\n/.exec(text)];
  const lines = text.slice(0, gap?.index).split(/\r?\n/);
  const pseudo = new Map<string, string>();
  const others: string[] = [];
  for (const line of lines) {
    const [, name, value] = /^:([a-z]{1,20}): ?(.*)$/.exec(line) ?? [];
    if (name === undefined) others.push(line);
    else pseudo.set(name, value ?? "");
  }
  const [path, authority, scheme] = [
    pseudo.get("path") ?? "/",
    pseudo.get("authority"),
    pseudo.get("scheme"),
  ];
  return judged({
    method: pseudo.get("method") ?? "POST",
    target: authority === undefined ? path : `${scheme ?? "https"}://${authority}${path}`,
    headers: parseHeaderLines(others),
    body: gap ? bytes.subarray(gap.index + gap[0].length) : Buffer.alloc(0),
    ...(gap ? {} : { lacksBody: "these are the headers alone, and no empty line ends them" }),
  });
}
