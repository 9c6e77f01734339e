// Rules of storing events.
import { sha256Base64url } from "#hash";
import { expectSame } from "../contract-case.js";
import { codeOf, event, LISTENER, OTHER_LISTENER, rule, sharesOf, texts, WINDOW_MS } from "./subject.js";

/** Events are stored once and unchanged. */
export const enqueueRules = [
  rule("an event is claimed as it was enqueued", async ({ put, takeOne }) => {
    const body = Uint8Array.from({ length: 70_000 }, (_, index) => index);
    const put1 = event("", {
      body,
      digest: sha256Base64url(body),
      orderingKey: "user 'ü' 1",
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
      encryptionKeyId: "2026-01",
    });
    await put(put1);
    const claimed = await takeOne();
    const { body: bytes, ...fields } = claimed.event;
    expectSame("the bytes", [...bytes], [...body]);
    const { body: _, ...wanted } = put1;
    expectSame("the fields", sorted(fields), sorted(wanted));
    expectSame("attempts", [claimed.attempt, claimed.attemptsBeforeRedrive], [1, 0]);
    expectSame("the first attempt", claimed.firstAttemptAt, claimed.now);
    expectSame("whether it was sent before", claimed.sentBefore, false);
    expectSame(
      "the id and listener of the lease",
      [claimed.lease.id, claimed.lease.listener],
      [put1.id, LISTENER],
    );
  }),
  rule("an event without key, trace or encryption has none of them", async ({ put, takeOne }) => {
    await put(event("plain"));
    const { orderingKey, traceparent, encryptionKeyId } = (await takeOne()).event;
    expectSame("them", [orderingKey, traceparent, encryptionKeyId], [undefined, undefined, undefined]);
  }),
  rule("many events are stored at once, and claimed in their order", async ({ store, take }) => {
    await store.enqueue(Array.from({ length: 30 }, (_, index) => event(String(index))));
    expectSame(
      "claimed",
      texts(await take()),
      Array.from({ length: 30 }, (_, index) => String(index)),
    );
  }),
  rule("no events at all are no error", async ({ store, take }) => {
    await store.enqueue([]);
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("an event that is stored already is left unchanged, in every state", async (bench) => {
    const { store, put, take, failOne, takeOne, deliver } = bench;
    const known = event("known");
    await put(known, known);
    await store.enqueue([known, known]);
    expectSame("while it waits", (await take()).length, 1);
    await put(known);
    expectSame("while it is leased", (await take()).length, 0);
    const delivered = event("delivered");
    await put(delivered);
    await deliver((await takeOne()).lease);
    await put(delivered);
    expectSame("after its delivery", (await take()).length, 0);
    const dead = event("dead");
    await put(dead);
    await failOne();
    await put(dead);
    expectSame("after it failed", (await take()).length, 0);
  }),
  rule(
    "an id that is stored with other bytes is refused, and no event of the call is stored",
    async (bench) => {
      const { store, put, take } = bench;
      const known = event("known");
      await put(known);
      const reused = event("other", { id: known.id });
      expectSame("the code", await codeOf(() => store.enqueue([event("other"), reused])), "EVENT_ID_REUSED");
      expectSame("claimed", texts(await take()), ["known"]);
    },
  ),
  rule("an id that occurs twice in one call must have the same bytes", async ({ store, take }) => {
    const one = event("one");
    const reused = event("two", { id: one.id });
    expectSame("the code", await codeOf(() => store.enqueue([one, reused])), "EVENT_ID_REUSED");
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("one id at two listeners is two events, of any bytes", async ({ store, take }) => {
    const one = event("one");
    await store.enqueue([one, event("two", { id: one.id, listener: OTHER_LISTENER })]);
    expectSame("at the first", texts(await take()), ["one"]);
    expectSame("at the other", texts(await take(100, [OTHER_LISTENER])), ["two"]);
  }),
  rule("another store over the same events sees what was enqueued", async ({ subject, put, take }) => {
    const other = await subject.open();
    await put(event("shared"));
    const claimed = await other.claim({ limit: 1, leaseMs: 60_000, listeners: sharesOf([LISTENER], 1) });
    expectSame("claimed there", texts(claimed), ["shared"]);
    expectSame("and not here", (await take()).length, 0);
  }),
  rule("events of a transaction come with its commit", async ({ subject, store, put, take }) => {
    await subject.transaction?.("commit", async (tx) => {
      await store.enqueue([event("committed"), event("too")], tx);
    });
    if (!subject.transaction) await put(event("committed"), event("too"));
    expectSame("claimed", texts(await take()), ["committed", "too"]);
  }),
  rule("after a rollback neither the events nor their ids are stored", async ({ subject, store, take }) => {
    const undone = event("undone");
    await subject.transaction?.("rollback", async (tx) => {
      await store.enqueue([undone], tx);
    });
    if (subject.transaction) expectSame("claimed", (await take()).length, 0);
    await store.enqueue([event("afterwards", { id: undone.id })]);
    expectSame("claimed afterwards", texts(await take()), ["afterwards"]);
  }),
  rule("onWork calls back when events are enqueued or become due", async (bench) => {
    const { store, put, takeOne, failOne, deliver } = bench;
    const { onWork } = store;
    if (!onWork) return;
    let wake = () => {};
    const stop = onWork(() => wake());
    const notifies = async (what: string, work: () => Promise<unknown>) => {
      await new Promise((resolve) => setTimeout(resolve, 20)); // earlier calls have arrived
      let timer: ReturnType<typeof setTimeout> | undefined;
      const told = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), 5_000);
        wake = () => resolve(true);
      });
      await work();
      expectSame(`told of ${what}`, await told, true);
      clearTimeout(timer);
      wake = () => {};
    };
    const keyed = (text: string) => event(text, { orderingKey: "k" });
    await notifies("a new event", () => put(event("news")));
    await deliver((await takeOne()).lease);
    await put(keyed("1"), keyed("2"), keyed("3"));
    const first = await takeOne();
    await notifies("the next of a key after a delivery", () => deliver(first.lease));
    await notifies("the next of a key after a dead letter", () => failOne());
    const third = await takeOne();
    await notifies("a released event", () => store.release([third.lease]));
    await deliver((await takeOne()).lease);
    await notifies("a redriven event", () => store.redrive({}, WINDOW_MS));
    stop();
  }),
];

function sorted(fields: object): [string, unknown][] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
