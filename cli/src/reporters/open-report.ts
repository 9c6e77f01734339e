// Opens the report that the flags ask for.
import { closeSync, writeSync } from "node:fs";
import type { Context } from "../command.js";
import { openOutput } from "../files/written-file.js";
import { jsonl, junit, pretty, tap } from "./formats.js";
import type { CreateReporter, Reporter } from "./reporter.js";

const REPORTERS: Readonly<Record<string, CreateReporter>> = { pretty, jsonl, junit, tap };

/** A report under way. */
interface Report {
  /** Where it is written, if not to stdout only. */
  readonly file: string | undefined;
  /** Whether a program reads it, on stdout or in a file. */
  readonly isForPrograms: boolean;
  begin: (run: Parameters<Reporter["begin"]>[0]) => void;
  result: (result: Parameters<Reporter["result"]>[0]) => void;
  verdict: (verdict: Parameters<Reporter["verdict"]>[0]) => void;
  /** Writes the end and closes the file. */
  end: (summary: Parameters<Reporter["end"]>[0]) => void;
}

/**
 * Opens the report that the flags ask for: on stdout, or in the file of `--out`; stdout then has the one for
 * people, and with `--json` always the one for programs.
 */
export function openReport({ args, out, global }: Pick<Context, "args" | "out" | "global">): Report {
  const file = args.text("out");
  const chosen = REPORTERS[args.text("reporter") ?? (out.json ? "jsonl" : "pretty")] ?? pretty;
  const onStdout = out.json ? jsonl : file === undefined ? chosen : pretty;
  const shown = onStdout(out.paint, global.verbose > 0, out.isTerminal);
  const kept = file === undefined ? undefined : chosen((_colour, text) => text, true);
  const descriptor = file === undefined ? undefined : openOutput(file);
  const write = (piece: (reporter: Reporter) => string) => {
    const text = piece(shown);
    if (out.isTerminal && onStdout === pretty) {
      if (text !== "") for (const line of text.replace(/\n$/, "").split("\n")) out.line(line);
    } else out.write(text);
    if (kept && descriptor !== undefined) writeSync(descriptor, piece(kept));
  };
  return {
    file,
    isForPrograms: file !== undefined || onStdout !== pretty,
    begin: (run) => write((reporter) => reporter.begin(run)),
    result: (result) => write((reporter) => reporter.result(result)),
    verdict: (verdict) => write((reporter) => reporter.verdict(verdict)),
    end(summary) {
      write((reporter) => reporter.end(summary));
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
