// Sends an event of any type to any listener that something can be signed for.
import { useState } from "preact/hooks";
import type { ListenerInfo, SessionInfo, TestEventOrder } from "../../src/inspector/contract.js";
import { Choice } from "../parts/choice.js";
import { Dialog } from "../parts/dialog.js";
import { Lines } from "../parts/lines.js";
import { Problem } from "../parts/problem.js";

interface TestDialogProps {
  readonly listeners: readonly ListenerInfo[];
  /** Bodies by their type. */
  readonly examples: SessionInfo["examples"];
  /** The listener that is chosen at first. */
  readonly first: string | undefined;
  onSend(order: TestEventOrder): void;
  onClose(): void;
}

/** A test event: to which listener, and what it says. It is signed as that listener demands. */
export function TestDialog({ listeners, examples, first, onSend, onClose }: TestDialogProps) {
  const bodyOf = (name: string) => JSON.stringify(examples[name], null, 2);
  const able = listeners.filter(({ testEvent }) => testEvent !== undefined);
  const firstFor = (listener: string) =>
    able.find(({ id }) => id === listener)?.testEvent ?? Object.keys(examples)[0] ?? "";
  const [listenerId, setListenerId] = useState(first ?? able[0]?.id ?? "");
  const [type, setType] = useState(() => firstFor(listenerId));
  const [body, setBody] = useState(() => bodyOf(type));
  const [problem, setProblem] = useState("");
  const choose = (next: string) => {
    setType(next);
    setBody(bodyOf(next));
  };
  const send = (event: Event) => {
    event.preventDefault();
    try {
      JSON.parse(body);
    } catch (error) {
      return setProblem(`The body is no JSON: ${(error as Error).message}`);
    }
    onSend({ listenerId, body });
  };
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      <form onSubmit={send}>
        <Choice
          label="Listener"
          value={listenerId}
          options={listeners.map((listener) => ({
            value: listener.id,
            words: listenerLabel(listener),
            isDisabled: listener.testEvent === undefined,
          }))}
          onChoose={(id) => {
            setListenerId(id);
            choose(firstFor(id));
          }}
        />
        <Choice
          label="Event"
          value={type}
          options={Object.keys(examples).map((name) => ({ value: name }))}
          onChoose={choose}
        />
        <Lines label="Body" rows={9} value={body} onInput={setBody} />
        <Problem text={problem} />
        <footer>
          <button type="submit" class="primary">
            Sign and send
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function listenerLabel({ id, auth, scheme, testEvent }: ListenerInfo): string {
  const proof = scheme ?? (auth === "jwt" ? "token" : "signature");
  return `${id} (${proof}${testEvent ? "" : "; there is no key to sign with"})`;
}
