// The listeners of an outbox: a map, or a function whose answers are kept.
import { type Clock, lookedUp, monotonicMs } from "../core/clock.js";
import { checkWholeNumber } from "../core/options.js";
import type { Observer } from "../sender/observe.js";
import { type OutboxListener, type OutboxListenerOptions, outboxListener } from "./listener.js";
import { type LookupFailure, LookupFailures } from "./lookup-failures.js";
import type { DueListener } from "./outbox-store.js";

/**
 * Gives the options of the listener of a name, such as a tenant of your database; `undefined` if there is no such
 * listener. If it throws, takes longer than 10 seconds or gives options that cannot work, the events of that listener
 * wait, and it is asked again 5 seconds later, then ever later, down to once a minute. If it fails for all, it is asked
 * about 100 names a second, until it answers. Other listeners are not affected.
 *
 * @example
 * ```ts
 * import { hmacSigner } from "hookproof";
 * import { createOutbox, type ListenerLookup, memoryStore } from "hookproof/outbox";
 *
 * declare function findTenant(name: string): Promise<{ url: string; secret: string } | undefined>;
 *
 * const listeners: ListenerLookup = async (name) => {
 *   const tenant = await findTenant(name);
 *   return tenant && { url: tenant.url, signer: hmacSigner({ secret: tenant.secret }) };
 * };
 * const outbox = createOutbox({ store: memoryStore(), listeners });
 * await outbox.enqueue({ listener: "acme", payload: { type: "user.offboarded" } });
 * await outbox.forget("acme"); // after this tenant was changed
 * ```
 */
export type ListenerLookup = (
  name: string,
) => OutboxListenerOptions | undefined | Promise<OutboxListenerOptions | undefined>;

/** How long the answers of a function of listeners are kept. */
export interface ListenerCache {
  /**
   * How long an answer is kept, in milliseconds, at most an hour; 60,000 by default. That there is no such listener, or
   * that the function failed for it, is kept for 5,000 at most the first time.
   */
  readonly ttlMs?: number | undefined;
  /**
   * How many listeners are kept at most; the oldest are dropped first. 10,000 by default. With more listeners that have
   * due events all are delivered to as well, and the function is asked more often: once for each time that events of
   * one are claimed.
   */
  readonly max?: number | undefined;
}

/** What making listeners needs of the outbox. */
interface ListenersContext {
  readonly clock: Clock;
  readonly observe: Observer | undefined;
  /** Takes warnings, also where there is no observer. */
  readonly notice: Observer;
  /** How long a lease lasts: an attempt has to be shorter. */
  readonly leaseMs: number;
}

/** About how many names the function is asked at once, so that a start with many tenants does not flood a database. */
const MAX_LOOKUPS = 1_000;
/** Of so many names without a listener it is noted at most when they may be asked for again: a few megabytes. */
const MAX_NOBODY = 100_000;
/** After so long the function is asked again about a listener that it did not know, or that it failed for. */
const AGAIN_MS = 5_000;
const HOUR_MS = 60 * 60_000;

/** What is known of a listener. */
interface Known {
  /** Its last answer, whose attempts may be under way: the next one goes on with its limits. */
  readonly listener: OutboxListener;
  /** When it counts no more, by the monotonic clock. */
  readonly until: number;
  /** Which change of its options it is of; see `DueListener`. */
  readonly changedAt: number;
}

/** What is known of a name that leads to no listener. */
interface Nobody {
  /** When it may be asked for again, by the monotonic clock. */
  readonly until: number;
  readonly changedAt: number;
  /** Absent where the function says that there is none. */
  readonly failure: LookupFailure | undefined;
}

/** What the function said of a name; `forgotten` if that counts no more, as the name was forgotten meanwhile. */
export type LookedUp = OutboxListener | "unknown" | "failed" | "forgotten";

/** An outbox's listeners: all of a map, or one after another from a function. */
export class Listeners {
  readonly #context: ListenersContext;
  readonly #lookup: ListenerLookup | undefined;
  readonly #ttlMs: number;
  readonly #max: number;
  /** Of a map, all; of a function, those that it gave lately, the oldest first. */
  readonly #known = new Map<string, Known>();
  /** Names that it does not know, or failed for, the oldest first. None of them pushes out a listener. */
  readonly #nobody = new Map<string, Nobody>();
  readonly #failures = new LookupFailures();
  /** How many of `#nobody` are names that it failed for. */
  #failing = 0;
  readonly #asking = new Map<string, Promise<LookedUp>>();
  /** Names about which there was a warning, until there is a listener. */
  readonly #warned = new Set<string>();

  /** @throws {TypeError | RangeError | HookproofError} for options that cannot work */
  constructor(
    given: Readonly<Record<string, OutboxListenerOptions>> | ListenerLookup,
    { ttlMs = 60_000, max = 10_000 }: ListenerCache,
    context: ListenersContext,
  ) {
    this.#context = context;
    this.#lookup = typeof given === "function" ? given : undefined;
    if (!(ttlMs > 0 && ttlMs <= HOUR_MS))
      throw new RangeError(`listenerCache.ttlMs must be above 0 and at most ${HOUR_MS}`);
    checkWholeNumber("listenerCache.max", max);
    this.#ttlMs = ttlMs;
    this.#max = max;
    if (typeof given === "function") return;
    const all = Object.entries(given ?? {});
    if (all.length === 0) throw new TypeError("listeners must name a listener, or be a function");
    for (const [name, options] of all)
      this.#known.set(name, {
        listener: outboxListener(name, options, context),
        until: Infinity,
        changedAt: 0,
      });
  }

  /** Whether they come from a function, so that any name may be one. */
  get usesLookup(): boolean {
    return this.#lookup !== undefined;
  }

  /** Whether the function is asked about some name at this moment. */
  get isAsking(): boolean {
    return this.#asking.size > 0;
  }

  /** Whether it is asked about as many names as it may be at once. */
  get isFull(): boolean {
    return this.#asking.size >= MAX_LOOKUPS;
  }

  /** The names that are known at this moment, also those of no listener. */
  get names(): readonly string[] {
    return [...new Set([...this.#known.keys(), ...this.#nobody.keys()])];
  }

  /** The listeners that are known at this moment. */
  all(): OutboxListener[] {
    return [...this.#known.values()].flatMap(({ listener }) => this.get(listener.name) ?? []);
  }

  /** The listener as it was last known. */
  get(name: string): OutboxListener | undefined {
    return this.#nobody.has(name) ? undefined : this.#known.get(name)?.listener;
  }

  /** The listener as it was known before the function failed, or knew it no more: what ends its events goes by that. */
  lastKnown(name: string): OutboxListener | undefined {
    return this.#known.get(name)?.listener;
  }

  /**
   * The listener if what is known of it still counts. Otherwise the function is asked, and `onAnswer` called later; it
   * is `"full"` if that has to wait, as the function is asked about enough others, and `"later"` as it fails for all.
   */
  current(
    { listener: name, changedAt = 0 }: DueListener,
    onAnswer: (answer: LookedUp) => void,
  ): OutboxListener | "full" | "later" | undefined {
    const known = this.#known.get(name);
    if (!this.#lookup) {
      if (!known) this.#warnOnce(name, "The outbox has no such listener.");
      return known?.listener;
    }
    const nobody = this.#nobody.get(name);
    const counts = nobody?.failure && this.#failures.isOver(nobody.failure) ? undefined : (nobody ?? known);
    const isOfNow = counts !== undefined && counts.changedAt >= changedAt;
    const now = monotonicMs(this.#context.clock);
    if (isOfNow && now < counts.until) return this.get(name);
    if (this.#asking.has(name)) return undefined;
    if (this.isFull) return "full";
    const failure = isOfNow && counts === nobody ? nobody?.failure : undefined;
    if (!this.#failures.take(now, failure)) return failure ? undefined : "later";
    void this.#ask(name, changedAt).then(onAnswer);
    return undefined;
  }

  /** The listener, for work that can wait. */
  async find(name: string): Promise<OutboxListener | undefined> {
    if (this.#lookup && !this.#known.has(name)) await this.#ask(name, 0);
    return this.get(name);
  }

  /** Has the function asked again before the next claim. */
  forget(name: string): void {
    if (!this.#lookup) return;
    const known = this.#known.get(name);
    if (known) this.#known.set(name, { ...known, until: Number.NEGATIVE_INFINITY });
    this.#endNobody(name);
    this.#asking.delete(name);
  }

  /** Asks the function and remembers what it says; never rejects. */
  #ask(name: string, changedAt: number): Promise<LookedUp> {
    const asking: Promise<LookedUp> = this.#answer(name).then(
      (listener) =>
        listener ? end(listener) : end("unknown", "The function of listeners knows no such listener."),
      (error) => end("failed", `The function of listeners failed: ${Object(error).message ?? error}`),
    );
    const end = (answer: LookedUp, why = ""): LookedUp => {
      if (this.#asking.get(name) !== asking) return "forgotten";
      this.#asking.delete(name);
      if (typeof answer === "object") this.#remember(answer, changedAt);
      else this.#noteNobody(name, changedAt, why, answer === "failed");
      return answer;
    };
    this.#asking.set(name, asking);
    return asking;
  }

  async #answer(name: string): Promise<OutboxListener | undefined> {
    const options = await this.#options(name);
    if (options === undefined || options === null) return undefined;
    const made = outboxListener(name, options, this.#context);
    const earlier = this.lastKnown(name);
    if (!earlier) return made;
    const { limits, last, alerted } = earlier;
    limits.change(options);
    return { ...made, limits, last, alerted };
  }

  async #options(name: string): Promise<OutboxListenerOptions | undefined> {
    try {
      const options = this.#lookup && (await lookedUp(this.#lookup, name));
      this.#failures.answered(this.#nobody.get(name)?.failure);
      return options;
    } catch (error) {
      this.#failures.failed();
      throw error;
    }
  }

  #remember(listener: OutboxListener, changedAt: number): void {
    const { name } = listener;
    this.#warned.delete(name);
    this.#endNobody(name);
    this.#known.delete(name);
    this.#known.set(name, { listener, until: this.#in(this.#ttlMs), changedAt });
    for (const [oldest, { listener: one }] of this.#known) {
      if (this.#known.size <= this.#max) return;
      if (!one.limits.isBusy) this.#known.delete(oldest);
    }
  }

  #noteNobody(name: string, changedAt: number, why: string, hasFailed: boolean): void {
    this.#warnOnce(name, why);
    const before = this.#nobody.get(name)?.failure;
    this.#endNobody(name);
    if (hasFailed) this.#failing += 1;
    const firstMs = Math.min(this.#ttlMs, AGAIN_MS);
    const failure = hasFailed ? this.#failures.next(before, firstMs, this.#failing) : undefined;
    this.#nobody.set(name, { until: this.#in(failure?.pauseMs ?? firstMs), changedAt, failure });
    const [oldest = name] = this.#nobody.keys();
    if (this.#nobody.size > MAX_NOBODY) this.#endNobody(oldest);
  }

  #endNobody(name: string): void {
    if (this.#nobody.get(name)?.failure) this.#failing -= 1;
    this.#nobody.delete(name);
  }

  /** A time so many milliseconds from now, by the monotonic clock. */
  #in(ms: number): number {
    return monotonicMs(this.#context.clock) + ms;
  }

  #warnOnce(name: string, why: string): void {
    if (this.#warned.has(name) || this.#warned.size >= this.#max) return;
    this.#warned.add(name);
    const message = `Events for the listener ${JSON.stringify(name)} wait, until their window closes. ${why}`;
    this.#context.notice({ type: "warning", url: "", listener: name, message });
  }
}
