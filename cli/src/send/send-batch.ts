// Sends each line of a file as an event.
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createSender, type ListenerMessage, type SendResult, sendToListeners } from "hookproof";
import type { Context } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { REACH_FLAGS } from "../credentials/flags.js";
import { resolveTarget } from "../credentials/target.js";
import { CliError, EXIT, refuseIdle, usageError } from "../failure.js";
import { requireInput, unreadable } from "../files/files.js";
import { decoding, firstLineOf } from "../input/text.js";
import { countOf } from "../output.js";
import { startProgress } from "../terminal/progress.js";
import { readExact, writeExact } from "./exact-json.js";
import { explainFailure } from "./explain-failure.js";
import { readable } from "./payload.js";
import { senderOptions } from "./send-one.js";

/** Sends every line of the data as an event of its own; the last failure decides the exit code. */
export async function sendBatch(context: Context, data: string): Promise<number> {
  const { args, io, out } = context;
  if (data === "-") requireInput(io);
  const results = args.flag("by-listener") ? byListener(context, data) : await toOneTarget(context, data);
  const progress = startProgress(context, await countLines(data));
  const count = { accepted: 0, duplicate: 0, failed: 0 };
  let exit: number = EXIT.ok;
  let line = 0;
  for await (const result of results) {
    line++;
    progress.advance();
    if (result.ok) count[result.outcome]++;
    else {
      count.failed++;
      exit = explainFailure(result.error).exit;
    }
    out.document(documentOf(line, result));
    out.line(
      result.ok
        ? `${out.paint("green", "✔")} ${result.status} ${result.eventId}`
        : `${out.paint("red", "✖")} line ${line}: ${messageIn(result.error)}`,
    );
  }
  progress.finish();
  out.note(
    `${countOf(line, "event")}: ${count.accepted} accepted, ${countOf(count.duplicate, "duplicate")}, ${count.failed} failed`,
  );
  return io.stopSignal.aborted ? EXIT.interrupted : exit;
}

/** What is wrong with a line, in the words of a command line. */
function messageIn({ message }: Error): string {
  return message.startsWith("The payload text is not JSON")
    ? "This is not JSON: each line is one whole event, as JSON Lines has it."
    : message;
}

/** A result with where it was sent: the URL, or the listener's name. */
type BatchResult = SendResult & ({ readonly url: string } | { readonly listener: string });

const manyOptions = ({ args, io }: Context) => ({
  concurrency: args.number("concurrency") ?? 8,
  signal: io.stopSignal,
});

async function toOneTarget(context: Context, data: string): Promise<AsyncIterable<BatchResult>> {
  const target = await resolveTarget(context);
  const sender = createSender(await senderOptions(context, target));
  const results = sender.sendMany(linesOf({ data, stdin: context.io.stdin }), manyOptions(context));
  return withUrl(results, target.url);
}

async function* withUrl(results: AsyncIterable<SendResult>, url: string): AsyncIterable<BatchResult> {
  for await (const result of results) yield { ...result, url };
}

/** Each line names its listener, which has to be a profile: data never says by itself where it goes. */
function byListener(context: Context, data: string): AsyncIterable<BatchResult> {
  const { args, io, config } = context;
  if (args.text("target") !== undefined)
    throw usageError("With --by-listener each line names its listener, so there is no target.");
  refuseIdle(
    args,
    Object.keys(REACH_FLAGS),
    "is for one target: with --by-listener each profile has its own headerFiles, cert and keyFile.",
  );
  refuseIdle(
    args,
    ["secret-file"],
    "is for one target: with --by-listener it would sign for every listener that a line names.",
    `Store a secret for each: ${nextStep(args, "hookproof secret set --profile <name>")}`,
  );
  const listeners = async (name: string) => {
    config.withProfile(name).requireKnownProfile();
    const text = (flag: string) => (flag === "target" ? name : args.text(flag));
    const own = { ...context, args: { ...args, text } };
    return senderOptions(own, await resolveTarget(own));
  };
  return sendToListeners(messagesOf(linesOf({ data, stdin: io.stdin })), {
    listeners,
    ...manyOptions(context),
  });
}

async function* messagesOf(lines: AsyncIterable<string>): AsyncIterable<ListenerMessage> {
  let number = 0;
  for await (const line of lines) {
    number++;
    const message = messageOf(line);
    if (!message)
      throw usageError(
        `Line ${number} is no event with a listener.`,
        '{"listener":"acme","payload":{"type":"user.offboarded"}}, and "eventId" if you have one',
      );
    yield message;
  }
}

function messageOf(line: string): ListenerMessage | undefined {
  try {
    const { listener, payload, eventId, idForm } = readExact(line) as Partial<ListenerMessage>;
    const isComplete = typeof listener === "string" && payload !== undefined;
    if (!isComplete || ![undefined, "uuid", "own"].includes(idForm)) return undefined;
    return { listener, payload: writeExact(payload), eventId, idForm };
  } catch {
    return undefined;
  }
}

function documentOf(line: number, result: BatchResult): Record<string, unknown> {
  const common = {
    type: "send",
    line,
    ok: result.ok,
    ...("url" in result ? { url: result.url } : { listener: result.listener }),
    ...(result.eventId === undefined ? {} : { eventId: result.eventId }),
    attempts: result.attempts.length,
  };
  if (result.ok) return { ...common, outcome: result.outcome, status: result.status };
  const { code, message, hint, answer } = explainFailure(result.error);
  const said = code === "PAYLOAD_NOT_JSON" ? messageIn(result.error) : message;
  return { ...common, ...answer, error: { code, message: said, ...(hint ? { hint } : {}) } };
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
    const text = await readable(data, "--data");
    yield* text.split(LINE_END).filter((line) => line.trim() !== "");
    return;
  }
  const [name, input] =
    data === "-" && stdin ? ["Standard input", stdin] : [data.slice(1), createReadStream(data.slice(1))];
  let isFirst = true;
  for await (const line of readLines(input, name)) {
    const text = isFirst ? firstLineOf(line, name) : line;
    isFirst = false;
    if (text.trim() !== "") yield text;
  }
}

const LINE_END = /\r\n|\r|\n/;

/** Far above any body; a file of something else may have one line that never ends. */
const LONGEST_LINE = 4 * 1024 * 1024;

async function* readLines(input: Readable, name: string): AsyncIterable<string> {
  const decode = decoding(name);
  let begun = "";
  let number = 0;
  try {
    for await (const chunk of input) {
      const text = `${begun}${decode(Buffer.from(chunk as Uint8Array))}`;
      // The other half of a line's end may be in the next chunk.
      const isHalf = text.endsWith("\r");
      const lines = (isHalf ? text.slice(0, -1) : text).split(LINE_END);
      begun = `${lines.pop() ?? ""}${isHalf ? "\r" : ""}`;
      for (const line of lines) {
        number++;
        yield line;
      }
      if (begun.length > LONGEST_LINE)
        throw usageError(`Line ${number + 1} of ${name} has more than 4 MiB, and a body 64 KiB at most.`);
    }
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(name, error);
  }
  yield* `${begun}${decode()}`.split(LINE_END);
}
