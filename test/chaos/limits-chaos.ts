import { randomUUID } from "node:crypto";
import { setTimeout as pass } from "node:timers/promises";
import { waitFor } from "hookproof/testing";
import { seededRandom } from "../kit/seed.mjs";
import { countingReceiver } from "./counting-receiver.js";
import type { LiveEngine } from "./live-engines.js";
import { LIMIT, LiveRun } from "./live-run.js";

const LISTENER = "tenant";
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const WORKERS = 4;
const KILLED = 1;
const ATTEMPT_MS = 500;
/** Where attempts are to end by their answer, on a machine however busy, as what is sent again is counted. */
const PATIENT_ATTEMPT_MS = 10_000;
/** With the default burst: as many at once as there are in a second. */
const RATE = { perSecond: 50 };
/** More than there are events: what a killed worker has leased takes no place from the others. */
const MANY = 10_000;
const EVENTS_A_ROUND = 100;

export const CONCURRENCY = 4;

async function enqueue({ outbox }: LiveRun, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, (_, n) => ({
    ...{ listener: LISTENER, payload: { n } },
    eventId: randomUUID(),
  }));
  for (let from = 0; from < count; from += 500) await outbox.enqueue(events.slice(from, from + 500));
  return events.map(({ eventId }) => eventId);
}

/** When the store gave out each event for the first time, by its own clock, in order. */
async function claimTimes({ outbox }: LiveRun, ids: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const id of ids)
    for (const { firstAttemptAt = 0 } of await outbox.find(id)) times.push(firstAttemptAt);
  return times.sort((a, b) => a - b);
}

/** The smallest burst with which a rate allows events at these times. */
function burstOf(times: readonly number[], perSecond: number): number {
  let [burst, least] = [0, Number.POSITIVE_INFINITY];
  for (const [index, time] of times.entries()) {
    const ahead = index - (perSecond * time) / 1_000;
    least = Math.min(least, ahead);
    burst = Math.max(burst, ahead - least + 1);
  }
  return burst;
}

/**
 * Four workers under a rate of 50 a second, one of which is killed; or all of them as fast as the machine lets them.
 *
 * @returns what the store gave out a second by its clock, the first burst left out; the burst with which the rate allows
 *   that; how many events were sent again, and those of them that the killed worker had not sent before
 */
export async function rateRun(
  engine: LiveEngine,
  seconds: number,
  { isPaced = true } = {},
): Promise<{ perSecond: number; burst: number; again: number; unasked: readonly string[] }> {
  const receiver = await countingReceiver(() => 10);
  const run = new LiveRun(engine, PATIENT_ATTEMPT_MS, { concurrency: MANY, ...(isPaced && { rate: RATE }) });
  const counted = RATE.perSecond * (seconds + 1);
  const events = counted + RATE.perSecond;
  try {
    run.write({ [LISTENER]: { url: receiver.url, secret: SECRET } });
    const ids = await enqueue(run, events);
    await run.beginAll(WORKERS);
    await waitFor(() => receiver.requests.length > RATE.perSecond, LIMIT);
    if (isPaced) await run.kill(KILLED);
    await waitFor(() => receiver.runs.size === events, LIMIT);
    await run.delivered();
    const times = await claimTimes(run, ids);
    // Without the burst.
    const took = (times[counted] ?? 0) - (times[0] ?? 0);
    const again = receiver.requests.filter(({ ran }) => !ran);
    const first = new Map(receiver.requests.toReversed().map(({ id, worker }) => [id, worker]));
    return {
      perSecond: ((counted - RATE.perSecond) / took) * 1_000,
      burst: burstOf(times, RATE.perSecond),
      again: again.length,
      unasked: again.filter(({ id }) => first.get(id) !== String(KILLED)).map(({ id }) => id),
    };
  } finally {
    await run.end();
    await receiver.stop();
  }
}

/**
 * Four workers under a concurrency of 4: in each round one is killed and another stopped past its leases, and now and
 * then all are cut off from the store.
 *
 * @returns how many requests were open at once at most, and the events that were open twice at once
 */
export async function concurrencyRun(
  engine: LiveEngine,
  rounds: number,
): Promise<{ most: number; twice: readonly string[]; requests: number }> {
  const random = seededRandom(`concurrency ${engine.name}`);
  // One of a hundred takes longer than its attempt may.
  const receiver = await countingReceiver(() => (random() < 0.01 ? 900 : 5 + random() * 100));
  const run = new LiveRun(engine, ATTEMPT_MS, { concurrency: CONCURRENCY });
  const events = EVENTS_A_ROUND * rounds;
  let isOver = false;
  try {
    run.write({ [LISTENER]: { url: receiver.url, secret: SECRET } });
    await enqueue(run, events);
    await run.beginAll(WORKERS);
    const cutting = (async () => {
      while (!isOver) {
        await pass(500 + random() * 1_000);
        await engine.cut();
      }
    })();
    for (let round = 0; round < rounds; round++) {
      const share = round / rounds;
      await waitFor(() => receiver.runs.size > events * share, LIMIT);
      await pass(random() * 500);
      const stopping = run.stopPastLease((round + 1) % WORKERS);
      await run.kill(round % WORKERS);
      await run.begin(round % WORKERS);
      await stopping;
    }
    await waitFor(() => receiver.runs.size === events, LIMIT);
    isOver = true;
    await cutting;
    await run.delivered();
    return { most: receiver.most(), twice: [...receiver.twice], requests: receiver.requests.length };
  } finally {
    isOver = true;
    await run.end();
    await receiver.stop();
  }
}
