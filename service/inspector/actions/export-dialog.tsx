import { useState } from "preact/hooks";
import type { ExportQuery } from "../../src/inspector/contract.js";
import type { Filter } from "../list/filter.js";
import { exportUrl } from "../live/api.js";
import { Dialog } from "../parts/dialog.js";

interface ExportDialogProps {
  readonly filter: Filter;
  readonly count: number;
  onClose(): void;
}

/** Writes what the list shows to a file. */
export function ExportDialog({ filter, count, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportQuery["format"]>("jsonl");
  const [credentials, setCredentials] = useState(false);
  const href = exportUrl({
    format,
    q: filter.text.trim(),
    status: filter.statuses.join(","),
    listener: filter.listener,
    ...(credentials ? { credentials: "1" } : {}),
  });
  return (
    <Dialog title={`Export ${count} ${count === 1 ? "request" : "requests"}`} onClose={onClose}>
      <form>
        <fieldset>
          <legend>Format</legend>
          <label class="check">
            <input
              type="radio"
              name="format"
              checked={format === "jsonl"}
              onChange={() => setFormat("jsonl")}
            />
            JSON Lines, for hookproof and for import here
          </label>
          <label class="check">
            <input type="radio" name="format" checked={format === "har"} onChange={() => setFormat("har")} />
            HAR, for other tools
          </label>
        </fieldset>
        <label class="check">
          <input
            type="checkbox"
            checked={credentials}
            onChange={(event) => setCredentials(event.currentTarget.checked)}
          />
          With signatures, tokens and cookies; they are left out otherwise. The secret is never in.
        </label>
        <footer>
          <a class="primary button" href={href} download onClick={onClose}>
            Export
          </a>
        </footer>
      </form>
    </Dialog>
  );
}
