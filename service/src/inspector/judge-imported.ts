// Makes the checks of an imported request whose file has none.
import { STATUS_CODES } from "node:http";
import { type Entry, onlyHeader } from "./entry.js";
import { reasonOf } from "./reason.js";
import { provedBy, type WatchedListener } from "./watched-listener.js";

/**
 * An imported request with what its file did not say: where no checks came along (a HAR file of another tool),
 * and its listener is running, they are made as of the time of the request.
 */
export async function judgeImported(
  entry: Entry,
  watched: WatchedListener | undefined,
  firstOf: (listenerId: string, eventId: string) => Entry | undefined,
): Promise<Entry> {
  const { headers, body, row } = entry;
  const { duplicateOf: _number, replay: _replay, ...kept } = row;
  const eventId = row.eventId ?? onlyHeader(headers, "Webhook-Event-Id");
  const isJudgedHere = entry.checks.length === 0 && watched !== undefined;
  const judged = isJudgedHere ? await checked(entry, watched) : entry;
  const code = judged.row.code;
  const first =
    code === "EVENT_DUPLICATE" && eventId !== undefined ? firstOf(row.listenerId ?? "", eventId) : undefined;
  return {
    ...judged,
    row: {
      ...kept,
      ...(code === undefined ? {} : { code }),
      ...(eventId === undefined ? {} : { eventId }),
      ...(watched === undefined ? {} : provedBy(watched)),
      reason:
        code === undefined && row.status >= 400
          ? `answered ${row.status} ${STATUS_CODES[row.status] ?? ""}`.trim()
          : row.code === undefined
            ? reasonOf(code, entry.mistakes)
            : row.reason,
      ...(first === undefined ? {} : { duplicateOf: first.row.n }),
      imported: true,
    },
    // Checks that came along were made against another listener, with a secret of its own.
    demanded: isJudgedHere ? watched.demanded({ headers, body, at: row.at }) : undefined,
  };
}

async function checked(entry: Entry, watched: WatchedListener): Promise<Entry> {
  const { row, headers, body, target } = entry;
  const verdict = await watched.verify({ method: row.method, url: target, headers, body }, row.at);
  const refused = verdict.ok ? (row.status === 409 ? "EVENT_DUPLICATE" : undefined) : verdict.code;
  const code = row.code ?? (row.status >= 400 ? refused : undefined);
  return { ...entry, row: { ...row, ...(code === undefined ? {} : { code }) }, checks: verdict.checks };
}
