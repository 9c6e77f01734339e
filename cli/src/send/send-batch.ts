import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createSender, type SenderOptions, type SendResult } from "hookproof";
import type { Context } from "../command.js";
import type { Target } from "../credentials/target.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { countOf } from "../output.js";
import { startProgress } from "../progress.js";
import { explainFailure } from "./explain-failure.js";

/** Sends every line of the data as an event of its own; the last failure decides the exit code. */
export async function sendBatch(
  { args, io, out, global }: Context,
  target: Target,
  options: SenderOptions,
  data: string,
): Promise<number> {
  if (args.text("event-id") !== undefined)
    throw usageError("--event-id is for a single event; a batch makes an id for each line.");
  const sender = createSender(options);
  const progress = startProgress(io, global.quiet || global.json, await countLines(data));
  const count = { accepted: 0, duplicate: 0, failed: 0 };
  let exit: number = EXIT.ok;
  let line = 0;
  for await (const result of sender.sendMany(linesOf({ data, stdin: io.stdin }), {
    concurrency: args.number("concurrency") ?? 8,
    signal: io.stopSignal,
  })) {
    line++;
    progress.advance();
    if (result.ok) count[result.outcome]++;
    else {
      count.failed++;
      exit = explainFailure(result.error).exit;
    }
    out.document(documentOf(line, target.url, result));
    out.line(
      result.ok
        ? `${out.paint("green", "✔")} ${result.status} ${result.eventId}`
        : `${out.paint("red", "✖")} line ${line}: ${result.error.message}`,
    );
  }
  progress.finish();
  out.note(
    `${countOf(line, "event")}: ${count.accepted} accepted, ${countOf(count.duplicate, "duplicate")}, ${count.failed} failed`,
  );
  return io.stopSignal.aborted ? EXIT.interrupted : exit;
}

function documentOf(line: number, url: string, result: SendResult): Record<string, unknown> {
  const common = {
    type: "send",
    line,
    ok: result.ok,
    url,
    ...(result.eventId === undefined ? {} : { eventId: result.eventId }),
    attempts: result.attempts.length,
  };
  if (result.ok) return { ...common, outcome: result.outcome, status: result.status };
  const { code, message, hint, answer } = explainFailure(result.error);
  return { ...common, ...answer, error: { code, message, ...(hint ? { hint } : {}) } };
}

/** How many events there are, for the bar; unknown for standard input. */
async function countLines(data: string): Promise<number | undefined> {
  if (data === "-") return undefined;
  let lines = 0;
  for await (const line of linesOf({ data })) if (line !== "") lines++;
  return lines;
}

/** The lines that are not empty, one at a time, however long the input is. */
async function* linesOf({ data, stdin }: { data: string; stdin?: Readable }): AsyncIterable<string> {
  if (data !== "-" && !data.startsWith("@")) {
    yield* data.split("\n").filter((line) => line.trim() !== "");
    return;
  }
  const input = stdin && data === "-" ? stdin : createReadStream(data.slice(1));
  let failure: Error | undefined;
  input.once("error", (error: Error) => {
    failure = error;
  });
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
    if (line.trim() !== "") yield line;
  if (failure) throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${data.slice(1)} cannot be read.`);
}
