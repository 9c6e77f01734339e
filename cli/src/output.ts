// The one place where text becomes bytes: colours, widths, and what is escaped.
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import type { Io, Terminal } from "./io.js";

/** The flags every command shares. */
export interface GlobalFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: number;
  readonly color: boolean | undefined;
  /** Whether a person may be asked; only on a terminal even so. */
  readonly input: boolean;
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "dim" | "bold";

/** How lines are laid out on a terminal; it is loaded where there is one. */
export interface Layout {
  /** A line in as many as it needs; they go on at the column `hang`, by default where the text behind a label begins. */
  line(text: string, columns: number, hang?: number): string;
  table(head: readonly string[], rows: readonly (readonly (string | number)[])[], columns: number): string[];
  highlighted(json: string, paint: Paint): string;
  /** A line whose label is coloured: a few small words, then a gap, then what they are about. */
  labelled(text: string, paint: Paint): string;
  /** A note in which what to run next stands out. */
  noted(text: string, paint: Paint): string;
}

/** Something that is drawn below the last line of a terminal, such as a bar, and goes before another line is written. */
interface Overlay {
  clear(): void;
}

/** Where a command writes: the answer on stdout, everything else on stderr. */
export interface Output {
  readonly json: boolean;
  /** One JSON document on one line; only with `--json`. */
  document(value: Record<string, unknown>): void;
  /** A line of the answer for people, and only one: line ends in it are escaped. Nothing with `--json`. */
  line(text?: string, hang?: number): void;
  /** A table: in a terminal fitted to it, else a line for each row. Without a head it is none. Nothing with `--json`. */
  table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void;
  /** An id or a digest: its beginning in a terminal, all of it with `-v` and wherever a program may read it. */
  short(text: string): string;
  /** JSON as a part of a line, coloured in a terminal. */
  code(json: string): string;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
  /** What is drawn below the last line from now on. */
  overlay(shown: Overlay | undefined): void;
  /** A body that others wrote: its line ends stay, and every line is indented. Nothing with `--json`. */
  block(text: string): void;
  /** A text with line ends of this program, such as a JSON document; written with every flag. */
  write(text: string): void;
  /** A line for another program: bytes as they are, except on a terminal; nothing with `--json`. */
  raw(text: string): void;
  /** What changed and what to run next; off with `--quiet` and `--json`. */
  note(text: string): void;
  /** Something worth knowing though nothing failed, on stderr; a JSON document with `--json`, off with `--quiet`. */
  warn(text: string): void;
  /** Detail for `-v` (1) and `-vv` (2), on stderr. */
  detail(level: 1 | 2, text: string): void;
  paint(colour: Colour, text: string): string;
}

/**
 * The output of a command. This is the one place where text becomes bytes: whatever others wrote (URLs, bodies, key
 * ids, answers, names of files) is shown with its control and bidi characters escaped, in text and in JSON. With a
 * layout, lines are fitted to the stream that is a terminal; a program gets each of them whole.
 */
export function createOutput(io: Io, flags: GlobalFlags, layout?: Layout): Output {
  const { paint, resolved } = paintMarks(painter(io.stdout, io, flags.color));
  const paintErr = painter(io.stderr, io, flags.color);
  const [columns, columnsErr] = [columnsOf(io.stdout, io), columnsOf(io.stderr, io)];
  let below: Overlay | undefined;
  const print = (text: string) => {
    below?.clear();
    io.stdout.write(text);
  };
  const fitted = (text: string, hang?: number) =>
    layout && columns !== undefined ? layout.line(text, columns, hang) : text;
  const fittedErr = (text: string) =>
    layout && columnsErr !== undefined ? layout.line(text, columnsErr) : text;
  const err = (text: string, painted = (line: string) => line) => {
    below?.clear();
    io.stderr.write(`${painted(fittedErr(text))}\n`);
  };
  const label: Layout["labelled"] = layout ? layout.labelled : (text) => text;
  const note: Layout["noted"] = layout ? layout.noted : (text) => paintErr("dim", text);
  const warned = new Set<string>();
  const laid = layout && columns !== undefined;
  return {
    json: flags.json,
    isTerminal: laid === true,
    document(value) {
      if (flags.json) print(`${inertJson({ v: 1, ...value })}\n`);
    },
    line(text = "", hang) {
      if (!flags.json) print(`${fitted(resolved(label(inertLine(text), paint)), hang)}\n`);
    },
    table(head, rows) {
      if (flags.json || rows.length === 0) return;
      const cells = rows.map((row) =>
        row.map((cell) => (typeof cell === "number" ? cell : resolved(inertLine(cell)))),
      );
      const titles = head.map((title) => resolved(paint("bold", title)));
      const lines = laid
        ? layout.table(titles, cells, columns)
        : head.length > 0
          ? tableLines(head, cells)
          : cells.map((row) => row.join("  "));
      print(lines.map((line) => `${line}\n`).join(""));
    },
    short: (text) => (laid && flags.verbose === 0 && text.length > 12 ? `${text.slice(0, 8)}…` : text),
    code: (json) => (laid ? layout.highlighted(json, paint) : json),
    overlay(shown) {
      below = shown;
    },
    block(text) {
      if (flags.json) return;
      for (const line of text.split("\n")) print(`${resolved(inertLine(line && `  ${line}`))}\n`);
    },
    write: (text) => print(resolved(inert(text))),
    raw(text) {
      if (!flags.json) print(`${io.stdout.isTTY ? inert(text) : text}\n`);
    },
    note(text) {
      // Coloured when it is laid out: the layout goes by the words.
      if (!flags.quiet && !flags.json) err(inertLine(text), (lines) => note(lines, paintErr));
    },
    warn(text) {
      if (flags.quiet || warned.has(text)) return;
      warned.add(text); // a secret is looked at by this program and by its signer
      if (flags.json) err(inertJson({ v: 1, type: "warning", message: text }));
      else err(`${paintErr("yellow", "warning")}  ${inertLine(text)}`);
    },
    detail(level, text) {
      if (flags.verbose >= level) err(inertLine(text));
    },
    paint,
  };
}

/** The columns of a terminal; `undefined` for what is none. */
function columnsOf(stream: Terminal, { env }: Io): number | undefined {
  return stream.isTTY ? stream.columns || Number(env.COLUMNS) || 80 : undefined;
}

export type Paint = (colour: Colour, text: string) => string;

/**
 * A command colours a part of a line before the line is made inert. So `paint` puts the part between two random marks,
 * which no other text can contain, and they are replaced with the terminal's codes at the end.
 */
function paintMarks(painted: Paint): { paint: Paint; resolved(text: string): string } {
  const mark = randomBytes(9).toString("base64url");
  return {
    paint: (colour, text) => `${mark}${colour}:${text}${mark}`,
    resolved: (text) =>
      text
        .split(mark)
        .map((part, index) => {
          if (index % 2 === 0) return part;
          const colon = part.indexOf(":");
          return painted(part.slice(0, colon) as Colour, part.slice(colon + 1));
        })
        .join(""),
  };
}

/** Colour is decided for each stream: by default a terminal has it, a pipe does not. */
export function painter(stream: Terminal, { env }: Io, wanted: boolean | undefined): Paint {
  const { FORCE_COLOR: force, CLICOLOR_FORCE: clicolor = "" } = env;
  const forced = (force !== undefined && force !== "0") || !["", "0"].includes(clicolor);
  const asked = wanted ?? (env.NO_COLOR ? false : forced || (stream.isTTY === true && env.TERM !== "dumb"));
  return asked
    ? (colour, text) => styleText(colour, text, { validateStream: false })
    : (_colour, text) => text;
}

/** The two columns of a summary. */
export function field(name: string, value: string): string {
  return `  ${name.padEnd(10)} ${value}`;
}

/** The fewest columns that text is laid out in. */
export const NARROWEST = 30;

/**
 * Characters that steer a terminal, turn the direction of text or hide it. The library's `shown` has the same set;
 * test/core/steering.test.ts holds them equal, as a package's insides are not imported by another.
 */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A text in which such characters are escaped, as `\u001b`; line ends and tabs stay. */
function inert(text: string): string {
  return text.replace(STEERING, (one) => (one === "\n" || one === "\t" ? one : escaped(one)));
}

/** The same for one line: line ends are escaped too, so that text of others cannot begin a new line. */
export function inertLine(text: string): string {
  return text.replace(STEERING, escaped);
}

/** A document on one line; JSON itself escapes the first 32 characters only. It reads as the same value. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replace(STEERING, escaped);
}

function escaped(one: string): string {
  return Array.from({ length: one.length }, (_, at) => one.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}

/** A number with its noun: `1 event`, `2 events`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Lines of a table: columns as wide as their widest cell, numbers to the right. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = head.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  return cells.map((row) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
