import type { InspectorEvents } from "../../src/inspector/contract.js";

/** One event of the server, as it is handed from tab to tab. */
export type StreamEvent = {
  [Name in keyof InspectorEvents]: {
    readonly name: Name;
    readonly id: string;
    readonly data: InspectorEvents[Name];
  };
}[keyof InspectorEvents];

const NAMES = ["rows", "dropped", "forced", "reset"] as const satisfies readonly (keyof InspectorEvents)[];
const RETRY_MS = [300, 600, 1_200, 2_400];

interface StreamOptions {
  /** The last event that is known, read again before every connection. */
  after(): string;
  onEvent(event: StreamEvent): void;
  onConnection(connected: boolean): void;
}

/** Reads the server's events, and connects again for as long as it is not closed. */
export function openEventStream({ after, onEvent, onConnection }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  function connect(): void {
    source = new EventSource(`api/events?after=${encodeURIComponent(after())}`);
    source.onopen = () => {
      failures = 0;
      onConnection(true);
    };
    // The browser's own retries end for good at an answer that is no stream, such as a proxy's 502.
    source.onerror = () => {
      source?.close();
      onConnection(false);
      timer = setTimeout(connect, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
    };
    for (const name of NAMES)
      source.addEventListener(name, ({ data, lastEventId }) =>
        onEvent({ name, id: lastEventId, data: JSON.parse(data) }),
      );
  }

  connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
