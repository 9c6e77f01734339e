import type { ListenerInfo } from "../../src/inspector/contract.js";
import { shellQuoted } from "../copy/shell-quoted.js";
import { Icon } from "../parts/icon.js";

interface EmptyStateProps {
  readonly listeners: readonly ListenerInfo[];
  onCopy(text: string, what: string): void;
}

const EVENT = '{"type":"user.offboarded","userId":"u_123"}';

/** What a newcomer types to see something. */
export function EmptyState({ listeners, onCopy }: EmptyStateProps) {
  const [first] = listeners;
  const ofEachKind = listeners.filter(
    ({ auth }, index) => listeners.findIndex((other) => other.auth === auth) === index,
  );
  return (
    <div class="empty">
      <h2>Nothing has been received yet.</h2>
      <p>Requests appear here as they arrive. In another terminal, send one that is signed:</p>
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
function sendCommand({ url, auth }: ListenerInfo, isFirst: boolean): string {
  const port = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):(\d+)\//.exec(url)?.[1];
  const target = isFirst && auth === "hmac" && port !== undefined ? `:${port}` : shellQuoted(url);
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
