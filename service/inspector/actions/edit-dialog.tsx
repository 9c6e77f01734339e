// Changes a request before it is sent again.
import { useState } from "preact/hooks";
import type { ReplayOrder, RequestDetail } from "../../src/inspector/contract.js";
import { Dialog } from "../parts/dialog.js";
import { decode, fromBase64, toBase64 } from "../text/bytes.js";
import { headersOf } from "../text/header-lines.js";

interface EditDialogProps {
  readonly detail: RequestDetail;
  readonly canSign: boolean;
  onSend(order: ReplayOrder): void;
  onClose(): void;
}

/** Changes a request before it is sent again. */
export function EditDialog({ detail, canSign, onSend, onClose }: EditDialogProps) {
  const parts = decode(fromBase64(detail.bodyBase64));
  const isText = parts.length === 1 && typeof parts[0] === "string";
  const recorded = detail.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  const [body, setBody] = useState(isText ? (parts[0] as string) : "");
  const [eventId, setEventId] = useState(detail.eventId ?? "");
  const [timestamp, setTimestamp] = useState("");
  const [lines, setLines] = useState(recorded);
  const [sign, setSign] = useState(canSign);
  const [problem, setProblem] = useState("");

  const send = (event: Event) => {
    event.preventDefault();
    const headers = headersOf(lines);
    if (typeof headers === "string") return setProblem(headers);
    onSend({
      kind: "edit",
      bodyBase64: isText || body !== "" ? toBase64(body) : detail.bodyBase64,
      ...(eventId === "" ? {} : { eventId }),
      ...(timestamp.trim() === "" ? {} : { timestamp: timestamp.trim() }),
      ...(lines === recorded ? {} : { headers }),
      sign,
    });
  };

  return (
    <Dialog title={`Edit #${detail.n} and send`} onClose={onClose}>
      <form onSubmit={send}>
        <label>
          Body
          <textarea
            class="mono"
            rows={8}
            spellcheck={false}
            value={body}
            placeholder={isText ? "" : "The body is no text: left empty, its bytes are sent as they are."}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </label>
        <div class="pair">
          <label>
            Event id
            <input
              class="mono"
              spellcheck={false}
              value={eventId}
              onInput={(event) => setEventId(event.currentTarget.value)}
            />
          </label>
          <label>
            Timestamp
            <input
              class="mono"
              inputMode="numeric"
              placeholder="the time of sending"
              value={timestamp}
              onInput={(event) => setTimestamp(event.currentTarget.value)}
            />
          </label>
        </div>
        <button type="button" class="link" onClick={() => setEventId(crypto.randomUUID())}>
          New event id
        </button>
        <details>
          <summary>Header lines</summary>
          <textarea
            class="mono"
            rows={6}
            spellcheck={false}
            aria-label="Header lines"
            value={lines}
            onInput={(event) => setLines(event.currentTarget.value)}
          />
        </details>
        <label class="check">
          <input
            type="checkbox"
            checked={sign}
            disabled={!canSign}
            onChange={(event) => setSign(event.currentTarget.checked)}
          />
          Sign it anew; without that the proof stays as it was recorded
        </label>
        {problem && (
          <p role="alert" class="problem">
            {problem}
          </p>
        )}
        <footer>
          <button type="submit" class="primary">
            Send
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
