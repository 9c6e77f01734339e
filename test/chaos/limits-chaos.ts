import { setTimeout as pass } from "node:timers/promises";
import { waitFor } from "hookproof/testing";
import { seededRandom } from "../kit/seed.mjs";
import { countingReceiver, mostAtOnce, sentTwiceAtOnce } from "./counting-receiver.js";
import type { LiveEngine } from "./live-engines.js";
import { LIMIT, LiveRun } from "./live-run.js";

const LISTENER = "tenant";
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const WORKERS = 4;
const ATTEMPT_MS = 500;
/** Where attempts are to end by their answer, on a machine however busy, as what is sent again is counted. */
const PATIENT_ATTEMPT_MS = 10_000;
/** With the default burst: as many at once as there are in a second. */
const RATE = { perSecond: 50 };
/** News of two connections come in any order. */
const SLACK_MS = 5;
const EVENTS_A_ROUND = 100;

export const CONCURRENCY = 4;

async function enqueue({ outbox }: LiveRun, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({ listener: LISTENER, payload: { n } }));
  for (let from = 0; from < count; from += 500) await outbox.enqueue(events.slice(from, from + 500));
}

/**
 * Four workers under a rate of 50 a second, one of which is killed; or all of them as fast as the machine lets them.
 *
 * @returns what the receiver counted a second, the first burst left out, and how many requests were sent again
 */
export async function rateRun(
  engine: LiveEngine,
  seconds: number,
  { isPaced = true } = {},
): Promise<{ perSecond: number; again: number }> {
  const receiver = await countingReceiver(() => 10);
  const run = new LiveRun(engine, PATIENT_ATTEMPT_MS, { concurrency: 50, ...(isPaced && { rate: RATE }) });
  const counted = RATE.perSecond * (seconds + 1);
  const events = counted + RATE.perSecond;
  try {
    run.write({ [LISTENER]: { url: receiver.url, secret: SECRET } });
    await enqueue(run, events);
    await run.beginAll(WORKERS);
    await waitFor(() => receiver.requests.length > RATE.perSecond, LIMIT);
    if (isPaced) await run.kill(1);
    await waitFor(() => receiver.runs.size === events, LIMIT);
    await run.delivered();
    const { requests } = receiver;
    // Without the burst, and without the last ones: among them is what the killed worker had, which comes late.
    const took = (requests[counted]?.at ?? 0) - (requests[0]?.at ?? 0);
    return { perSecond: ((counted - RATE.perSecond) / took) * 1_000, again: requests.length - events };
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
    const { requests } = receiver;
    const most = mostAtOnce(requests, SLACK_MS);
    return { most, twice: sentTwiceAtOnce(requests, SLACK_MS), requests: requests.length };
  } finally {
    isOver = true;
    await run.end();
    await receiver.stop();
  }
}
