// Runs a command for a tool as the shell would, and reads its JSON.
import { Readable, Writable } from "node:stream";
import type { Command } from "../command.js";
import { runCommand } from "../command-line/run-command.js";
import type { Io } from "../io.js";
import { explainFailure } from "../send/explain-failure.js";

/** A JSON document of the command line. */
export type Document = Readonly<Record<string, unknown>>;

/** What a command printed with `--json`, warnings after the answer. */
export interface Answer {
  readonly documents: readonly Document[];
}

/** How a command of the command line is called. */
export interface Call {
  readonly command: Command;
  /** Its arguments; `--json` is added. */
  readonly words: readonly string[];
  readonly env: Io["env"];
  readonly signal: AbortSignal;
  /** Standard input; nothing by default. */
  readonly input?: string;
  /** Called with each document of the answer when it is there. */
  onDocument?(document: Document): void;
}

/** Runs a command with `--json` in this process, as the shell would; what it prints is kept apart from ours. */
export async function callCommand({ command, words, env, signal, input, onDocument }: Call): Promise<Answer> {
  const documents: Document[] = [];
  const warnings: Document[] = [];
  const io: Io = {
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: lines((line) => {
      const document = JSON.parse(line) as Document;
      if (onDocument) onDocument(document);
      else documents.push(document);
    }),
    stderr: lines((line) => {
      if (line.startsWith("{")) warnings.push(JSON.parse(line) as Document);
    }),
    env,
    stopSignal: signal,
  };
  try {
    await runCommand(command, ["--json", "--no-input", ...words], io);
  } catch (error) {
    const failure = failureDocument(command.name, error);
    if (onDocument) onDocument(failure);
    else documents.push(failure);
  }
  return { documents: [...documents, ...warnings] };
}

/** What a failure is with `--json`. */
export function failureDocument(type: string, error: unknown): Document {
  const { code, message, hint, next, answer } = explainFailure(error);
  const told = { code, message, ...(hint ? { hint } : {}), ...(next ? { next } : {}) };
  return { v: 1, type, ok: false, ...answer, error: told };
}

/** A stream that hands on whole lines. */
function lines(onLine: (line: string) => void): Writable {
  let begun = "";
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const parts = `${begun}${chunk}`.split("\n");
      begun = parts.pop() ?? "";
      for (const line of parts) if (line !== "") onLine(line);
      done();
    },
  });
}
