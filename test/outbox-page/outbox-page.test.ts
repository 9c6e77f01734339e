import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type ListenerError, type ListenerStats, memoryStore, type OutboxEntry } from "hookproof/outbox";
import { expect, it, onTestFinished, vi } from "vitest";
import { TOKEN_HEADER } from "../../service/src/inspector/contract.js";
import {
  type DeadLetters,
  type EventView,
  LIMITS,
  type Overview,
} from "../../service/src/outbox/contract.js";
import { outboxView, type ShownOutbox } from "../../service/src/outbox/outbox-view.js";
import { attemptView } from "../../service/src/outbox/words.js";
import { send } from "../inspector/inspected.js";
import { EVIL, shownOutbox } from "../kit/shown-outbox.js";

async function shown(allow: readonly ("redrive" | "pause")[] = []) {
  const one = await shownOutbox(memoryStore(), { allow });
  onTestFinished(one.stop);
  const own = { [TOKEN_HEADER]: one.token, Origin: one.page.url };
  const call = (path: string, headers: Record<string, string> = own) =>
    send(`${one.page.url}/${path}`, { headers });
  const order = (path: string, body: unknown, headers: Record<string, string> = own) =>
    send(`${one.page.url}/api/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...one, call, order };
}

const QUIET = { pending: 0, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 };
const REFUSED = { listener: "refusing", reason: "refused", code: "REQUEST_REFUSED" };

it("each listener has its counts, and what failed last in the words of the diagnosis", async () => {
  const { call } = await shown();
  const overview = (await call("api/overview")).json<Overview>();
  expect(overview).toMatchObject({ name: "app.db", actions: [], total: 3 });
  const [refusing, down, well] = overview.listeners;
  expect(well).toMatchObject({ listener: "well", delivered: 3, pending: 0, dead: 0, breaker: "closed" });
  expect(well).not.toHaveProperty("failure");
  expect(down).toMatchObject({
    listener: "down",
    pending: 3,
    failure: { status: 503, answer: expect.any(String) },
  });
  expect(refusing).toMatchObject({ listener: "refusing", dead: 3 });
  expect(refusing?.failure?.words).toMatchObject({ code: "BODY_NOT_JSON", fix: expect.stringMatching(/./) });
});

it("the alerts that would fire stand there, begin and end, and are bounded", async () => {
  const { call } = await shown();
  const { alerts, totalAlerts } = (await call("api/overview")).json<Overview>();
  expect(alerts).toEqual([{ kind: "dead-letters", listener: "refusing", at: expect.any(Number) }]);
  expect(totalAlerts).toBe(1);

  let stats = Array.from({ length: LIMITS.alerts + 7 }, (_, n) => ({ ...QUIET, listener: `l${n}`, dead: 1 }));
  const view = outboxView(
    { stats: async () => stats, pending: async () => [], workers: async () => [] } as unknown as ShownOutbox,
    {
      name: "many",
      actions: [],
    },
  );
  const many = await view.overview();
  expect([many.alerts.length, many.totalAlerts]).toEqual([LIMITS.alerts, LIMITS.alerts + 7]);

  stats = [{ ...QUIET, listener: "l1", dead: 0 }];
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await view.overview()).toMatchObject({ alerts: [], totalAlerts: 0 });
});

it("of two failures that differ the newer one is shown, whichever process saw it", async () => {
  const at = Date.now();
  const stats = (lastError: ListenerError) =>
    [
      {
        listener: "down",
        pending: 1,
        inFlight: 0,
        delivered: 0,
        dead: 0,
        oldestAgeMs: 9,
        breaker: "open",
        lastError,
      },
    ] as unknown as ListenerStats[];
  const attempt = { number: 1, startedAt: at, durationMs: 5, code: "TIMED_OUT" };
  const pending = [{ id: "e", listener: "down", attempts: [attempt] }] as unknown as OutboxEntry[];
  const shownCode = async (lastError: ListenerError) => {
    const view = outboxView(
      {
        stats: async () => stats(lastError),
        pending: async () => pending,
        workers: async () => [],
      } as unknown as ShownOutbox,
      { name: "o", actions: [] },
    );
    return (await view.overview()).listeners[0]?.failure?.code;
  };
  expect(await shownCode({ at: at - 60_000, code: "CONNECTION_FAILED" })).toBe("TIMED_OUT");
  expect(await shownCode({ at: at + 60_000, code: "CONNECTION_FAILED" })).toBe("CONNECTION_FAILED");
});

it("dead letters are grouped, counted before they are redriven, and redriven with leave only", async () => {
  const { call, order, outbox } = await shown(["redrive"]);
  const { groups, isCut } = (await call("api/dead-letters")).json<DeadLetters>();
  expect(isCut).toBe(false);
  expect(groups).toMatchObject([{ ...REFUSED, count: 3, failure: { status: 400 } }]);
  expect(groups[0]?.ids).toHaveLength(3);
  expect(groups[0]?.failure.answer).toContain("onerror");
  expect((await order("redrive", { ...REFUSED, dryRun: true })).json()).toEqual({
    redriven: 3,
    pastWindow: 0,
  });
  expect((await outbox.stats()).find(({ listener }) => listener === "refusing")?.dead).toBe(3);
  expect((await order("redrive", { ...REFUSED, dryRun: false })).json()).toEqual({
    redriven: 3,
    pastWindow: 0,
  });
  expect((await outbox.stats()).find(({ listener }) => listener === "refusing")?.dead).toBe(0);
  expect((await call("api/dead-letters")).json<DeadLetters>().groups).toEqual([]);
});

it("a group of dead letters has its oldest and its newest; so many are read, and then it says so", async () => {
  const letter = (failedAt: number) => ({
    event: { id: `e${failedAt}`, listener: "down" },
    reason: "attempts",
    code: "TIMED_OUT",
    failedAt,
    attempts: [],
  });
  const grouped = (letters: number) => {
    const outbox = {
      async *deadLetters(_filter: object, { limit }: { limit: number }) {
        for (let n = 1; n <= Math.min(letters, limit); n++) yield letter(n);
      },
    };
    return outboxView(outbox as unknown as ShownOutbox, { name: "o", actions: [] }).deadLetters();
  };
  const all = await grouped(2_000);
  expect(all).toMatchObject({ isCut: false, groups: [{ count: 2_000, oldestAt: 1, newestAt: 2_000 }] });
  expect(all.groups[0]?.ids).toEqual(Array.from({ length: 10 }, (_, n) => `e${n + 1}`));
  // Nothing happens to them by itself.
  expect(all.groups[0]?.failure.words?.fix).toMatch(/redrive the event/);
  expect(await grouped(2_001)).toMatchObject({ isCut: true, groups: [{ count: 2_000, newestAt: 2_000 }] });
});

/** An outbox of listeners with these counts, and how often it was read. */
function counted(listeners: readonly Partial<ListenerStats>[]) {
  let reads = 0;
  const outbox = {
    stats: async () => {
      reads++;
      return listeners.map((one) => ({ dead: 0, pending: 0, oldestAgeMs: 0, delivered: 0, ...one }));
    },
    pending: async () => [],
    resume: async () => {},
    workers: async () => [],
  } as unknown as ShownOutbox;
  return { view: outboxView(outbox, { name: "o", actions: [] }), reads: () => reads };
}

it("the workers stand there, each last seen as long ago as the store says, as far as they can be read", async () => {
  const worker = { name: EVIL, startedAt: 5_000, lastSeenAt: 9_000, silentMs: 180_000 };
  const workers = Array.from({ length: LIMITS.workers + 7 }, (_, n) => ({ ...worker, id: `w${n}` }));
  const overviewOf = (own: Partial<ShownOutbox>) => {
    const outbox = { stats: async () => [], pending: async () => [], workers: async () => [], ...own };
    return outboxView(outbox as unknown as ShownOutbox, { name: "o", actions: [] }).overview();
  };
  const { now, workers: seen = [] } = await overviewOf({ workers: async () => workers });
  expect(seen).toHaveLength(LIMITS.workers);
  const lastSeenAt = now - 180_000;
  expect(seen[0]).toEqual({ id: "w0", name: EVIL, startedAt: lastSeenAt - 4_000, lastSeenAt });
  const refused = async () => Promise.reject(new Error("permission denied for table worker"));
  expect(await overviewOf({ workers: refused })).not.toHaveProperty("workers");
});

it("those in trouble are first: dead letters, what waits for longest, what waits, and then by name", async () => {
  const { view } = counted([
    { listener: "b" },
    { listener: "a" },
    { listener: "waits", pending: 1 },
    { listener: "waits long", pending: 1, oldestAgeMs: 9_000 },
    { listener: "waits longer", pending: 1, oldestAgeMs: 60_000 },
    { listener: "one dead", dead: 1 },
  ]);
  const names = (await view.overview()).listeners.map(({ listener }) => listener);
  expect(names).toEqual(["one dead", "waits longer", "waits long", "waits", "a", "b"]);
});

it("however many pages look, the outbox is read once a second, and again after a change", async () => {
  const { view, reads } = counted([{ listener: "a" }]);
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
  await Promise.all([view.overview(), view.overview()]);
  later(999);
  await view.overview();
  expect(reads()).toBe(1);
  later(1);
  await view.overview();
  expect(reads()).toBe(2);
  await view.resume("a");
  await view.overview();
  expect(reads()).toBe(3);
});

it("an event has its attempts, and no body", async () => {
  const { call } = await shown();
  const [{ id } = { id: "" }] = (await call("api/waiting?listener=down")).json<EventView[]>();
  const text = (await call(`api/events/${id.toUpperCase()}`)).text;
  const [entry] = JSON.parse(text) as EventView[];
  expect(entry).toMatchObject({ listener: "down", state: "pending", attempts: [{ number: 1, status: 503 }] });
  expect(text).not.toContain("user.offboarded");
  expect(JSON.parse(text)[0].attempts[0].answer).toContain("<img src=x");
});

it("a listener is paused and resumed, with leave", async () => {
  const { call, order } = await shown(["pause"]);
  const state = async () =>
    (await call("api/overview")).json<Overview>().listeners.find(({ listener }) => listener === "well");
  expect((await order("pause", { listener: "well", reason: EVIL })).status).toBe(204);
  expect(await state()).toMatchObject({ paused: { reason: EVIL } });
  expect((await order("resume", { listener: "well" })).status).toBe(204);
  expect(await state()).not.toHaveProperty("paused");
  expect((await order("redrive", { ...REFUSED, dryRun: false })).status).toBe(403);
});

it("it is read only where nothing is allowed", async () => {
  const { order, outbox } = await shown();
  expect((await order("redrive", { ...REFUSED, dryRun: true })).status).toBe(200);
  for (const [path, body] of [
    ["redrive", { ...REFUSED, dryRun: false }],
    ["pause", { listener: "well" }],
    ["resume", { listener: "well" }],
  ] as const)
    expect((await order(path, body)).json()).toMatchObject({ code: "ACTION_REFUSED" });
  expect((await outbox.stats()).find(({ listener }) => listener === "refusing")?.dead).toBe(3);
});

it("nobody has it without the token, under another name, or from another page", async () => {
  const { page, token, call, order } = await shown(["redrive", "pause"]);
  const own = { [TOKEN_HEADER]: token };
  for (const path of ["api/overview", "api/dead-letters", "api/waiting?listener=down", "api/events/x"])
    for (const headers of [
      {},
      { [TOKEN_HEADER]: "x".repeat(43) },
      { ...own, Host: "evil.example" },
      { ...own, "Sec-Fetch-Site": "same-site" },
    ] as Record<string, string>[])
      expect((await call(path, headers)).status).toBe(403);
  for (const path of ["redrive", "pause", "resume"])
    for (const headers of [{}, own, { Origin: page.url }, { ...own, Origin: "null" }] as Record<
      string,
      string
    >[])
      expect((await order(path, { ...REFUSED, dryRun: false }, headers)).status).toBe(403);
  const { headers } = await call("");
  expect(headers["content-security-policy"]).toContain("script-src 'self'");
});

it.each([
  ["redrive", "{"],
  ["redrive", "null"],
  ["redrive", { ...REFUSED, reason: "any", dryRun: true }],
  ["redrive", { ...REFUSED, code: "../", dryRun: true }],
  ["redrive", { ...REFUSED, listener: "a\0b", dryRun: true }],
  ["redrive", REFUSED],
  ["pause", { listener: "" }],
  ["pause", { listener: "well", reasn: "upkeep" }],
  ["pause", { listener: "\ud800" }],
  ["pause", { listener: "well", reason: "x".repeat(201) }],
])("a bad order is refused: %s %j", async (path, body) => {
  const { order } = await shown(["redrive", "pause"]);
  const answer = await order(path, body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.json<object>())).toEqual(["code", "message"]);
});

it("an event or call that there is not is 404", async () => {
  const { call } = await shown();
  for (const path of ["api/events/x", "api/events/0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "api/nothing"])
    expect((await call(path)).status).toBe(404);
});

it("the built page weighs less than 20 kB gzipped, in all, and names no other place", () => {
  const folder = join(import.meta.dirname, "../../service/dist/outbox-page");
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(20_000);
  const named = texts.flatMap((text) => text.match(/(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]{2,}/gi) ?? []);
  expect(named.filter((address) => !address.includes("www.w3.org"))).toEqual([]);
});

it("an attempt that another program wrote is shown as far as its members are what they should be", () => {
  const noText = { toString: 1, valueOf: 1 };
  const names = ["number", "startedAt", "durationMs", "status", "code", "answer", "receiverCode"];
  const attempt = Object.fromEntries(names.map((name) => [name, noText]));
  expect(attemptView({ ...attempt, corrected: [noText, "date"] } as never, false)).toEqual({
    number: 0,
    startedAt: 0,
    durationMs: 0,
    corrected: ["date"],
  });
});
