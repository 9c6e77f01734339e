// The local listeners that tools can see, and those they have started.
import { once } from "node:events";
import { connect } from "node:net";
import { CliError, EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { readSession, sessionPorts } from "../serve/sessions.js";
import { type Answer, callCommand, type Document } from "./call-command.js";

/** The most listeners that one session of an assistant runs. */
const MAX = 5;
const ANSWER_LIMIT_MS = 5_000;

/** The local listeners, and those among them that were started here. */
export interface Listeners {
  /** Runs `hookproof listen` in this process until it is stopped. */
  start(words: readonly string[]): Promise<Answer>;
  /** Stops a listener that was started here. */
  stop(port: number): Promise<Answer>;
  /** Every local listener of this user. */
  list(): Promise<Answer>;
  close(): Promise<void>;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/** No listener yet; `close` ends those that were started. */
export function localListeners(io: Io): Listeners {
  const running = new Map<number, Running>();
  const closing = new AbortController();
  const all = new Set<Promise<unknown>>();
  let starting = 0;

  async function end(port: number): Promise<void> {
    const listener = running.get(port);
    listener?.stop.abort();
    await listener?.ended;
  }

  async function start(words: readonly string[]): Promise<Answer> {
    const { listen } = await import("../commands/listen.js");
    const stop = new AbortController();
    let ready: (document: Document) => void = () => {};
    const listening = new Promise<Document>((resolve) => {
      ready = resolve;
    });
    const signal = AbortSignal.any([stop.signal, closing.signal]);
    // Only the first document is an answer; of each request the inspector tells when it is asked.
    const ended = callCommand({ command: listen, words, env: io.env, signal, onDocument: ready });
    all.add(ended);
    void ended.then(() => all.delete(ended));
    const first = await Promise.race([listening, ended.then(() => undefined)]);
    if (first === undefined || first.ok === false) return { documents: first ? [first] : [] };
    // The page's address has a token in it, with which requests are signed.
    const { inspectorUrl: _secret, ...document } = first;
    const port = Number(new URL(String(first.url)).port);
    running.set(port, { stop, ended });
    void ended.then(() => running.delete(port));
    return { documents: [document] };
  }

  return {
    async start(words) {
      if (running.size + starting >= MAX)
        throw new CliError(EXIT.usage, "LISTENERS_TOO_MANY", `${MAX} listeners run already.`, {
          hint: "Stop one with the tool stop_listener.",
        });
      starting++;
      return start(words).finally(() => starting--);
    },
    async stop(port) {
      if (!running.has(port))
        throw new CliError(EXIT.usage, "LISTENER_NOT_OURS", `No listener on port ${port} was started here.`, {
          hint: "The one that started a listener stops it; list_listeners shows which were started here.",
        });
      await end(port);
      return { documents: [{ v: 1, type: "stopped", ok: true, port }] };
    },
    async list() {
      const listeners = await Promise.all(
        sessionPorts(io).map(async (port) => ({ ...described(io, port), answers: await answers(port) })),
      );
      const shown = listeners.map((one) => ({ ...one, startedHere: running.has(one.port) }));
      return { documents: [{ v: 1, type: "listeners", ok: true, listeners: shown }] };
    },
    async close() {
      closing.abort();
      await Promise.all(all);
    },
  };
}

/** What a session file says, without the secret and the inspector's token. */
function described(io: Io, port: number) {
  try {
    const { url, method, scheme, inspector } = readSession(io, port);
    return { port, url, method, ...(scheme ? { scheme } : {}), keepsRequests: inspector !== undefined };
  } catch {
    return { port, keepsRequests: false }; // it has ended since, or its file is damaged
  }
}

/** Whether somebody takes connections there: a listener that was killed leaves its session behind. */
async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1", timeout: ANSWER_LIMIT_MS });
  socket.once("timeout", () => socket.destroy(new Error("no answer")));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
