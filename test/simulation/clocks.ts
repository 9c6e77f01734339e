import { EPOCH, type VirtualTime } from "./virtual-time.js";

/** A clock of one machine: it may be off, run fast or slow, and be set. */
export class DrawnClock {
  readonly #time: VirtualTime;
  readonly #rate: number;
  #offMs: number;
  #held: number | undefined;

  constructor(time: VirtualTime, { offMs = 0, rate = 1 }: { offMs?: number; rate?: number } = {}) {
    this.#time = time;
    this.#offMs = offMs;
    this.#rate = rate;
  }

  now(): number {
    if (this.#held !== undefined) return this.#held;
    return Math.floor(EPOCH + this.#offMs + this.#time.now * this.#rate);
  }

  /** Does something at another time of this clock: that of a transaction, which began before. */
  at(now: number | undefined, work: () => void): void {
    this.#held = now;
    work();
    this.#held = undefined;
  }

  /** Never set, as the machine's monotonic clock is not. */
  monotonic(): number {
    return Math.floor(this.#time.now * this.#rate);
  }

  jump(ms: number): void {
    this.#offMs += ms;
  }

  /** Sets it right. */
  heal(): void {
    this.#offMs = this.#time.now * (1 - this.#rate);
  }
}
