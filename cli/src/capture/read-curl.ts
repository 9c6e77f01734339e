// Reads a request back from a curl command.
import { readFileSync, statSync } from "node:fs";
import type { HeaderPair } from "hookproof";
import { CliError, EXIT, usageError } from "../failure.js";
import { pathInside } from "../files/files.js";
import { cmdWords, cutCommand, isForCmd } from "./cmd-words.js";
import { parseVerbose } from "./curl-output.js";
import { type CapturedRequest, judged, parseHeaderLines } from "./raw-request.js";

const DATA = new Set(["-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--json"]);
const WITH_VALUE = new Set([
  "-X",
  "--request",
  "-H",
  "--header",
  "-A",
  "--user-agent",
  "-e",
  "--referer",
  "-b",
  "--cookie",
]);
/** Flags whose value does not change the request. */
const IGNORED_WITH_VALUE = new Set(
  "-o --output -m --max-time --connect-timeout --cacert -w --write-out -x --proxy -u --user -E --cert --key --retry --retry-delay --retry-max-time --resolve --connect-to --interface -D --dump-header -c --cookie-jar --ciphers --tls-max --trace --trace-ascii --stderr -r --range --max-redirs --limit-rate -K --config --pass --cert-type --key-type --capath --unix-socket --dns-servers -Y -y -z".split(
    " ",
  ),
);
/** Flags with which curl makes a body that is not in the command. */
const MADE = new Set(["-F", "--form", "--form-string", "--data-urlencode", "-T", "--upload-file"]);
/** What ends a command in a shell. */
const ENDS = /^(?:[|;&]{1,2}|[0-9&]?>{1,2}.*|<.*)$/s;

/** What stands in front of the command: the prompt of a shell, assignments and comments, another command's name. */
const BEFORE =
  /^(?:(?:\w{1,40}=\S{0,200}|export [^\n]{0,200}|set -[^\n]{0,20}|#[^\n]{0,200})\r?\n\s*)*(?:[\w.@~:\\/()[\] -]{0,100}[$>%#\u276f\u279c]\s{1,4}|[A-Z]:\\[^>\n]{0,200}>\s*)?(?:(?:time|sudo|exec|env) )?(?:[a-z][^\n|]{0,2000}\| ?)?(?:[\w./\\:-]{1,200}[/\\])?(?=curl(?:\.exe)?\s)/;

/** Whether a text begins with a curl command. */
export function isCurl(start: string): boolean {
  return BEFORE.test(start);
}

/** Reads a curl command, such as `send --curl` prints and browsers copy, for sh or for cmd.exe. */
export function parseCurl(text: string): CapturedRequest {
  const given = text.trim();
  const before = BEFORE.exec(given)?.[0] ?? "";
  const plain = given.slice(before.length);
  if (/(?:^|\n)PS [^\n]{0,200}>\s*$/.test(before) || /`\r?\n/.test(plain))
    throw unclear(
      "This is a curl command as it is typed in PowerShell, whose versions hand on quotes in different ways.",
    );
  if (/\s[\u201c\u201d\u2018\u2019]/.test(plain))
    throw unclear(
      "This curl command has typographic quotes, which no shell knows: an editor or a chat has made them.",
    );
  if (/[ \t](?:\\|\^)\s*$/.test(plain.slice(-400))) throw cutCommand();
  const forCmd = /[A-Z]:\\[^>\n]{0,200}>\s*$/.test(before) || isForCmd(plain);
  const unknown: string[] = [];
  const [, ...all] = forCmd ? cmdWords(plain) : shellWords(plain, unknown);
  const end = all.findIndex((word) => ENDS.test(word));
  const words = end < 0 ? all : all.slice(0, end);
  const headers: HeaderPair[] = [];
  const data: Buffer[] = [];
  const targets: string[] = [];
  let isPiped = false;
  let method: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const { flag, value, isAttached } = splitFlag(words[at] ?? "", words[at + 1]);
    if (flag === undefined) targets.push(value);
    else if (MADE.has(flag))
      throw usageError(
        `curl ${flag} makes a body that is not in the command.`,
        "Send it with --trace trace.txt, and give that file; or to hookproof listen, and export the request from the inspector.",
      );
    else if (DATA.has(flag) || WITH_VALUE.has(flag) || IGNORED_WITH_VALUE.has(flag)) {
      if (!isAttached) at++;
      if (flag === "-X" || flag === "--request") method = value;
      else if (flag === "-H" || flag === "--header") headers.push(...headersOf(value));
      else if (DATA.has(flag) && value === "@-" && flag !== "--data-raw") isPiped = true;
      else if (DATA.has(flag)) data.push(dataOf(flag, value));
      else if (flag === "-K" || flag === "--config") throw unclear("curl -K reads the request from a file.");
      if (flag === "--json") headers.push(["Content-Type", "application/json"]);
    } else if (flag === "-G" || flag === "--get")
      throw unclear("curl -G sends no body: its data is in the URL.");
    else if (flag === "--url") {
      targets.unshift(value);
      at++;
    }
  }
  const [variable] = unknown;
  if (variable !== undefined)
    throw unclear(
      `This curl command has variables, such as ${variable}, which the shell fills: what was sent is not in it.`,
    );
  const target = targets.find((one) => /^https?:/i.test(one)) ?? targets[0];
  if (target === undefined) throw usageError("The curl command has no URL.");
  const body = joined(data);
  if (data.length > 0 && !headers.some(([name]) => name.toLowerCase() === "content-type"))
    headers.push(["Content-Type", "application/x-www-form-urlencoded"]);
  // With -v the command's output stands below it, and says what was sent as headers.
  if (!forCmd && /\n> [A-Z]/.test(plain)) return parseVerbose(plain, body);
  const loses =
    forCmd && body.includes("\n") ? { doubt: "a copy for cmd.exe has line breaks of one kind alone" } : {};
  const hasData = isPiped || data.length > 0;
  const lacks = isPiped
    ? { lacksBody: "curl reads it from standard input, which is not in the command" }
    : {};
  return judged({ method: method ?? (hasData ? "POST" : "GET"), target, headers, body, ...loses, ...lacks });
}

function unclear(message: string): Error {
  return usageError(
    message,
    "Send it with --trace trace.txt, and give that file; or to hookproof listen, and export the request from the inspector.",
  );
}

function splitFlag(
  word: string,
  next: string | undefined,
): { flag?: string; value: string; isAttached: boolean } {
  if (!word.startsWith("-") || word === "-") return { value: word, isAttached: true };
  const [, long, attached] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  if (long !== undefined) return { flag: long, value: attached ?? "", isAttached: true };
  const isShort = /^-[XHdAebouTF]./.test(word);
  if (isShort) return { flag: word.slice(0, 2), value: word.slice(2), isAttached: true };
  return { flag: word, value: next ?? "", isAttached: false };
}

/** A header line, or those of the file behind @. */
function headersOf(value: string): HeaderPair[] {
  if (!value.startsWith("@")) return [headerOf(value)];
  if (value === "@-") throw unclear("curl reads headers from standard input, which is not in the command.");
  return parseHeaderLines(fileOf(value.slice(1)).toString("latin1").split(/\r?\n/));
}

function headerOf(line: string): HeaderPair {
  const at = line.indexOf(":");
  return at < 0 ? [line.replace(/;$/, ""), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** What curl would send: `@file` is read, and only --data-binary and --json keep its line ends. */
function dataOf(flag: string, value: string): Buffer {
  if (flag === "--data-raw" || !value.startsWith("@")) return Buffer.from(value);
  const bytes = fileOf(value.slice(1));
  const keeps = flag === "--data-binary" || flag === "--json";
  return keeps ? bytes : Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d && byte !== 0));
}

/** A file that a capture names, and whoever wrote the capture may be anybody: one of this folder, and no pipe or device. */
function fileOf(name: string): Buffer {
  const path = name.includes("\0") ? undefined : pathInside(".", name);
  if (path === undefined)
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${name} is outside of this folder.`, {
      hint: "A captured command names files of this folder only. Copy the file here if it is yours to show.",
    });
  try {
    if (statSync(path).isFile()) return readFileSync(path);
  } catch {
    // Told below.
  }
  throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${name} cannot be read.`);
}

/** curl joins several data flags with an ampersand. */
function joined(data: readonly Buffer[]): Buffer {
  return Buffer.concat(data.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("&"), part])));
}

/** A variable or a command whose output a shell puts in, where nothing takes away its meaning. */
const VARIABLE = /(?:^|[^\\])(\$(?:\w{1,60}|\{\w{1,60}\}|\(\w{1,60}))/;

/** The words of a POSIX command line, with the variables in it in `unknown`: quotes, `$'…'` as browsers write it, backslashes, continued lines. */
export function shellWords(line: string, unknown: string[] = []): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const add = (text: string) => {
    word = (word ?? "") + text;
  };
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? "";
    if (char === "'" || line.startsWith("$'", at)) {
      const ansi = char === "$";
      const end = closing(line, at + (ansi ? 2 : 1), "'", ansi);
      const text = line.slice(at + (ansi ? 2 : 1), end);
      add(ansi ? unescaped(text) : text);
      at = end;
    } else if (char === '"') {
      const end = closing(line, at + 1, '"', true);
      const variable = VARIABLE.exec(line.slice(at + 1, end));
      if (variable) unknown.push(variable[1] ?? "");
      add(
        line
          .slice(at + 1, end)
          .replace(/\\([\\"$`]|\n)/g, (_all, kept: string) => (kept === "\n" ? "" : kept)),
      );
      at = end;
    } else if (char === "\\") {
      const next = line[++at] ?? "";
      if (next === "\r" && line[at + 1] === "\n") at++;
      else if (next !== "\n") add(next);
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      // A command ends with its line; what stands below is its output.
      if (char === "\n" && words.length > 0) return words;
    } else {
      const variable = char === "$" ? VARIABLE.exec(line.slice(at, at + 100)) : null;
      if (variable) unknown.push(variable[1] ?? "");
      add(char);
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Where the quote ends. */
function closing(line: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from; at < line.length; at++) {
    if (escapes && line[at] === "\\") at++;
    else if (line[at] === quote) return at;
  }
  throw cutCommand();
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))/gs,
    (all, hex: string | undefined, unicode: string | undefined, char: string | undefined) =>
      char === undefined
        ? String.fromCharCode(Number.parseInt(hex ?? unicode ?? "0", 16))
        : (ESCAPES[char] ?? all),
  );
}
