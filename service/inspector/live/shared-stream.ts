import type { Api } from "./api.js";
import { openEventStream, type StreamEvent } from "./event-stream.js";

type Message = { readonly event: StreamEvent } | { readonly connected: boolean };

interface SharedStreamOptions {
  readonly api: Pick<Api, "events">;
  onEvent(event: StreamEvent): void;
  onConnection(connected: boolean): void;
}

/** The server's events, read by one tab for all of them. */
export interface SharedStream {
  /** Takes part in reading, from an event on; until then events of other tabs are heard already. */
  join(after: string): void;
}

const NAME = "hookproof-inspector";

/**
 * Browsers open six connections to an origin, and a stream of events keeps one for good: the seventh tab would
 * wait for ever. So the tab that holds a lock reads the stream and hands it on; when it closes, the lock passes
 * to another one.
 */
export function createSharedStream({ api, onEvent, onConnection }: SharedStreamOptions): SharedStream {
  const channel = new BroadcastChannel(NAME);
  let last = "";
  let joined = false;

  const receive = (message: Message) => {
    if ("connected" in message) onConnection(message.connected);
    else {
      last = message.event.id || last;
      onEvent(message.event);
    }
  };
  const tell = (message: Message) => {
    channel.postMessage(message);
    receive(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data);

  function lead(): void {
    openEventStream({
      api,
      after: () => last,
      onEvent: (event) => tell({ event }),
      onConnection: (connected) => tell({ connected }),
    });
  }

  return {
    join(after) {
      last = after;
      if (joined) return;
      joined = true;
      // Locks exist on loopback and over HTTPS only. The promise never settles: the lock is kept until the tab is gone.
      if (navigator.locks) void navigator.locks.request(NAME, () => new Promise<never>(lead));
      else lead();
    },
  };
}
