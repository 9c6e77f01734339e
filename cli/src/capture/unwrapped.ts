// Takes away what stands around a captured request where people keep it.

/** How requests begin, in the forms that may be kept with words around them. */
const START = /^(?:[A-Z]{3,8} \S|[{["]|[*<>] |:[a-z]{4,9}:|curl |[\w-]{2,60}: )/;

/** The head of a mail, whose text begins after the first empty line. */
const MAIL =
  /^(?:From|To|Cc|Subject|Date|Received|Return-Path|Delivered-To|Message-ID|MIME-Version|Reply-To): (?:[^\n]{1,998}\n){1,100}?[ \t]*\r?\n(?=\s*(?:[A-Z]{3,8} \S+ HTTP\/|curl |[{"`]))/i;

/** A request with its line ends written as the signs for them. */
const ON_ONE_LINE = /^[A-Z]{3,8} \S+ HTTP\/[0-9.]{1,3}\\r\\n[^\n]*\s*$/;

/** What chats, issues, editors and logs put in front of every line. */
const MARGINS: readonly RegExp[] = [
  /^ {1,16}|^\t{1,4}/,
  /^> ?/,
  /^\+/,
  /^ {0,8}[0-9]{1,5}\t/,
  /^[\w.-]{1,60} {0,8}\| ?/,
  /^\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,+Z-]{8,24}\]? /,
];

/** Without what is in front of every line, as often as there is such a thing. */
function withoutMargin(bytes: Buffer, depth = 0): Buffer {
  const start = bytes
    .subarray(0, 400)
    .toString("latin1")
    .replace(/^\s*\n/, "");
  if (!MARGINS.some((margin) => margin.test(start))) return bytes;
  const lines = bytes.toString("latin1").split("\n");
  const full = lines.filter((line) => line.trim() !== "");
  const margin = MARGINS.find((one) => full.every((line) => one.test(line)));
  if (margin === undefined || isOfClient(full)) return bytes;
  const isIndent = margin === MARGINS[0];
  const width = isIndent ? Math.min(...full.map((line) => margin.exec(line)?.[0].length ?? 0)) : 0;
  const bare = lines.map((line) => (isIndent ? line.slice(width) : line.replace(margin, "")));
  const inner = Buffer.from(bare.join("\n"), "latin1");
  return depth < MAX_DEPTH ? withoutMargin(inner, depth + 1) : inner;
}

/** curl -v alone writes such lines too, and none behind the empty one. */
function isOfClient(full: readonly string[]): boolean {
  if (!/^> ?[A-Z]{3,7} \S+ HTTP\/[0-9.]+\s*$/.test(full[0] ?? "")) return false;
  const end = full.findIndex((line) => /^>\s*$/.test(line));
  return !full.slice(end + 1).some((line) => end > 0 && /^> ?\S/.test(line));
}

/** What stands around a request where people keep it: a fence of Markdown, comments, quote marks, escapes, digits. */
export function unwrapped(given: Buffer): Buffer {
  return within(given, 0);
}

/** So often something may stand around what stands around a request. */
const MAX_DEPTH = 8;

function within(given: Buffer, depth: number): Buffer {
  const bytes = depth < MAX_DEPTH ? withoutLeadingLines(withoutMargin(given)) : given;
  if (depth >= MAX_DEPTH) return bytes;
  const unwrapped = (inner: Buffer) => within(inner, depth + 1);
  const start = bytes.subarray(0, 4_096).toString("latin1");
  const fence = start.startsWith("```")
    ? 0
    : START.test(start)
      ? -1
      : start.search(/\n[ \t>]{0,8}```/) + 1 || -1;
  if (fence >= 0) {
    const from = bytes.indexOf("\n", fence) + 1;
    const end = fence === 0 ? bytes.lastIndexOf("\n```") : bytes.indexOf("\n```", from);
    return unwrapped(bytes.subarray(from, end < from ? undefined : end));
  }
  const mail = MAIL.exec(start);
  if (mail) return unwrapped(bytes.subarray(mail[0].length));
  if (ON_ONE_LINE.test(start)) return textInJson(Buffer.from(`"${bytes.toString("utf8").trim()}"`)) ?? bytes;
  if (/^< [A-Z]{3,7} \S+ HTTP\/1\.1\r?\n< /.test(start)) return withoutMarks(bytes.toString("latin1"));
  if (start.startsWith('"')) return textInJson(bytes) ?? bytes;
  const comment = /^(?:(?:#|\/\/|@\w+ *=)[^\n]{0,400}\n\s*)+/.exec(start)?.[0];
  if (comment !== undefined) {
    // Files of HTTP clients have several requests, each with such a line in front, and end bodies without blank lines.
    const next = comment.includes("###") ? bytes.indexOf("\n###", comment.length) : -1;
    const own = bytes.subarray(comment.length, next < 0 ? undefined : next);
    return unwrapped(next < 0 ? own : Buffer.from(own.toString("latin1").trimEnd(), "latin1"));
  }
  if (!/^[\w+/=-]{64}/.test(start)) return bytes;
  const text = bytes.toString("latin1").trim();
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
  const inside = Buffer.from(text, isHex ? "hex" : "base64");
  return /^[A-Z]{3,7} \S+ HTTP\//.test(inside.subarray(0, 300).toString("latin1")) ? inside : bytes;
}

/** What requests_toolbelt writes: "< " before each header line and before the body, and "> " before those of the answer. */
function withoutMarks(text: string): Buffer {
  const end = /\r?\n< ?\r?\n/.exec(text);
  const [head, body] = end ? [text.slice(0, end.index), text.slice(end.index + end[0].length)] : [text, ""];
  return Buffer.from(`${head.replace(/^< /gm, "")}\n\n${body.replace(/^< /, "")}`, "latin1");
}

function textInJson(bytes: Buffer): Buffer | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "string" ? Buffer.from(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Without blank lines in front, which come by copying; what tshark and editors write begins with some. */
function withoutLeadingLines(bytes: Buffer): Buffer {
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x0a) from = at + 1;
    else if (byte !== 0x0d && byte !== 0x20 && byte !== 0x09) break;
  }
  // What chats and pages put in front when they are copied.
  const isUnseen = ["\u200b", "\ufeff", "\u2060"].some((one) => bytes.indexOf(one, from) === from);
  return bytes.subarray(isUnseen ? from + 3 : from);
}
