import { clearInterval, setInterval } from "node:timers";
import { HookproofError } from "../errors.js";

/** All that may be read between a request and the end of its answer's headers, with whatever TLS adds. */
const MOST_BYTES_AHEAD = 65_536;

/** How often all waiting exchanges are looked at. */
const LOOK_MS = 20;

/** A connection, as far as it is looked at. */
export interface CountingSocket {
  readonly bytesRead: number;
}

interface Watch {
  readonly socket: CountingSocket;
  readonly limit: number;
  readonly tooMuch: () => void;
  readonly isOver: (() => boolean) | undefined;
}

const watches = new Set<Watch>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls back once when more is read from here on than stands ahead of any answer. A parser skips line ends before a
 * status line without an event, so only the connection itself can tell.
 *
 * @param isOver whether the watch has ended by itself, where nothing tells of it
 * @returns a function that ends the watch; to be called when the answer's headers are there, and at the end
 */
export function watchBytesAhead(
  socket: CountingSocket,
  tooMuch: () => void,
  isOver?: () => boolean,
): () => void {
  const watch = { socket, limit: socket.bytesRead + MOST_BYTES_AHEAD, tooMuch, isOver };
  watches.add(watch);
  timer ??= setInterval(look, LOOK_MS).unref();
  return () => watches.delete(watch);
}

function look(): void {
  for (const watch of watches) {
    const isOver = watch.isOver?.() === true;
    if (!isOver && watch.socket.bytesRead <= watch.limit) continue;
    watches.delete(watch);
    if (!isOver) watch.tooMuch();
  }
  if (watches.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** What an exchange fails with that `watchBytesAhead` ends. */
export function tooMuchAhead(): HookproofError {
  return new HookproofError("RESPONSE_INVALID", "More than 64 KiB came, and no answer's headers in them.");
}
