// Reads the server's events and connects again when the stream ends.
import type { InspectorEvents } from "../../src/inspector/contract.js";
import type { Api } from "./api.js";
import { ApiError } from "./call.js";

/** One event of the server, as it is handed from tab to tab. */
export type StreamEvent = {
  [Name in keyof InspectorEvents]: {
    readonly name: Name;
    readonly id: string;
    readonly data: InspectorEvents[Name];
  };
}[keyof InspectorEvents];

const NAMES: readonly string[] = [
  "rows",
  "dropped",
  "forced",
  "calls",
  "reset",
] satisfies (keyof InspectorEvents)[];
const RETRY_MS = [300, 600, 1_200, 2_400];

interface StreamOptions {
  readonly api: Pick<Api, "events">;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** The last event that is known, read again before every connection. */
  after(): string;
  onEvent(event: StreamEvent): void;
  onConnection(connected: boolean): void;
  /** The server does not take this page's token any more. */
  onRefused(): void;
}

/**
 * Reads the server's events until the signal, and connects again whenever the stream ends. The browser's own
 * EventSource cannot send the page's token.
 */
export async function readEventStream(options: StreamOptions): Promise<void> {
  const { api, signal, after, onEvent, onConnection, onRefused } = options;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const stream = await api.events(after(), signal);
      failures = 0;
      onConnection(true);
      await readEvents(stream, onEvent);
    } catch (error) {
      // A server that is gone, or its refusal: there is no stream.
      if (error instanceof ApiError && error.status === 403) onRefused();
    }
    if (signal.aborted) return;
    onConnection(false);
    const pause = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The events of a stream of server-sent events, until it ends. */
async function readEvents(
  stream: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let rest = "";
  let id = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const blocks = (rest + piece.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line): [string, string] => {
          const at = line.indexOf(":");
          return [line.slice(0, at), line.slice(at + 1).trimStart()];
        }),
      );
      id = fields.get("id") ?? id;
      const name = fields.get("event") ?? "";
      if (NAMES.includes(name))
        onEvent({ name, id, data: JSON.parse(fields.get("data") ?? "{}") } as StreamEvent);
    }
  }
}
