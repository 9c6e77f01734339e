import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { findEvents, SEARCH_FLAGS } from "../find-events.js";
import { readHistory } from "../history.js";
import { hasArrived } from "../history-record.js";
import { ROWS_FLAG } from "../table.js";

export const eventsList: Command = {
  name: "events list",
  describe: "The events that were sent within the last 7 days, the newest first.",
  positionals: [{ name: "text", required: false, describe: "only events with this text in id, URL or body" }],
  flags: {
    ...SEARCH_FLAGS,
    ...ROWS_FLAG,
  },
  examples: [
    ["hookproof events list --failed --since 1h", "what did not arrive within the last hour"],
    [
      "hookproof events list user.offboarded --status 200 --json",
      "accepted events with this text, for a script",
    ],
  ],
  exits: [[3, "the history cannot be read"]],
  async run({ args, io, out }) {
    const found = findEvents(await readHistory(io, out), args, args.text("text")).reverse();
    const shown = found.slice(0, args.number("limit"));
    out.document({
      type: "events",
      ok: true,
      found: found.length,
      events: shown.map(({ at, eventId, url, method, status, outcome, bodyBase64 }) => ({
        eventId,
        at: new Date(at).toISOString(),
        url,
        method,
        status: status ?? null,
        outcome,
        bodyBytes: Buffer.byteLength(bodyBase64, "base64"),
      })),
    });
    for (const record of shown) {
      const { at, eventId, url, status, outcome } = record;
      const mark = hasArrived(record) ? out.paint("green", "✔") : out.paint("red", "✖");
      const time = new Date(at).toISOString().slice(0, 19).replace("T", " ");
      out.line(`${mark} ${time}  ${eventId}  ${status ?? "---"} ${outcome}  ${url}`);
    }
    out.note(
      found.length === 0
        ? "No event fits."
        : `${shown.length} of ${found.length}      next: hookproof events show ${shown[0]?.eventId}`,
    );
    return EXIT.ok;
  },
};
