// The rules of examples/operating/alerts.yaml over time: Prometheus evaluates what a worker shows every 15 seconds.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HookproofError } from "hookproof";
import { expect, onTestFinished } from "vitest";
import { parse, stringify } from "yaml";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { outboxBench } from "../../test/outbox/bench-outbox.js";
import { serveWorker } from "../src/outbox/worker-http.js";

const RULES = join(import.meta.dirname, "../../examples/operating/alerts.yaml");
const itWithPrometheus = itWith("promtool", hasTool("promtool", "--version"));
const EVERY_MS = 15_000;
const EVERY_MINUTE = 60_000 / EVERY_MS;

/** What Prometheus has of one worker: a value for each time at which it asked, and none where it got none. */
class Scrapes {
  readonly #series = new Map<string, string[]>();
  count = 0;

  add(page: string): void {
    for (const [, series = "", value = ""] of page.matchAll(/^(hookproof_\w+(?:\{.*\})?) (\S+)$/gm)) {
      const values = this.#series.get(series) ?? Array<string>(this.count).fill("_");
      this.#series.set(series, values);
      values.push(value);
    }
    this.count += 1;
    for (const values of this.#series.values()) if (values.length < this.count) values.push("_");
  }

  /** The first and the last minute of each time for which an alert fires, of all that are rules. */
  firing(): Record<string, [from: number, to: number][]> {
    const { groups } = parse(readFileSync(RULES, "utf8")) as { groups: { rules: { alert: string }[] }[] };
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    const minutes = Array.from({ length: Math.floor(this.count / EVERY_MINUTE) + 1 }, (_, minute) => minute);
    const asked = names.flatMap((name) => minutes.map((minute) => ({ name, minute })));
    const file = join(temporaryFolder("alerts"), "test.yaml");
    const test = {
      rule_files: [RULES],
      evaluation_interval: "15s",
      tests: [
        {
          interval: "15s",
          input_series: [...this.#series].map(([series, values]) => ({ series, values: values.join(" ") })),
          // None fires, says the test: what promtool objects to is where one does.
          promql_expr_test: asked.map(({ name, minute }) => ({
            expr: `count(ALERTS{alertname="${name}", alertstate="firing"})`,
            eval_time: `${minute}m`,
            exp_samples: [],
          })),
        },
      ],
    };
    writeFileSync(file, stringify(test));
    const { stdout, stderr } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    const said = stdout + stderr;
    expect(said).toMatch(/SUCCESS|FAILED/);
    const fires: Record<string, [number, number][]> = {};
    for (const [, name = "", hours = 0, minutes = 0] of said.matchAll(
      /alertname=\\"(\w+)\\".*? time: (?:(\d+)h)?(?:(\d+)m)?(?:0s)?,/g,
    )) {
      const minute = Number(hours) * 60 + Number(minutes);
      const times = fires[name] ?? [];
      fires[name] = times;
      const last = times.at(-1);
      if (last?.[1] === minute - 1) last[1] += 1;
      else times.push([minute, minute]);
    }
    return fires;
  }
}

/** A worker over a store in memory, whose clock the test moves, and Prometheus next to it. */
async function watched() {
  const bench = outboxBench();
  const worker = await serveWorker("127.0.0.1:0");
  onTestFinished(() => worker.close());
  const scrapes = new Scrapes();
  const pass = async (minutes: number) => {
    for (let left = minutes * EVERY_MINUTE; left > 0; left--) {
      await bench.pass(EVERY_MS, 5_000);
      scrapes.add(await (await fetch(`${worker.url}/metrics`)).text());
    }
  };
  return { bench, worker, scrapes, pass };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => ({ listener: "a", payload: { n } }));

itWithPrometheus("nothing fires for a worker that delivers, and that nothing is asked of", async () => {
  const { bench, worker, scrapes, pass } = await watched();
  const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) }, { observe: worker.observe });
  outbox.start();
  for (let minute = 0; minute < 10; minute++) {
    await outbox.enqueue(many(5));
    await pass(1);
  }
  await pass(20);
  expect(scrapes.firing()).toEqual({});
});

itWithPrometheus("a store that may be read and not written is told of until it may", async () => {
  const { bench, worker, scrapes, pass } = await watched();
  const { claim } = bench.store;
  bench.store.claim = () => Promise.reject(new HookproofError("OUTBOX_UNAVAILABLE", "read only"));
  const listener = bench.listener(await bench.receiver());
  const outbox = bench.outbox(() => listener, { observe: worker.observe });
  await outbox.enqueue(many(1));
  outbox.start();
  await pass(10);
  bench.store.claim = claim;
  await pass(5);
  expect(scrapes.firing()).toEqual({ HookproofStoreUnavailable: [[2, 9]] });
});

/** A listener that answers so for some minutes to what is enqueued at its fifth, and well then. */
async function refusing(status: number, events: number, minutes: number) {
  const { bench, worker, scrapes, pass } = await watched();
  let refuses = true;
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (!refuses) return receive(request, response);
      request.resume();
      response.writeHead(status).end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) }, { observe: worker.observe });
  outbox.start();
  await pass(5);
  await outbox.enqueue(many(events));
  await pass(minutes);
  refuses = false;
  await pass(75);
  expect((await outbox.stats())[0]).toMatchObject({ pending: 0 });
  return scrapes.firing();
}

itWithPrometheus(
  "a listener that fails is told of without a gap, until its events are delivered",
  async () => {
    const { HookproofListenerDown: [[from, to] = [], ...more] = [], ...others } = await refusing(500, 5, 90);
    expect([from, more, Object.keys(others)]).toEqual([15, [], ["HookproofEventsWait"]]);
    expect(to).toBeGreaterThanOrEqual(95);
    expect(to).toBeLessThan(170);
  },
);

itWithPrometheus("a listener that refuses the secret is told of likewise, for a single event", async () => {
  const { HookproofListenerRefuses: [[from, to] = [], ...more] = [], ...others } = await refusing(401, 1, 90);
  expect([from, more, Object.keys(others)]).toEqual([11, [], ["HookproofEventsWait"]]);
  expect(to).toBeGreaterThanOrEqual(95);
  expect(to).toBeLessThan(170);
});

itWithPrometheus("the very first dead letter of a worker is told of", async () => {
  expect(await refusing(400, 1, 1)).toEqual({ HookproofDeadLetters: [[5, 19]] });
});

itWithPrometheus("a worker that is gone, and a job of its upkeep that fails", async () => {
  const { bench, worker, scrapes, pass } = await watched();
  bench.store.expire = () => Promise.reject(new Error("permission denied"));
  bench.outbox({ a: bench.listener(await bench.receiver()) }, { observe: worker.observe }).start();
  await pass(15);
  for (let scrape = 0; scrape < 15 * EVERY_MINUTE; scrape++) scrapes.add("");
  expect(scrapes.firing()).toEqual({ HookproofUpkeepFails: [[5, 19]], HookproofNoWorker: [[25, 30]] });
});

itWithPrometheus("an event that has waited for days, and a snapshot that is held", async () => {
  const { worker, scrapes } = await watched();
  const backlog = {
    type: "backlog",
    url: "https://a.example/lst_1",
    listener: "a",
    breaker: "closed",
  } as const;
  worker.observe({ ...backlog, pending: 1, inFlight: 0, dead: 0, oldestAgeMs: 433e6, slowedMs: 601e3 });
  const page = await (await fetch(`${worker.url}/metrics`)).text();
  for (let scrape = 0; scrape < 3 * EVERY_MINUTE; scrape++) scrapes.add(page);
  expect(scrapes.firing()).toEqual({ HookproofWindowCloses: [[0, 3]], HookproofSnapshotHeld: [[0, 3]] });
});

itWithPrometheus("a listener is down, and its only event waits, while it is tried, too", async () => {
  const { worker, scrapes } = await watched();
  const a = { url: "https://a.example/lst_1", listener: "a", dead: 0, slowedMs: 0 } as const;
  for (let scrape = 0; scrape < 35 * EVERY_MINUTE; scrape++) {
    const told =
      scrape % 10 === 0
        ? ({ breaker: "half-open", pending: 0, inFlight: 1, oldestAgeMs: 0 } as const)
        : ({ breaker: "open", pending: 1, inFlight: 0, oldestAgeMs: scrape * EVERY_MS } as const);
    worker.observe({ ...a, type: "backlog", ...told });
    scrapes.add(await (await fetch(`${worker.url}/metrics`)).text());
  }
  expect(scrapes.firing()).toEqual({ HookproofEventsWait: [[21, 35]], HookproofListenerDown: [[10, 35]] });
});

itWithPrometheus(
  "dead letters of before fire once more after Prometheus had no figures, as the page says",
  async () => {
    const { worker, scrapes } = await watched();
    const a = { url: "https://a.example/lst_1", listener: "a", delivery: 1, attempts: 1, ageMs: 1 } as const;
    worker.observe({ ...a, type: "delivery-ended", eventId: "1", outcome: "dead", code: "REQUEST_REFUSED" });
    const page = await (await fetch(`${worker.url}/metrics`)).text();
    for (const [minutes, text] of [
      [30, page],
      [12, ""],
      [30, page],
    ] as const)
      for (let left = minutes * EVERY_MINUTE; left > 0; left--) scrapes.add(text);
    expect(scrapes.firing().HookproofDeadLetters).toEqual([
      [0, 14],
      [50, 56],
    ]);
  },
);
