import type { Lease, OutboxStore } from "hookproof/outbox/store";
import type { Ledger } from "./ledger.js";

/** How a call was executed, where it was not all at one moment. */
interface Executed {
  /** Whether there may be more. */
  readonly isPart: boolean;
  /** Those of its events. */
  readonly places: readonly number[] | undefined;
  /** When a claim looked for events, by the world's time. */
  readonly lookedAt: number | undefined;
}

/** Is told what a call has done in the store. */
export type Note<Value> = (value: Value, how?: Executed) => void;

/** Makes one call of a store; `note` is told of it when the store has executed it. */
export type Call = <Value>(
  name: string,
  run: () => Value | Promise<Value>,
  note?: (value: Value, askedAt: number, how?: Executed) => void,
) => Promise<Value>;

interface LinkOptions {
  readonly call: Call;
  readonly ledger: Ledger;
  readonly onWork: NonNullable<OutboxStore["onWork"]>;
  /** See `Plan`. */
  readonly tellsNobody?: boolean | undefined;
  /** See `Plan`. */
  readonly signs?: boolean | undefined;
}

/** A store as one process has it: every call goes through `call`, and is written into the ledger. */
export function linkedStore(
  inner: OutboxStore,
  worker: string,
  { call, ledger, onWork, tellsNobody = false, signs = false }: LinkOptions,
): OutboxStore {
  /** A call that ends leases. */
  function settling<Value>(
    leases: readonly Lease[],
    ...given: Parameters<typeof call<Value>>
  ): Promise<Value> {
    ledger.duties.settles(leases);
    const done = call(...given);
    done.catch(() => ledger.notStored(leases));
    return done;
  }

  return {
    // Inside a transaction it is synchronous; whoever commits tells the ledger.
    enqueue: (events, tx) =>
      tx === undefined
        ? call(
            "enqueue",
            () => inner.enqueue(events),
            (_, _askedAt, how) => ledger.stored(events, undefined, how?.places),
          )
        : inner.enqueue(events, tx as never),
    claim(request) {
      let before = 0;
      return call(
        "claim",
        () => inner.claim(request),
        (claims, askedAt, how) => {
          const limit = how?.isPart ? claims.length : request.limit - before;
          before += claims.length;
          ledger.claimed(worker, claims, askedAt, { ...request, limit, lookedAt: how?.lookedAt });
        },
      ).then((claims) => {
        ledger.duties.learnt(claims);
        return claims;
      });
    },
    markDelivered: (deliveries) =>
      settling(
        deliveries.map(({ lease }) => lease),
        "markDelivered",
        () => inner.markDelivered(deliveries),
        (changed) => ledger.markedDelivered(deliveries, changed),
      ),
    reschedule: (lease, at, attempt) =>
      settling(
        [lease],
        "reschedule",
        () => inner.reschedule(lease, at, attempt),
        (changed, askedAt) => ledger.rescheduled(lease, at, attempt, changed, askedAt),
      ),
    fail: (lease, failure) =>
      settling(
        [lease],
        "fail",
        () => inner.fail(lease, failure),
        (changed) => ledger.failed(lease, failure, changed),
      ),
    release: (leases) =>
      settling(
        leases,
        "release",
        () => inner.release(leases),
        () => ledger.released(leases),
      ),
    expire: (windows) =>
      call(
        "expire",
        () => inner.expire(windows),
        (ended) => ledger.expired(ended),
      ),
    redrive: (filter, windowMs, options = {}) =>
      call(
        "redrive",
        () => inner.redrive(filter, windowMs, options),
        (result) => ledger.ended.redriven(filter, windowMs, options, result),
      ),
    drop: (filter, options) =>
      call(
        "drop",
        () => inner.drop(filter, options),
        (count) => ledger.ended.dropped(filter, count),
      ),
    async *deadLetters(filter, options) {
      yield* await call("deadLetters", async () => {
        const letters = [];
        for await (const letter of inner.deadLetters(filter, options)) letters.push(letter);
        return letters;
      });
    },
    find: (id) => call("find", () => inner.find(id)),
    stats: () => call("stats", () => inner.stats()),
    now: () => call("now", () => inner.now()),
    async alive(sign, isGone) {
      if (!signs) return;
      await call(
        "alive",
        () => inner.alive(sign, isGone),
        () => ledger.signs.noted(worker, sign.id, isGone),
      );
    },
    workers: () => call("workers", () => inner.workers()),
    leases: (listener, ids) => call("leases", () => inner.leases(listener, ids)),
    followClock: () => call("followClock", () => inner.followClock()),
    prune: (before) =>
      call(
        "prune",
        () => inner.prune(before),
        (count) => ledger.ended.pruned(before, count),
      ),
    ...(!tellsNobody && { onWork }),
    due: (after, most) => call("due", () => inner.due(after, most)),
    changed: (listener) => call("changed", () => inner.changed(listener)),
    unknown: (listeners) => call("unknown", () => inner.unknown(listeners)),
    pause: (listener, ...given) =>
      call(
        "pause",
        () => inner.pause(listener, ...given),
        () => ledger.holds.paused(listener),
      ),
    resume(listener) {
      ledger.holds.resumes(listener);
      const done = call(
        "resume",
        () => inner.resume(listener),
        (changed) => ledger.holds.resumed(listener, changed),
      );
      done.then(
        () => ledger.holds.resumeEnded(listener, false),
        () => ledger.holds.resumeEnded(listener, true),
      );
      return done;
    },
    rest: (listener, ms) =>
      call(
        "rest",
        () => inner.rest(listener, ms),
        () => ledger.holds.rests(listener, ms),
      ),
    cancel: (filter) =>
      call(
        "cancel",
        () => inner.cancel(filter),
        (result) => ledger.cancelled(filter, result),
      ),
    pending: (filter, limit) => call("pending", () => inner.pending(filter, limit)),
    close: () => inner.close(),
  };
}
