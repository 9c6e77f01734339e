import type { OutboxStore, StoreControl } from "hookproof/outbox/store";
import type { Ledger } from "./ledger.js";

/** Makes one call of a store; `note` is told of it when the store has executed it. */
export type Call = <Value>(
  name: string,
  run: () => Value | Promise<Value>,
  note?: (value: Value, askedAt: number) => void,
) => Promise<Value>;

/** A store as one process has it: every call goes through `call`, and is written into the ledger. */
export function linkedStore(
  inner: OutboxStore,
  worker: string,
  { call, ledger, onWork }: { call: Call; ledger: Ledger; onWork: NonNullable<OutboxStore["onWork"]> },
): OutboxStore {
  return {
    // Inside a transaction it is synchronous; whoever commits tells the ledger.
    enqueue: (events, tx) =>
      tx === undefined
        ? call(
            "enqueue",
            () => inner.enqueue(events),
            () => ledger.stored(events),
          )
        : inner.enqueue(events, tx as never),
    claim: (request) =>
      call(
        "claim",
        () => inner.claim(request),
        (claims, askedAt) => ledger.claimed(worker, claims, askedAt),
      ),
    markDelivered: (deliveries) =>
      call(
        "markDelivered",
        () => inner.markDelivered(deliveries),
        (changed) => ledger.markedDelivered(deliveries, changed),
      ),
    reschedule: (lease, at, attempt) =>
      call(
        "reschedule",
        () => inner.reschedule(lease, at, attempt),
        (changed) => ledger.rescheduled(lease, at, attempt, changed),
      ),
    fail: (lease, failure) =>
      call(
        "fail",
        () => inner.fail(lease, failure),
        (changed) => ledger.failed(lease, failure, changed),
      ),
    release: (leases) =>
      call(
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
        (result) => ledger.redriven(filter, windowMs, options, result),
      ),
    drop: (filter, options) =>
      call(
        "drop",
        () => inner.drop(filter, options),
        (count) => ledger.dropped(filter, count),
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
    prune: (before) => call("prune", () => inner.prune(before)),
    onWork,
    ...(inner.control && { control: linkedControl(inner.control, call, ledger) }),
    close: () => inner.close(),
  };
}

function linkedControl(inner: StoreControl, call: Call, ledger: Ledger): StoreControl {
  return {
    due: (after, most) => call("due", () => inner.due(after, most)),
    changed: (listener) => call("changed", () => inner.changed(listener)),
    pause: (listener, reason) =>
      call(
        "pause",
        () => inner.pause(listener, reason),
        () => ledger.paused(listener),
      ),
    resume: (listener) =>
      call(
        "resume",
        () => inner.resume(listener),
        (changed) => ledger.resumed(listener, changed),
      ),
    rest: (listener, until) =>
      call(
        "rest",
        () => inner.rest(listener, until),
        () => ledger.rests(listener, until),
      ),
    cancel: (filter) =>
      call(
        "cancel",
        () => inner.cancel(filter),
        (result) => ledger.cancelled(filter, result),
      ),
    pending: (filter, limit) => call("pending", () => inner.pending(filter, limit)),
  };
}
