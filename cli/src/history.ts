import { createReadStream } from "node:fs";
import { appendFile, chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CliError, EXIT } from "./failure.js";
import { dataFolder, privateFolder, writePrivateFile } from "./folders.js";
import type { Io } from "./io.js";
import type { Output } from "./output.js";

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const PRUNE_BYTES = 8 * 1024 * 1024;

/** Where the secret or key of a request came from, so that a replay can sign again; never the secret itself. */
export type CredentialReference =
  | { readonly kind: "session"; readonly port: number }
  | { readonly kind: "secret-files"; readonly files: readonly string[] }
  | { readonly kind: "environment" }
  | { readonly kind: "key"; readonly key: string; readonly store: string; readonly baseUrl?: string };

/** One event that was sent, as it is kept for 7 days. */
export interface HistoryRecord {
  readonly v: 1;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly eventId: string;
  readonly url: string;
  readonly method: "hmac" | "jwt";
  /** The headers of the first attempt, for a replay to the letter. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBase64: string;
  readonly status?: number;
  readonly outcome: string;
  readonly credential: CredentialReference;
}

function historyFile(io: Io): string {
  return join(dataFolder(io), "history.jsonl");
}

/** Adds records; a history that cannot be written is a warning, because the event itself has been sent. */
export async function remember(io: Io, out: Output, records: readonly HistoryRecord[]): Promise<void> {
  const file = historyFile(io);
  try {
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

/** The record of an event id, or of the last event; unreadable lines are passed over. */
export async function recall(io: Io, which: string): Promise<HistoryRecord> {
  let found: HistoryRecord | undefined;
  for await (const record of records(io)) {
    if (which === "last" || record.eventId === which.toLowerCase()) found = record;
  }
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

async function* records(io: Io): AsyncIterable<HistoryRecord> {
  const oldest = Date.now() - KEPT_MS;
  const input = createReadStream(historyFile(io));
  const opened = await new Promise<boolean>((resolve) =>
    input.once("open", () => resolve(true)).once("error", () => resolve(false)),
  );
  if (!opened) return;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const record = parse(line);
    if (record && record.at >= oldest) yield record;
  }
}

function parse(line: string): HistoryRecord | undefined {
  try {
    const record = JSON.parse(line) as HistoryRecord;
    return record.v === 1 && typeof record.eventId === "string" && typeof record.bodyBase64 === "string"
      ? record
      : undefined;
  } catch {
    return undefined;
  }
}

async function prune(io: Io): Promise<void> {
  const kept: string[] = [];
  for await (const record of records(io)) kept.push(`${JSON.stringify(record)}\n`);
  let bytes = kept.reduce((sum, line) => sum + line.length, 0);
  while (bytes > PRUNE_BYTES / 2 && kept.length > 1) bytes -= (kept.shift() ?? "").length;
  await writePrivateFile(historyFile(io), kept.join(""));
}
