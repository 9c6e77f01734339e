// Keeps to the pace that a listener asks for with 429, or with 503 and Retry-After.
import type { Clock } from "../../core/clock.js";
import { isNamed } from "../../core/headers.js";
import type { TransportResponse } from "../../http/transport.js";
import { classifyTransient } from "../../schemes/classification.js";

/** How long one run waits at most, all pauses together. */
const PATIENCE_MS = 120_000;

/** How many pauses in a row change nothing before a listener is taken for one that answers 429 to everything. */
const IN_VAIN = 3;

/** The first pause where the answer names none; each one in vain doubles it. */
const FIRST_MS = 1_000;

/** The pauses of one run: all its requests wait together. */
export class Pace {
  readonly #clock: Clock;
  readonly #wait: (ms: number) => Promise<void>;
  #leftMs = PATIENCE_MS;
  #inVain = 0;
  #pause: Promise<void> | undefined;

  constructor(clock: Clock, wait: (ms: number) => Promise<void>) {
    this.#clock = clock;
    this.#wait = wait;
  }

  /** Resolves when the next request may be sent. */
  async ready(): Promise<void> {
    await this.#pause;
  }

  /** Waits where an answer asks for that; resolves to whether the request is to be made and sent again. */
  async isToRepeat({ status, headers }: Pick<TransportResponse, "status" | "headers">): Promise<boolean> {
    const isAsked =
      status === 429 || (status === 503 && headers.some((line) => isNamed(line, "retry-after")));
    if (!isAsked) {
      this.#inVain = 0;
      return false;
    }
    if (!this.#pause) {
      const asked = classifyTransient({ status, headers }, this.#clock.now());
      const named = asked?.outcome === "retry" ? asked.retryAfterMs : undefined;
      const ms = named ?? FIRST_MS * 2 ** this.#inVain;
      if (this.#inVain === IN_VAIN || ms > this.#leftMs) return false;
      this.#inVain += 1;
      this.#leftMs -= ms;
      this.#pause = this.#wait(ms).finally(() => {
        this.#pause = undefined;
      });
    }
    await this.#pause;
    return true;
  }
}
