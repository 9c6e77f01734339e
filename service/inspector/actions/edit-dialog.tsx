// Changes a request before it is sent again.
import { useState } from "preact/hooks";
import type { ReplayOrder, RequestDetail } from "../../src/inspector/contract.js";
import { Dialog } from "../parts/dialog.js";
import { Lines } from "../parts/lines.js";
import { Problem } from "../parts/problem.js";
import { decode, fromBase64, toBase64 } from "../text/bytes.js";
import { headersOf } from "../text/header-lines.js";

interface EditDialogProps {
  readonly detail: RequestDetail;
  readonly canSign: boolean;
  onSend(order: ReplayOrder): void;
  onClose(): void;
}

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
        <Lines
          label="Body"
          rows={8}
          value={body}
          hint={isText ? "" : "The body is no text: left empty, its bytes are sent as they are."}
          onInput={setBody}
        />
        <div class="pair">
          <Short label="Event id" value={eventId} onInput={setEventId} />
          <Short
            label="Timestamp"
            inputMode="numeric"
            hint="the time of sending"
            value={timestamp}
            onInput={setTimestamp}
          />
        </div>
        <button type="button" class="link" onClick={() => setEventId(crypto.randomUUID())}>
          New event id
        </button>
        <details>
          <summary>Header lines</summary>
          <Lines label="Header lines" rows={6} value={lines} onInput={setLines} />
        </details>
        <label class="check">
          <input
            type="checkbox"
            checked={sign}
            disabled={!canSign}
            onChange={(event) => setSign(event.currentTarget.checked)}
          />
          Sign it again; without that the proof stays as it was recorded
        </label>
        <Problem text={problem} />
        <footer>
          <button type="submit" class="primary">
            Send
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ShortProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly inputMode?: "numeric";
  onInput(value: string): void;
}

function Short({ label, hint, onInput, ...input }: ShortProps) {
  return (
    <label>
      {label}
      <input
        class="mono"
        spellcheck={false}
        placeholder={hint}
        {...input}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
