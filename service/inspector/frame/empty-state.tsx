// What a newcomer types to see something.
import type { ListenerInfo } from "../../src/inspector/contract.js";
import { shellQuoted } from "../copy/shell-quoted.js";
import { Icon } from "../parts/icon.js";

interface EmptyStateProps {
  readonly listeners: readonly ListenerInfo[];
  /** Absent where nothing can sign an event. */
  readonly onTest: (() => void) | undefined;
  onCopy(text: string, what: string): void;
}

const EVENT = '{"type":"user.offboarded","userId":"u_123"}';

export function EmptyState({ listeners, onTest, onCopy }: EmptyStateProps) {
  const [first] = listeners;
  const ofEachKind = listeners.filter(
    ({ auth, scheme }, index) =>
      listeners.findIndex((other) => other.auth === auth && other.scheme === scheme) === index,
  );
  return (
    <div class="empty">
      <h2>Nothing has been received yet.</h2>
      <p>Requests appear here as they arrive.</p>
      {onTest && (
        <p>
          <button type="button" class="primary" onClick={onTest}>
            <Icon name="send" />
            Send a test event
          </button>
        </p>
      )}
      <p>
        {onTest
          ? "Or send one yourself, in another terminal:"
          : "In another terminal, send one that is signed:"}
      </p>
      {ofEachKind.map((listener) => (
        <Command key={listener.id} text={sendCommand(listener, listener === first)} onCopy={onCopy} />
      ))}
      {first && (
        <>
          <p>and one that is not, to see a refusal explained:</p>
          <Command
            text={`curl -i -H 'Content-Type: application/json' --data '{}' ${shellQuoted(first.url)}`}
            onCopy={onCopy}
          />
        </>
      )}
    </div>
  );
}

/** A port stands for the first listener there: the command finds its secret by itself. */
function sendCommand({ url, auth, scheme }: ListenerInfo, isFirst: boolean): string {
  const port = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):(\d+)\//.exec(url)?.[1];
  const target = isFirst && auth !== "jwt" && port !== undefined ? `:${port}` : shellQuoted(url);
  // A payload that every scheme can sign.
  if (scheme !== undefined) return `hookproof send ${target} --event session.revoked`;
  return `hookproof send ${target}${auth === "jwt" ? " --method jwt --key KEY-ID" : ""} --data '${EVENT}'`;
}

/** A command that is copied by a click. */
export function Command({ text, onCopy }: { text: string; onCopy(text: string, what: string): void }) {
  return (
    <button type="button" class="command mono" title="Copy" onClick={() => onCopy(text, "command")}>
      <span>{text}</span>
      <Icon name="copy" />
    </button>
  );
}
