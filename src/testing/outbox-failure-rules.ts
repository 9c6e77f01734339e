import { expectSame } from "./contract-case.js";
import { codeOf, event, LEASE_MS, rule, texts } from "./outbox-contract-subject.js";

/** Longer than any time limit that a subject gives its store. */
const BOUND_MS = 20_000;
/** How often a worker asks again, at most, until a store has come back. */
const TRIES = 20;

/** What a store owes when its database fails; a subject without the means leaves a rule out. */
export const failureRules = [
  rule("nothing of a rolled-back transaction comes, though its enqueueing was held up", async (bench) => {
    const { subject, store, put, take } = bench;
    const { transaction, holdUp } = subject;
    if (!transaction || !holdUp) return;
    await put(event("before"));
    const undone = event("undone");
    let code: unknown;
    await transaction("rollback", async (tx) => {
      const letGo = await holdUp();
      code = await codeOf(() => bounded(Promise.resolve(store.enqueue([undone], tx))));
      await letGo();
    });
    const failures = [undefined, "OUTBOX_UNAVAILABLE", "OUTBOX_OUTCOME_UNKNOWN"];
    expectSame(`whether it failed as it may: ${code}`, failures.includes(code as undefined), true);
    await transaction("commit", async (tx) => {
      await store.enqueue([event("next")], tx);
    });
    expectSame("claimed", texts(await take()).sort(), ["before", "next"]);
    await store.enqueue([event("afterwards", { id: undone.id })]);
    expectSame("claimed under its id", texts(await take()), ["afterwards"]);
  }),
  rule("a store whose connections hang comes back by itself", async (bench) => {
    const { subject, store, put } = bench;
    if (!subject.hang) return;
    await put(event("one"));
    await subject.hang();
    const claimed: string[] = [];
    for (let tries = 0; tries < TRIES && claimed.length === 0; tries++)
      await bounded(bench.take().then((found) => claimed.push(...texts(found)))).catch(failedAsItMay);
    expectSame("claimed", claimed, ["one"]);
    await subject.hang();
    let isStored = false;
    const two = event("two");
    for (let tries = 0; tries < TRIES && !isStored; tries++)
      await bounded(Promise.resolve(store.enqueue([two]))).then(() => {
        isStored = true;
      }, failedAsItMay);
    expectSame("whether it was stored in the end", isStored, true);
    expectSame("claimed then", texts(await bench.take()), ["two"]);
  }),
  rule("an enqueueing whose answer is lost says so, and can be repeated under its ids", async (bench) => {
    const { subject, store, put } = bench;
    if (!subject.loseAnswers) return;
    await put(event("before"));
    const one = event("one");
    let code: unknown;
    await subject.loseAnswers(async () => {
      code = await codeOf(() => bounded(Promise.resolve(store.enqueue([one]))));
    });
    expectSame("the code", code, "OUTBOX_OUTCOME_UNKNOWN");
    await eventually(() => store.enqueue([one]));
    expectSame("claimed", texts(await bench.take()).sort(), ["before", "one"]);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("of them, twice", (await bench.take()).length, 2);
  }),
];

/** Rejects after the bound: whatever the store does, a rule ends. */
async function bounded<Value>(work: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came back for ${BOUND_MS} ms`)), BOUND_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function failedAsItMay(error: unknown): void {
  const { code } = error as { code?: unknown };
  if (code !== "OUTBOX_UNAVAILABLE" && code !== "OUTBOX_OUTCOME_UNKNOWN") throw error;
}

async function eventually(work: () => void | Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await bounded(Promise.resolve(work()));
    } catch (error) {
      failedAsItMay(error);
      if (tries === TRIES) throw error;
    }
}
