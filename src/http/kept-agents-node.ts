import { type ClientRequest, Agent as HttpAgent, type RequestOptions } from "node:http";
import { type AgentOptions, Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { rememberLast } from "../primitives/remember-last.js";
import type { HeaderPair } from "../protocol/headers.js";

/** How long a connection may be idle, if its server does not say less. */
const IDLE_MS = 30_000;

/** How often idle connections are looked at. */
const SWEEP_MS = 1_000;

/** So much earlier than its server a connection is closed: its clock began while the answer was on its way. */
const EARLIER_MS = 1_000;

interface Kept {
  limitMs: number;
  idleSince: number;
}

const kept = new WeakMap<object, Kept>();

/**
 * Agents that keep connections and close idle ones, all from one timer: a time limit on each socket, which is what
 * Node's own agent has, is moved by every read and every write (docs/decisions.md, S19).
 */
export function keptAgents(options: AgentOptions) {
  const all = { ...options, keepAlive: true };
  return { "http:": closingIdle(new OneHostAgent(all)), "https:": closingIdle(new HttpsAgent(all)) };
}

/** Takes what a server says about how long it keeps the connection of this answer. */
export function noteKeepAlive(socket: object, headers: readonly HeaderPair[]): void {
  const said = headers.find(([name]) => name.length === 10 && name.toLowerCase() === "keep-alive")?.[1];
  if (said !== undefined) keptOf(socket).limitMs = limitOf(said);
}

const limitOf = rememberLast((said: string) => {
  const seconds = /^timeout=(\d+)/.exec(said)?.[1];
  return seconds === undefined ? IDLE_MS : Math.min(IDLE_MS, Number(seconds) * 1_000 - EARLIER_MS);
});

function keptOf(socket: object): Kept {
  let known = kept.get(socket);
  if (!known) {
    known = { limitMs: IDLE_MS, idleSince: 0 };
    kept.set(socket, known);
  }
  return known;
}

/** What comes over an idle connection answers nothing, and would be read for as long as it came. */
function unasked(this: Socket): void {
  this.destroy();
}

function closingIdle<Agent extends HttpAgent>(agent: Agent): Agent {
  let sweeper: NodeJS.Timeout | undefined;

  /** Closes what would be late by the next time. The oldest come first, and an agent skips closed ones there. */
  function sweep(): void {
    const idle = Object.values(agent.freeSockets).flatMap((sockets = []) => sockets);
    const before = performance.now() + SWEEP_MS;
    for (const socket of idle) {
      const { idleSince, limitMs } = keptOf(socket);
      if (idleSince + limitMs < before) socket.destroy();
    }
    if (idle.length > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }

  return Object.assign(agent, {
    keepSocketAlive(socket: Socket): boolean {
      const state = keptOf(socket);
      if (state.limitMs <= 0) return false;
      socket.setKeepAlive(true, 1_000);
      socket.unref();
      state.idleSince = performance.now();
      socket.on("data", unasked);
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
      return true;
    },
    reuseSocket(socket: Socket, request: ClientRequest): void {
      socket.off("data", unasked);
      HttpAgent.prototype.reuseSocket.call(agent, socket, request);
    },
  });
}

/** Puts the name of its pool together once and not for every request, as a sender has only one host. */
class OneHostAgent extends HttpAgent {
  #last = { host: "", port: "", name: "" };

  override getName(options: RequestOptions = {}): string {
    const [host, port] = [String(options.host), String(options.port)];
    if (this.#last.host !== host || this.#last.port !== port)
      this.#last = { host, port, name: super.getName(options) };
    return this.#last.name;
  }
}
