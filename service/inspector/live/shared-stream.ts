// Shares one stream of events among all tabs.
import type { Api } from "./api.js";
import { readEventStream, type StreamEvent } from "./event-stream.js";

type Message = { readonly event: StreamEvent } | { readonly connected: boolean };

interface SharedStreamOptions {
  readonly api: Pick<Api, "events">;
  onEvent(event: StreamEvent): void;
  onConnection(connected: boolean): void;
}

/** The server's events, read by one tab for all of them. */
interface SharedStream {
  /** Hears the events of other tabs of one run of the server; those of another run are heard no more. */
  hear(instance: string): void;
  /** Takes part in reading the events of that run, from one on. */
  join(after: string): void;
}

/** The tabs of one run of the server. */
interface Circle {
  readonly name: string;
  readonly channel: BroadcastChannel;
  readonly leave: AbortController;
  isJoined: boolean;
}

/**
 * Browsers open six connections to an origin, and a stream of events keeps one as long as it is read: the seventh
 * tab would wait for ever. So the tab that holds a lock reads the stream and hands it on; when it closes, the lock passes
 * to another one. Each run of a server has a lock of its own: a tab that an earlier run has left behind has another
 * token, and would hold the lock without being let in.
 */
export function createSharedStream({ api, onEvent, onConnection }: SharedStreamOptions): SharedStream {
  let last = "";
  let circle: Circle | undefined;

  function receive(message: Message): void {
    if ("connected" in message) onConnection(message.connected);
    else {
      last = message.event.id || last;
      onEvent(message.event);
    }
  }

  function lead({ channel, leave: { signal } }: Circle): Promise<void> {
    let isRefused = false;
    const emit = (message: Message) => {
      if (signal.aborted) return;
      channel.postMessage(message);
      receive(message);
    };
    return readEventStream({
      api,
      signal,
      after: () => last,
      onEvent: (event) => emit({ event }),
      onConnection(connected) {
        if (connected) isRefused = false;
        emit({ connected });
      },
      onRefused() {
        // Every tab loads again, and finds out what it may still see.
        if (!isRefused) emit({ event: { name: "reset", id: "", data: {} } });
        isRefused = true;
      },
    });
  }

  return {
    hear(instance) {
      const name = `hookproof-inspector ${instance}`;
      if (circle?.name === name) return;
      circle?.leave.abort();
      circle?.channel.close();
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
      circle = { name, channel, leave: new AbortController(), isJoined: false };
    },
    join(after) {
      last = after;
      if (!circle || circle.isJoined) return;
      const joined = circle;
      joined.isJoined = true;
      const { signal } = joined.leave;
      // Locks exist on loopback and over HTTPS only. A lock is kept until the tab is gone, or hears another run.
      if (navigator.locks)
        navigator.locks.request(joined.name, { signal }, () => lead(joined)).catch(() => {});
      else void lead(joined);
    },
  };
}
