// The history of events that were sent in the last 7 days.
import { createReadStream } from "node:fs";
import { appendFile, chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Args, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { dataFolder, privateFolder, requirePrivate, unreadable, writePrivateFile } from "../files/files.js";
import type { Io } from "../io.js";
import type { Output } from "../output.js";
import { type HistoryRecord, hasArrived, parseHistoryLine } from "./history-record.js";

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const PRUNE_BYTES = 8 * 1024 * 1024;

function historyFile(io: Io): string {
  return join(dataFolder(io), "history.jsonl");
}

/** Adds records; a history that cannot be written is a warning, because the event itself has been sent. */
export async function remember(io: Io, out: Output, records: readonly HistoryRecord[]): Promise<void> {
  try {
    const file = historyFile(io);
    privateFolder(dataFolder(io));
    await appendFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""), { mode: 0o600 });
    await chmod(file, 0o600);
    if ((await stat(file)).size > PRUNE_BYTES) await prune(io);
  } catch (error) {
    out.warn(
      `The history could not be written (${(error as NodeJS.ErrnoException).code ?? "unknown"}); replay will not find this event.`,
    );
  }
}

/** The record of an event id, or of the last event. */
export async function recall(io: Io, out: Output, which: string): Promise<HistoryRecord> {
  const records = await readHistory(io, out);
  const found =
    records.findLast(({ eventId }) => which === "last" || [which, which.toLowerCase()].includes(eventId)) ??
    onlyOneFrom(records, which);
  if (found) return found;
  throw new CliError(
    EXIT.setup,
    "EVENT_NOT_RECORDED",
    which === "last" ? "The history is empty." : `The history has no event ${JSON.stringify(which)}.`,
    {
      hint: "Events are recorded by: hookproof send. They are kept for 7 days.",
    },
  );
}

/** The one event whose id begins so, as a terminal shows it: `854d1169…`. */
function onlyOneFrom(records: readonly HistoryRecord[], which: string): HistoryRecord | undefined {
  const start = which.replace(/…$/, "").toLowerCase();
  if (start.length < 8) return undefined;
  const [one, other] = records.filter(({ eventId }) => eventId.toLowerCase().startsWith(start));
  return other === undefined ? one : undefined;
}

/** The events of the last 7 days, each with its last result, the newest last. */
export async function readHistory(io: Io, out: Pick<Output, "warn">): Promise<HistoryRecord[]> {
  const byId = new Map<string, HistoryRecord>();
  let unreadable = 0;
  for await (const line of linesOf(historyFile(io))) {
    const record = parseHistoryLine(line);
    if (record === undefined) unreadable++;
    else if (record.at >= Date.now() - KEPT_MS) {
      byId.delete(record.eventId);
      byId.set(record.eventId, record);
    }
  }
  if (unreadable > 0)
    out.warn(
      `${unreadable} ${unreadable === 1 ? "line" : "lines"} of ${historyFile(io)} cannot be read and ${unreadable === 1 ? "was" : "were"} passed over.`,
    );
  return [...byId.values()];
}

/** Deletes the events that `isForgotten` selects, and lines that cannot be read; returns how many events. */
export async function forget(
  io: Io,
  out: Output,
  isForgotten: (record: HistoryRecord) => boolean,
): Promise<number> {
  const records = await readHistory(io, out);
  const kept = records.filter((record) => !isForgotten(record));
  await writePrivateFile(historyFile(io), kept.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return records.length - kept.length;
}

async function* linesOf(file: string): AsyncIterable<string> {
  const input = createReadStream(file);
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) =>
    input.once("open", () => resolve(undefined)).once("error", resolve),
  );
  if (failure) {
    if (failure.code === "ENOENT" || failure.code === "ENOTDIR") return;
    throw unreadable(file, failure);
  }
  requirePrivate(file);
  let broken: NodeJS.ErrnoException | undefined;
  input.once("error", (error) => {
    broken = error;
  });
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      if (line !== "") yield line;
  } catch (error) {
    throw error === broken ? unreadable(file, error) : error;
  }
  if (broken) throw unreadable(file, broken);
}

/** Deletes the records that are too old and, if the history is still too large, its older half. */
async function prune(io: Io): Promise<void> {
  const kept: string[] = [];
  for await (const line of linesOf(historyFile(io))) {
    const record = parseHistoryLine(line);
    if (record && record.at >= Date.now() - KEPT_MS) kept.push(`${line}\n`);
  }
  let bytes = kept.reduce((sum, line) => sum + line.length, 0);
  while (bytes > PRUNE_BYTES / 2 && kept.length > 1) bytes -= (kept.shift() ?? "").length;
  await writePrivateFile(historyFile(io), kept.join(""));
}

/** The flags of every command that searches the history. */
export const SEARCH_FLAGS = {
  since: { type: "duration", value: "<dur>", describe: "sent within this time, such as 1h" },
  status: { type: "number", value: "<status>", range: [100, 599], describe: "answered with this status" },
  failed: { type: "boolean", describe: "not accepted so far" },
  url: { type: "string", value: "<text>", describe: "sent to a URL with this text in it" },
} as const satisfies Record<string, Flag>;

/** The events that match the flags, and the text in their id, URL or body. */
export function findEvents(records: readonly HistoryRecord[], args: Args, text?: string): HistoryRecord[] {
  const sinceMs = args.durationMs("since");
  if (sinceMs === 0) throw usageError("--since must be more than nothing.");
  const [status, url] = [args.number("status"), args.text("url")];
  return records.filter(
    (record) =>
      (sinceMs === undefined || record.at >= Date.now() - sinceMs) &&
      (status === undefined || record.status === status) &&
      (!args.flag("failed") || !hasArrived(record)) &&
      (url === undefined || record.url.includes(url)) &&
      (text === undefined || isIn(record, text)),
  );
}

function isIn(record: HistoryRecord, text: string): boolean {
  const body = Buffer.from(record.bodyBase64, "base64").toString("utf8");
  return [record.eventId, record.url, body].some((place) => place.toLowerCase().includes(text.toLowerCase()));
}
