// Writes what the list shows to a file.
import { useState } from "preact/hooks";
import type { ExportQuery } from "../../src/inspector/contract.js";
import type { Filter } from "../list/filter.js";
import type { Api } from "../live/api.js";
import { Dialog } from "../parts/dialog.js";

interface ExportDialogProps {
  readonly api: Pick<Api, "exported">;
  readonly filter: Filter;
  readonly count: number;
  onClose(): void;
}

export function ExportDialog({ api, filter, count, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportQuery["format"]>("jsonl");
  const [credentials, setCredentials] = useState(false);
  const [problem, setProblem] = useState<string>();
  const query: ExportQuery = {
    format,
    q: filter.text.trim(),
    status: filter.statuses.join(","),
    listener: filter.source,
    ...(filter.span && { from: filter.span.from }),
    ...(filter.span && Number.isFinite(filter.span.to) && { to: filter.span.to }),
    ...(credentials ? { credentials: "1" } : {}),
  };
  const save = async () => {
    try {
      const href = URL.createObjectURL(await api.exported(query));
      const link = Object.assign(document.createElement("a"), {
        href,
        download: `hookproof-requests.${format}`,
      });
      link.click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser may not have begun to read it
      onClose();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
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
          {problem && <p role="alert">{problem}</p>}
          <button type="button" class="primary" onClick={save}>
            Export
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
