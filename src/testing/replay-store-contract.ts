// All rules of a replay store.
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";
import { RESERVATION_MS, type ReplayStore, type Reservation } from "../replay/replay-store.js";
import { type ContractCase, expectSame } from "./contract-case.js";

/** A replay store under test. It is empty at first and has the default times. */
export interface ReplayStoreSubject {
  /** Opens a store over the same ids each time, as another process does, or the same one after a restart. */
  open(): ReplayStore | Promise<ReplayStore>;
  /** Lets time pass for the store: moves its clock, or moves the expiry of its rows. */
  passTime(ms: number): void | Promise<void>;
}

const LISTENER = "lst_contract";
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const OTHER_ID = "7d3a1c52-90be-4f0e-8b1d-5c2f4e6a7b81";

/**
 * What every replay store must do (specification 8), as one test for each rule. Give each test a subject of its own.
 *
 * @example
 * ```ts
 * import test from "node:test";
 * import { memoryReplayStore } from "hookproof/receiver";
 * import { fixedClock, replayStoreContract } from "hookproof/testing";
 *
 * for (const { name, run } of replayStoreContract) {
 *   test(name, async () => {
 *     const clock = fixedClock("2026-01-01T00:00:00Z");
 *     const store = memoryReplayStore({ clock });
 *     await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
 *   });
 * }
 * ```
 */
export const replayStoreContract: readonly ContractCase<ReplayStoreSubject>[] = [
  rule("a new id is reserved, and its reservation names it", async (store) => {
    const { listenerId, eventId } = await reserved(store, ID);
    expectSame("the reservation", { listenerId, eventId }, { listenerId: LISTENER, eventId: ID });
  }),
  rule("a copy of a reserved id is in flight", async (store) => {
    await reserved(store, ID);
    await expectState(store, ID, "in-flight");
  }),
  rule("a committed id is processed", async (store) => {
    await store.commit(await reserved(store, ID));
    await expectState(store, ID, "processed");
  }),
  rule("the holder may commit twice", async (store) => {
    const reservation = await reserved(store, ID);
    await store.commit(reservation);
    await store.commit(reservation);
    await expectState(store, ID, "processed");
  }),
  rule("a released id can be reserved again", async (store) => {
    const first = await reserved(store, ID);
    await store.release(first);
    const second = await reserved(store, ID);
    expectSame("whether the tokens differ", first.token !== second.token, true);
  }),
  rule("a processed id cannot be released", async (store) => {
    const reservation = await reserved(store, ID);
    await store.commit(reservation);
    await store.release(reservation);
    await expectState(store, ID, "processed");
  }),
  rule("other ids and other listeners are not touched", async (store) => {
    await store.commit(await reserved(store, ID));
    await reserved(store, OTHER_ID);
    const elsewhere = await store.reserve("lst_other", ID);
    expectSame("the same id at another listener", elsewhere.state, "reserved");
    await expectState(store, ID, "processed");
  }),
  rule("of 200 at once, exactly one reserves", async (store) => {
    const results = await Promise.all(Array.from({ length: 200 }, () => store.reserve(LISTENER, ID)));
    const count = (state: string) => results.filter((result) => result.state === state).length;
    expectSame("reserved and in flight", [count("reserved"), count("in-flight")], [1, 199]);
  }),
  rule("of 200 at once over two stores, exactly one reserves", async (store, { open }) => {
    const stores = [store, await open()];
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (stores[i % 2] as ReplayStore).reserve(LISTENER, ID)),
    );
    expectSame("reserved", results.filter(({ state }) => state === "reserved").length, 1);
  }),
  rule("another store sees what the first one holds", async (store, { open }) => {
    await store.commit(await reserved(store, ID));
    const held = await reserved(store, OTHER_ID);
    const other = await open();
    await expectState(other, ID, "processed");
    await expectState(other, OTHER_ID, "in-flight");
    await other.commit(held);
    await expectState(store, OTHER_ID, "processed");
  }),
  rule("a reservation holds for 60 s and then expires", async (store, { passTime }) => {
    await reserved(store, ID);
    await passTime(RESERVATION_MS - 10_000);
    await expectState(store, ID, "in-flight");
    await passTime(10_000);
    await reserved(store, ID);
  }),
  rule("a processed id is kept for 7 days and then forgotten", async (store, { passTime }) => {
    await store.commit(await reserved(store, ID));
    await passTime(EVENT_ID_RETENTION_MS - 60_000);
    await expectState(store, ID, "processed");
    await passTime(60_000);
    await reserved(store, ID);
  }),
  rule("a late holder can commit while nobody else holds the id", async (store, { passTime }) => {
    const late = await reserved(store, ID);
    await passTime(RESERVATION_MS);
    await store.commit(late);
    await expectState(store, ID, "processed");
  }),
  rule("a late holder loses to the one who reserved since", async (store, { passTime }) => {
    const late = await reserved(store, ID);
    await passTime(RESERVATION_MS);
    const current = await reserved(store, ID);
    await expectLost(store, late);
    await store.release(late);
    await expectState(store, ID, "in-flight");
    await store.release(current);
    await reserved(store, ID);
  }),
  rule("a late holder loses to the one who processed the id since", async (store, { passTime }) => {
    const late = await reserved(store, ID);
    await passTime(RESERVATION_MS);
    await store.commit(await reserved(store, ID));
    await expectLost(store, late);
    await store.release(late);
    await expectState(store, ID, "processed");
  }),
];

function rule(
  name: string,
  check: (store: ReplayStore, subject: ReplayStoreSubject) => Promise<void>,
): ContractCase<ReplayStoreSubject> {
  return { name, run: async (subject) => check(await subject.open(), subject) };
}

async function reserved(store: ReplayStore, eventId: string): Promise<Reservation> {
  const result = await store.reserve(LISTENER, eventId);
  if (result.state === "reserved") return result.reservation;
  throw new Error(`reserve: expected "reserved", got "${result.state}"`);
}

async function expectState(store: ReplayStore, eventId: string, state: string): Promise<void> {
  expectSame("reserve", (await store.reserve(LISTENER, eventId)).state, state);
}

async function expectLost(store: ReplayStore, reservation: Reservation): Promise<void> {
  const outcome = await store.commit(reservation).then(
    () => "resolved",
    (error: { code?: unknown }) => error.code,
  );
  expectSame("commit by a holder that lost the id", outcome, "RESERVATION_LOST");
}
