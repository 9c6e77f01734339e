import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { inert, inertJson, inertLine } from "./inert.js";
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

export type Colour = "green" | "red" | "yellow" | "dim" | "bold";

/** Where a command writes: the answer on stdout, everything else on stderr. */
export interface Output {
  readonly json: boolean;
  /** One JSON document on one line; only with `--json`. */
  document(value: Record<string, unknown>): void;
  /** A line of the answer for people, and only one: line ends in it are escaped. Nothing with `--json`. */
  line(text?: string): void;
  /** A body of somebody else's, whose line ends stay: every line of it is indented. Nothing with `--json`. */
  block(text: string): void;
  /** A text whose line ends are this program's own, such as a JSON document; whatever the flags say. */
  write(text: string): void;
  /** A line for another program: bytes as they are, except on a terminal; nothing with `--json`. */
  raw(text: string): void;
  /** What changed and what to run next; off with `--quiet` and `--json`. */
  note(text: string): void;
  /** Something worth knowing though nothing failed; off with `--quiet`. */
  warn(text: string): void;
  /** Detail for `-v` (1) and `-vv` (2), on stderr. */
  detail(level: 1 | 2, text: string): void;
  paint(colour: Colour, text: string): string;
}

/**
 * The output of a command. This is the one place where text becomes bytes: whatever others wrote (URLs, bodies, key
 * ids, answers, names of files) is shown with its control and bidi characters escaped, in text and in JSON.
 */
export function createOutput(io: Io, flags: GlobalFlags): Output {
  const { paint, resolved } = paintMarks(painter(io.stdout, io, flags.color));
  const paintErr = painter(io.stderr, io, flags.color);
  const err = (text: string) => void io.stderr.write(`${text}\n`);
  const write = (text: string) => void io.stdout.write(resolved(inert(text)));
  return {
    json: flags.json,
    document(value) {
      if (flags.json) io.stdout.write(`${inertJson({ v: 1, ...value })}\n`);
    },
    line(text = "") {
      if (!flags.json) io.stdout.write(`${resolved(inertLine(text))}\n`);
    },
    block(text) {
      if (flags.json) return;
      for (const line of text.split("\n")) io.stdout.write(`${resolved(inertLine(line && `  ${line}`))}\n`);
    },
    write,
    raw(text) {
      if (!flags.json) io.stdout.write(`${io.stdout.isTTY ? inert(text) : text}\n`);
    },
    note(text) {
      if (!flags.quiet && !flags.json) err(paintErr("dim", inertLine(text)));
    },
    warn(text) {
      if (!flags.quiet) err(`${paintErr("yellow", "warning")}  ${inertLine(text)}`);
    },
    detail(level, text) {
      if (flags.verbose >= level) err(inertLine(text));
    },
    paint,
  };
}

type Paint = (colour: Colour, text: string) => string;

/**
 * Colour is asked for within a line, before the line is made inert. So `paint` puts a text between two marks that
 * nobody else can write, and the terminal's own codes take their place at the end.
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

/** Colour is decided per stream: a terminal has it unless told otherwise, a pipe does not. */
export function painter(
  stream: Terminal,
  { env }: Io,
  wanted: boolean | undefined,
): (colour: Colour, text: string) => string {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0";
  const asked = wanted ?? (env.NO_COLOR ? false : forced || (stream.isTTY === true && env.TERM !== "dumb"));
  return asked
    ? (colour, text) => styleText(colour, text, { validateStream: false })
    : (_colour, text) => text;
}

/** The two columns of a summary. */
export function field(name: string, value: string): string {
  return `  ${name.padEnd(10)} ${value}`;
}
