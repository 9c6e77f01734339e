// What holds listeners' events back in the memory store: a pause, a rest, or that nobody knows them.
import { UNKNOWN_MAX_MS, UNKNOWN_MS } from "../engine.js";
import type { ListenerPause } from "../records.js";

/** What keeps a listener's events from being claimed. */
interface HeldListener {
  readonly paused?: ListenerPause;
  readonly restsUntil?: number;
  /** When the rest was noted. */
  readonly restedAt?: number;
  /** Set while no function of listeners knows it. */
  readonly unknown?: { readonly since: number; readonly until: number } | undefined;
}

/** The listeners that are held, or were. */
export class MemoryHolds {
  readonly #held = new Map<string, HeldListener>();

  of(listener: string): HeldListener {
    return this.#held.get(listener) ?? {};
  }

  isPaused(listener: string): boolean {
    return this.of(listener).paused !== undefined;
  }

  /** Whether the events of a listener are put aside. */
  isAside(listener: string): boolean {
    return this.isPaused(listener) || this.of(listener).unknown !== undefined;
  }

  /** Whether nothing of a listener is claimed. */
  isHeld(listener: string, now: number): boolean {
    return this.isPaused(listener) || (this.of(listener).restsUntil ?? 0) > now;
  }

  paused(): string[] {
    return [...this.#held.keys()].filter((listener) => this.isPaused(listener));
  }

  /** Unknown listeners that are to be asked for again. */
  unknown(now: number): string[] {
    const isDue = ({ paused, unknown }: HeldListener) => !paused && unknown && unknown.until <= now;
    return [...this.#held].filter(([, held]) => isDue(held)).map(([listener]) => listener);
  }

  pause(listener: string, reason: string | undefined, now: number): void {
    const { paused: { since = now } = {}, ...rest } = this.of(listener);
    this.#held.set(listener, { ...rest, paused: { since, ...(reason && { reason }) } });
  }

  markUnknown(listener: string, now: number): void {
    const { since = now, until = 0 } = this.of(listener).unknown ?? {};
    const pauseMs = Math.min(UNKNOWN_MAX_MS, Math.max(UNKNOWN_MS, now - since));
    const unknown = { since, until: until > now ? until : now + pauseMs };
    this.#held.set(listener, { ...this.of(listener), unknown });
  }

  rest(listener: string, ms: number, now: number): void {
    const known = restAt(this.of(listener), now);
    const restsUntil = Math.max(now + ms, known.restsUntil ?? 0);
    this.#held.set(listener, { ...known, restsUntil, restedAt: now });
  }

  /** Ends one reason for which a listener's events are apart. */
  end(listener: string, reason: "paused" | "unknown"): void {
    const { [reason]: _, ...rest } = this.of(listener);
    this.#held.set(listener, rest);
  }

  /** The latest time at which something was noted of a listener, by the clock of then. */
  lastNoted(): number {
    let last = 0;
    for (const { restedAt = 0, unknown, paused } of this.#held.values())
      last = Math.max(last, restedAt, unknown?.since ?? 0, paused?.since ?? 0);
    return last;
  }

  /** Follows a clock that was last seen at `seenAt` and was put back to `now`. */
  followClock(seenAt: number, now: number): void {
    const follow = (time: number) => (time > seenAt ? time - (seenAt - now) : Math.min(time, now));
    for (const [listener, { paused, unknown, ...rest }] of this.#held)
      this.#held.set(listener, {
        ...restAt(rest, now),
        ...(paused && { paused: { ...paused, since: Math.min(paused.since, now) } }),
        ...(unknown && { unknown: { since: Math.min(unknown.since, now), until: follow(unknown.until) } }),
      });
  }
}

/** A rest that was noted before the clock was put back is as much shorter. */
function restAt(held: HeldListener, now: number): HeldListener {
  const { restsUntil = 0, restedAt = 0 } = held;
  return restedAt > now ? { ...held, restsUntil: restsUntil - (restedAt - now), restedAt: now } : held;
}
