// A call of a store over PostgreSQL: where it rests, and what the ledger is told of it when.
import type { ClaimedEvent } from "hookproof/outbox/store";
import { type ClaimedRow, claimedEvent } from "../../src/outbox/postgres/rows.js";
import type { DrawnClock } from "./clocks.js";
import type { Random } from "./random.js";
import type { Note } from "./store-link.js";
import type { VirtualTime } from "./virtual-time.js";

interface SqlCallOptions {
  readonly name: string;
  readonly note: Note<unknown>;
  /** The failure of the call, and how many of its statements are before that. */
  readonly failure: { after: number; readonly error: () => Error } | undefined;
  readonly clock: DrawnClock;
  readonly time: VirtualTime;
  /** How often it rests, from 0 to 1; not at all in worlds whose calls do not meet. */
  readonly pauses: number | undefined;
  /** Whether its worker is told to stop, which may take no longer than it has for it: then it rests no more. */
  readonly isToEnd: () => boolean;
  readonly random: Random;
  /** The place of the next event in the order of its key. */
  readonly nextPlace: () => number;
}

/** More than any call enqueues. */
const MOST_EVENTS = 20;

/** The ledger is told of them when they end: what others did in between must not come before. */
const ONE_BY_ONE: readonly string[] = ["prune", "stats", "deadLetters", "followClock"];

/** What of them is told changes no event. */
const UNTOLD: readonly string[] = [
  "due",
  "alive",
  "now",
  "find",
  "leases",
  "pending",
  "workers",
  "changed",
  "unknown",
];

const CHANGES = /\b(?:UPDATE|INSERT|DELETE)\b/;

export class SqlCall {
  readonly #options: SqlCallOptions;
  /** Whether it stands still between its statements, now and then. */
  readonly rests: boolean;
  #failure: SqlCallOptions["failure"];
  /** The time of the transaction: all its statements go by it. */
  #now: number | undefined;
  #changes = false;
  #hasChanged = false;
  #rows: readonly ClaimedRow[] = [];
  #lookedAt: number | undefined;
  readonly #told = new Set<string>();
  /** Events have their places when they are written, and not when that is committed. */
  #places: readonly number[] | undefined;

  constructor(options: SqlCallOptions) {
    const { pauses, random, name, failure } = options;
    this.#options = options;
    this.#failure = failure;
    this.rests = pauses !== undefined && random.chance(0.25 + 0.5 * pauses) && !ONE_BY_ONE.includes(name);
  }

  /** A call may fail as long as it has committed nothing: then the ledger knows what it did. */
  failed(): Error | undefined {
    const failure = this.#failure;
    if (!failure || failure.after-- > 0) return undefined;
    this.#failure = undefined;
    return failure.error();
  }

  hasEnded(): void {
    this.#failure = undefined;
  }

  /** How long it rests before its next statement, in milliseconds. */
  pause(): number {
    const { random, name, isToEnd } = this.#options;
    const isTold = this.#hasChanged && name !== "claim" && !UNTOLD.includes(name);
    if (!this.rests || isTold || !random.chance(0.4)) return 0;
    const ms = random.next() * random.pick([1, 30, 30, 300, 1_500] as const);
    return isToEnd() ? 0 : ms; // what is drawn for the others stays the same
  }

  begins(statement: string, isIdle: boolean, now: number): void {
    if (isIdle) [this.#now, this.#changes] = [now, false];
    this.#changes ||= CHANGES.test(statement);
  }

  /** @param results one for each of the statements */
  ended(statements: readonly string[], results: readonly unknown[]): void {
    const claim = statements.findIndex((statement) => /\.claim\(/.test(statement));
    if (claim >= 0) {
      this.#rows = (results[claim] as { rows: ClaimedRow[] }).rows;
      this.#lookedAt = this.#options.time.now;
    }
    if (statements.some((statement) => /\.store\(/.test(statement)))
      this.#places = Array.from({ length: MOST_EVENTS }, this.#options.nextPlace);
    if (statements[0] !== "COMMIT") return;
    this.#hasChanged ||= this.#changes;
    if (this.#rows.length > 0) this.#tellClaims(this.#rows.map(claimedEvent));
    this.#rows = [];
  }

  /** Others may change what was claimed as soon as it is committed. */
  #tellClaims(claims: readonly ClaimedEvent[]): void {
    for (const { lease } of claims) this.#told.add(lease.token + lease.id);
    this.#tell(claims, true);
  }

  note(value: unknown): void {
    const isClaim = this.#options.name === "claim";
    const left = (claims: readonly ClaimedEvent[]) =>
      claims.filter(({ lease }) => !this.#told.has(lease.token + lease.id));
    this.#tell(isClaim ? left(value as readonly ClaimedEvent[]) : value, false);
  }

  #tell(value: unknown, isPart: boolean): void {
    const { clock, note } = this.#options;
    clock.at(this.#now, () => note(value, { isPart, places: this.#places, lookedAt: this.#lookedAt }));
  }
}
