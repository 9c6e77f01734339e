import { memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { ClaimedEvent, OutboxEvent, OutboxStore } from "hookproof/outbox/store";
import { fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import fc from "../../kit/fast-check.js";
import { runs } from "../../kit/property-runs.js";
import { newOutboxFile, SQLITE_DRIVERS, storedEvent } from "./files.js";

const LISTENERS = ["lst_1", "lst_2"];
const WINDOW_MS = 5_000;
const ATTEMPT = { number: 1, startedAt: 1_767_225_600_000, durationMs: 3, status: 503 };
const IDS = Array.from({ length: 12 }, (_, index) => `0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a${index + 10}`);

/** A store and the claims it has handed out, in order. */
interface Subject {
  readonly store: OutboxStore;
  readonly claims: ClaimedEvent[];
}

type Step = (subject: Subject, now: number) => Promise<unknown>;

/** What is seen of a claim but for its token, which is the store's own. */
const seen = ({ event, lease, ...rest }: ClaimedEvent) => ({
  ...rest,
  id: event.id,
  key: event.orderingKey,
  expiresAt: lease.expiresAt,
});

const anyEvent = fc
  .record({
    id: fc.constantFrom(...IDS),
    listener: fc.constantFrom(...LISTENERS),
    orderingKey: fc.constantFrom(undefined, "a", "b"),
    laterMs: fc.constantFrom(undefined, -1_000, 700, 4_000),
  })
  .map(({ id, listener, orderingKey, laterMs }) => ({
    laterMs,
    event: { ...storedEvent(listener), id, orderingKey } satisfies OutboxEvent,
  }));
const anyListener = fc.constantFrom(...LISTENERS);
const anyClaim = fc.nat(30);
const lease = ({ claims }: Subject, which: number) => claims[which % Math.max(1, claims.length)]?.lease;

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.array(anyEvent, { minLength: 1, maxLength: 3 }).map(
    (planned): Step =>
      async ({ store }, now) => {
        await store.enqueue(
          planned.map(({ event, laterMs }) => ({
            ...event,
            ...(laterMs !== undefined && { deliverAt: now + laterMs }),
          })),
        );
        return "stored";
      },
  ),
  fc.tuple(anyListener, fc.constantFrom(undefined, "moving")).map(
    ([listener, reason]): Step =>
      (subject) =>
        subject.store.pause(listener, reason),
  ),
  anyListener.map(
    (listener): Step =>
      (subject) =>
        subject.store.resume(listener),
  ),
  fc.tuple(anyListener, fc.integer({ min: 0, max: 3_000 })).map(
    ([listener, ms]): Step =>
      (subject) =>
        subject.store.rest(listener, ms),
  ),
  fc
    .record({
      listener: fc.constantFrom(undefined, ...LISTENERS),
      ids: fc.constantFrom(undefined, IDS.slice(0, 4), IDS.slice(6)),
    })
    .map(
      (filter): Step =>
        (subject) =>
          subject.store.cancel(filter),
    ),
  fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()).map(
    ([limit, turned]): Step =>
      async (subject) => {
        const listeners = new Map(
          (turned ? [...LISTENERS].reverse() : LISTENERS).map((name) => [
            name,
            { most: 2, windowMs: WINDOW_MS },
          ]),
        );
        const claimed = await subject.store.claim({ limit, leaseMs: 1_000, listeners });
        subject.claims.push(...claimed);
        return claimed.map(seen);
      },
  ),
  anyClaim.map(
    (which): Step =>
      async (subject) => {
        const held = lease(subject, which);
        return held && subject.store.release([held]);
      },
  ),
  anyClaim.map(
    (which): Step =>
      async (subject) => {
        const held = lease(subject, which);
        return held && subject.store.markDelivered([{ lease: held, outcome: "delivered", attempt: ATTEMPT }]);
      },
  ),
  fc.tuple(anyClaim, fc.integer({ min: 0, max: 3_000 })).map(
    ([which, ms]): Step =>
      async (subject, now) => {
        const held = lease(subject, which);
        return held && subject.store.reschedule(held, now + ms, ATTEMPT);
      },
  ),
  fc.tuple(anyClaim, fc.boolean()).map(
    ([which, blocksKey]): Step =>
      async (subject) => {
        const held = lease(subject, which);
        const burial = { reason: "refused", code: "REQUEST_REFUSED", attempt: ATTEMPT, blocksKey } as const;
        return held && subject.store.fail(held, burial);
      },
  ),
  fc.tuple(fc.constantFrom("end", "kept"), fc.boolean(), fc.integer({ min: 1, max: 3 })).map(
    ([place, dryRun, limit]): Step =>
      ({ store }) =>
        store.redrive({}, WINDOW_MS, { place: place as "end", dryRun, limit }),
  ),
  fc.integer({ min: 1, max: 2 }).map(
    (limit): Step =>
      ({ store }) =>
        store.drop({}, { limit }),
  ),
  fc.boolean().map(
    (blocksKey): Step =>
      async ({ store }) => {
        const expired = await store.expire(
          new Map(LISTENERS.map((name) => [name, { windowMs: WINDOW_MS, blocksKey }])),
        );
        return expired.map(({ id, listener, attempts }) => `${listener} ${id} ${attempts}`).sort();
      },
  ),
  fc.integer({ min: 1_000, max: 20_000 }).map(
    (ms): Step =>
      ({ store }, now) =>
        store.prune({ delivered: now - ms, dead: now - ms }),
  ),
);

/** Everything a store shows of itself. */
async function shown({ store }: Subject): Promise<unknown> {
  const dead: unknown[] = [];
  for await (const { event, ...letter } of store.deadLetters()) dead.push({ ...letter, id: event.id });
  const entries = await Promise.all(IDS.map((id) => store.find(id)));
  const byListener = <Item extends { listener: string }>(items: readonly Item[]) =>
    [...items].filter(Boolean).sort((a, b) => (a.listener < b.listener ? -1 : 1));
  const stats = byListener(await store.stats());
  const waiting = await Promise.all(
    [{}, { listener: "lst_1" }, { ids: IDS.slice(3, 9) }].map((filter) => store.pending(filter, 5)),
  );
  return { dead, entries: entries.map(byListener), stats, waiting };
}

it("does what the memory store does, whatever is asked of it", { timeout: 900_000 }, async () => {
  const [openFile] = Object.values(SQLITE_DRIVERS);
  if (!openFile) throw new Error("there is no driver");
  const anyWork = fc.array(fc.tuple(anyStep, fc.integer({ min: 1, max: 800 })), {
    minLength: 5,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(anyWork, async (work) => {
      const { file, remove } = newOutboxFile();
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const subjects: Subject[] = [
        { store: memoryStore({ clock }), claims: [] },
        { store: sqliteStore({ open: () => openFile(file), clock }), claims: [] },
      ];
      const both = (step: (subject: Subject) => Promise<unknown>) => Promise.all(subjects.map(step));
      try {
        for (const [step, ms] of work) {
          const [wanted, got] = await both((subject) =>
            step(subject, clock.now()).catch(({ code, message }) => code ?? message),
          );
          expect(got).toEqual(wanted);
          clock.advance(ms); // also keeps times apart: which of two at the same moment is first is not promised
        }
        const [wanted, got] = await both(shown);
        expect(got).toEqual(wanted);
      } finally {
        await both(({ store }) => store.close());
        remove();
      }
    }),
    { numRuns: runs.numRuns },
  );
});
