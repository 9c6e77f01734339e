import type { Args, Flag } from "./command.js";
import { usageError } from "./failure.js";
import { type HistoryRecord, hasArrived } from "./history-record.js";

/** The flags of every command that searches the history. */
export const SEARCH_FLAGS = {
  since: { type: "duration", value: "<dur>", describe: "sent within this time, such as 1h" },
  status: { type: "number", value: "<status>", range: [100, 599], describe: "answered with this status" },
  failed: { type: "boolean", describe: "not accepted so far" },
  url: { type: "string", value: "<text>", describe: "sent to a URL with this text in it" },
} as const satisfies Record<string, Flag>;

/** The events that the flags, and a text in id, URL or body, ask for. */
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
