// Says to the store that this worker is alive, and at its end that it has stopped.
import { type Clock, monotonicMs } from "../core/clock.js";
import { newEventId } from "../core/event.js";
import type { Observer } from "../sender/observe.js";
import type { OutboxStore } from "./outbox-store.js";
import { innermostWords } from "./store-calls.js";

const SAY_EVERY_MS = 10_000;

/** What a worker needs to be seen. */
interface SignContext {
  readonly store: OutboxStore;
  /** What it is called, where the user has said so. */
  readonly worker: string | undefined;
  readonly clock: Clock;
  readonly notice: Observer;
}

/** The signs of life of one worker. Nothing waits for them, and nothing depends on them. */
export class SignOfLife {
  readonly #context: SignContext;
  readonly #id = newEventId();
  readonly #name: string;
  #startedAt: number | undefined;
  #due = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | undefined;
  /** Whether the last one failed; only the first failure is reported. */
  #isFailing = false;

  constructor(context: SignContext) {
    this.#context = context;
    this.#name = context.worker ?? ownName();
  }

  /** Says that the worker is alive if it is time to; never throws. While a store does not answer, it is asked once. */
  begin(): void {
    const now = monotonicMs(this.#context.clock);
    if (this.#underWay || now < this.#due) return;
    this.#startedAt ??= now;
    this.#due = now + SAY_EVERY_MS;
    this.#underWay = this.#say(false).finally(() => {
      this.#underWay = undefined;
    });
  }

  /** Says that the worker has stopped, if it ever said that it is alive. */
  async gone(): Promise<void> {
    if (this.#startedAt === undefined) return;
    await this.#underWay;
    await this.#say(true);
  }

  async #say(isGone: boolean): Promise<void> {
    const { store, clock } = this.#context;
    try {
      const now = monotonicMs(clock);
      const runsForMs = now - (this.#startedAt ?? now);
      await store.alive({ id: this.#id, name: this.#name, runsForMs }, isGone);
      this.#isFailing = false;
    } catch (error) {
      await this.#reportFailure(error, isGone);
    }
  }

  /** An outage is reported by StoreCalls: a store that knows the time may still be one whose tables are gone. */
  async #reportFailure(error: unknown, isGone: boolean): Promise<void> {
    const { store, notice } = this.#context;
    const isReachable = await store.now().then(Number.isFinite, () => false);
    if (!isReachable || this.#isFailing) return;
    this.#isFailing = true;
    const what = isGone ? "has stopped" : "is alive; events are delivered all the same";
    const message = `The outbox cannot note that this worker ${what}. Cause: ${innermostWords(error)}`;
    notice({ type: "warning", url: "", message });
  }
}

/** Host and process: what a person looks for who finds a worker silent. Some runtimes have neither, or do not say. */
function ownName(): string {
  try {
    const { process } = globalThis as {
      process?: { pid?: number; getBuiltinModule?(id: "os"): { hostname(): string } | undefined };
    };
    const host = process?.getBuiltinModule?.("os")?.hostname();
    return host === undefined ? "worker" : `${host}:${process?.pid}`;
  } catch {
    return "worker";
  }
}
