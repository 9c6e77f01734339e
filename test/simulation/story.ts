import type { Plan } from "./plan.js";
import type { Trace, TraceLine } from "./trace.js";

/** A request, with what became of it. */
export interface Request {
  readonly machine: string;
  readonly letter: string;
  readonly sentAt: number;
  readonly arrivedAt: number | undefined;
  readonly answer: { readonly at: number; readonly status: number } | undefined;
  /** What its worker was told. */
  readonly told: { readonly at: number; readonly word: string } | undefined;
}

interface Span {
  readonly machine: string;
  readonly from: number;
  readonly to: number;
}

const ENDS = /^(marks as delivered|reschedules|buries|gives back)$/;

/** What a trace tells, for a picture: events by letters, and what belongs together. */
export class Story {
  readonly title: string;
  readonly machines: readonly string[];
  readonly requests: readonly Request[];
  readonly runs: readonly { readonly at: number; readonly letter: string }[];
  readonly leases: readonly (Span & { readonly letter: string })[];
  readonly pauses: readonly (Span & { readonly what: string })[];
  /** What is written below a worker. */
  readonly marks: readonly { at: number; machine: string; what: string; isBad: boolean }[];
  /** All moments in their order. */
  readonly moments: readonly number[];
  readonly #lines: readonly TraceLine[];
  readonly #letters = new Map<string, string>();

  constructor(plan: Plan, { lines }: Trace) {
    this.#lines = lines;
    this.title = `Seed ${plan.seed} of the ${plan.store} store`;
    this.machines = plan.workers.map((_, index) => `w${index + 1}`);
    this.requests = this.#of("sends", (line, index) => this.#request(line, index));
    this.runs = this.#of("runs", (line) => ({ at: line.at, letter: this.#letter(line) }));
    this.leases = this.#of("claims", (line, index) => this.#lease(line, index, plan.leaseMs));
    this.pauses = this.#of("is stopped for", (line, index) => this.#pause(line, index));
    this.marks = lines.flatMap((line) => this.#mark(line));
    const spans = [...this.leases, ...this.pauses].flatMap(({ from, to }) => [from, to]);
    const ways = this.requests.flatMap(({ sentAt, arrivedAt, answer, told }) => [
      sentAt,
      ...[arrivedAt, answer?.at, told?.at].filter((at) => at !== undefined),
    ]);
    const points = [...this.runs, ...this.marks].map(({ at }) => at);
    this.moments = [...new Set([...spans, ...ways, ...points])].sort((a, b) => a - b);
  }

  #of<Item>(what: string, item: (line: TraceLine, index: number) => Item): Item[] {
    return this.#lines.flatMap((line, index) => (line.what === what ? [item(line, index)] : []));
  }

  /** An event at a listener: A, B, C and on. */
  #letter({ words: [listener, id] }: TraceLine): string {
    const name = `${listener} ${id}`;
    const known = this.#letters.get(name) ?? letterOf(this.#letters.size);
    this.#letters.set(name, known);
    return known;
  }

  #after(index: number, fits: (line: TraceLine) => boolean): TraceLine | undefined {
    return this.#lines.slice(index + 1).find(fits);
  }

  #request(line: TraceLine, index: number): Request {
    const isSame = (one: TraceLine) => one.words[0] === line.words[0] && one.words[1] === line.words[1];
    const next = this.#after(index, (one) => one.what === "sends" && isSame(one));
    const told = this.#after(
      index,
      (one) => one.what === "is told" && one.owner === line.owner && isSame(one),
    );
    const isMine = (one: TraceLine) =>
      one.owner === "receiver" && isSame(one) && (next === undefined || one.at < next.at);
    const first = this.#after(index, isMine);
    const answer = this.#after(index, (one) => isMine(one) && one.what === "answers");
    return {
      machine: machineOf(line),
      letter: this.#letter(line),
      sentAt: line.at,
      arrivedAt: first?.at,
      answer: answer && { at: answer.at, status: Number(answer.words[2]) },
      told: told && { at: told.at, word: String(told.words[2]) },
    };
  }

  /** A lease lasts until its worker ends it, or until its time is over. */
  #lease(line: TraceLine, index: number, leaseMs: number): Story["leases"][number] {
    const ended = this.#after(
      index,
      (one) => one.owner === line.owner && ENDS.test(one.what) && one.words[1] === line.words[1],
    );
    const letter = this.#letter(line);
    const over = line.at + leaseMs;
    return { machine: machineOf(line), letter, from: line.at, to: Math.min(ended?.at ?? over, over) };
  }

  #pause(line: TraceLine, index: number): Story["pauses"][number] {
    const next = this.#after(index, (one) => one.owner === line.owner);
    const until = line.at + Number(line.words[0]);
    const to = Math.min(next?.at ?? until, until);
    const what = `stopped for ${((to - line.at) / 1000).toFixed(0)} s`;
    return { machine: machineOf(line), from: line.at, to, what };
  }

  #mark(line: TraceLine): Story["marks"] {
    const { at, what, words } = line;
    const machine = machineOf(line);
    if (what === "crashes") return [{ at, machine, what, isBad: true }];
    if (words.includes("too late")) return [{ at, machine, what: "too late", isBad: true }];
    if (what === "marks as delivered") return [{ at, machine, what: "delivered", isBad: false }];
    if (what === "buries") return [{ at, machine, what: "dead letter", isBad: true }];
    return [];
  }
}

const machineOf = ({ owner }: TraceLine) => owner.replace(/\..*/, "");
const letterOf = (index: number) => String.fromCharCode(65 + (index % 26));
