import { Random } from "./random.js";

/** What happens at a moment of the simulated time. */
export interface Step {
  at: number;
  order: number;
  /** Whose step it is: a process that is dead makes no more, one that is paused makes them later. */
  readonly owner: string;
  readonly run: () => void;
  isOff: boolean;
  /** Whether it waits for the end of its owner's pause. */
  isHeld?: boolean;
}

/** Where the time of day of the simulated world begins. */
export const EPOCH = Date.UTC(2027, 0, 1);

/**
 * The time of a simulated world: steps in the order of their moments. All that a step sets off in promises runs before
 * the next one begins. Milliseconds.
 */
export class VirtualTime {
  now = 0;
  steps = 0;
  stoodStillMs = 0;
  /** Whose step is being made. */
  owner = "world";
  readonly random: Random;
  readonly #heap: Step[] = [];
  readonly #dead = new Set<string>();
  readonly #paused = new Map<string, number>();
  readonly #outside = new Set<Promise<unknown>>();
  #orders = 0;

  constructor(seed: number) {
    this.random = new Random(seed, "randomness of the code");
  }

  after(ms: number, owner: string, run: () => void): Step {
    const step = { at: this.now + Math.max(0, ms), order: this.#orders++, owner, run, isOff: false };
    push(this.#heap, step);
    return step;
  }

  /** Work of this machine that is no part of the simulated world: no step is made before it has ended. */
  outside<Value>(work: Promise<Value>): Promise<Value> {
    this.#outside.add(work);
    const end = () => this.#outside.delete(work);
    work.then(end, end);
    return work;
  }

  kill(owner: string): void {
    this.#dead.add(owner);
  }

  isDead(owner: string): boolean {
    return this.#dead.has(owner);
  }

  /** Makes no step of the owner's before this moment; a longer pause that it is in goes on. */
  pause(owner: string, until: number): void {
    this.#paused.set(owner, Math.max(until, this.#paused.get(owner) ?? 0));
  }

  /** Ends a pause: what waited for its end is done now. */
  resume(owner: string): void {
    this.#paused.delete(owner);
    for (const step of this.#heap.splice(0)) {
      if (step.owner === owner && step.isHeld) Object.assign(step, { at: this.now, isHeld: false });
      push(this.#heap, step);
    }
  }

  /**
   * All stand still for so long, as machines do that were suspended: what was due meanwhile is done late. What these
   * owners have planned comes as much later.
   */
  standStill(ms: number, planners: (owner: string) => boolean): void {
    this.now += ms;
    this.stoodStillMs += ms;
    for (const step of this.#heap.splice(0)) {
      if (planners(step.owner)) step.at += ms;
      push(this.#heap, step);
    }
  }

  /** Makes steps until there is none, or `isDone` says so after one. */
  async run(isDone: () => boolean): Promise<void> {
    const others = active;
    const { stackTraceLimit } = Error;
    active = this;
    Error.stackTraceLimit = 0; // thousands of errors are part of the world
    try {
      for (let step = this.#next(); step; step = this.#next()) {
        this.now = Math.max(this.now, step.at);
        this.owner = step.owner;
        this.steps += 1;
        step.run();
        await this.#settled();
        const isEnd = isDone();
        if (this.#outside.size > 0) await this.#settled();
        if (isEnd) return;
      }
    } finally {
      active = others;
      Error.stackTraceLimit = stackTraceLimit;
      this.owner = "world";
    }
  }

  async #settled(): Promise<void> {
    await allPromises();
    while (this.#outside.size > 0) {
      await Promise.allSettled(this.#outside);
      await allPromises();
    }
  }

  #next(): Step | undefined {
    for (;;) {
      const step = pop(this.#heap);
      if (!step) return undefined;
      if (step.isOff || this.#dead.has(step.owner)) continue;
      const until = this.#paused.get(step.owner) ?? 0;
      if (until <= step.at) return step;
      Object.assign(step, { at: until, isHeld: true });
      push(this.#heap, step);
    }
  }
}

/** The world whose code runs at the moment. */
let active: VirtualTime | undefined;

export function activeTime(): VirtualTime | undefined {
  return active;
}

const realImmediate = globalThis.setImmediate;

/** Resolves when nothing waits in the queue of promises. */
function allPromises(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}

function isBefore(a: Step, b: Step): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Step[], step: Step): void {
  let place = heap.push(step) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent] as Step;
    if (!isBefore(step, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = step;
}

function pop(heap: Step[]): Step | undefined {
  const [top] = heap;
  const last = heap.pop();
  if (!last || heap.length === 0) return top;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    const right = heap[child + 1];
    if (right && isBefore(right, heap[child] as Step)) child += 1;
    const below = heap[child];
    if (!below || !isBefore(below, last)) break;
    heap[place] = below;
    place = child;
  }
  heap[place] = last;
  return top;
}
