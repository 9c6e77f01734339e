import { randomUUID } from "node:crypto";
import { memoryReplayStore, type ReplayStore } from "hookproof/receiver";
import { afterEach, describe, expect, it } from "vitest";
import {
  clock,
  expectAccepted,
  expectRefusal,
  hmacListener,
  hmacParts,
  replaced,
  send,
  startTarget,
  type Target,
} from "../kit/hostile-target.js";
import { jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";

const key = testKey("ES256");
let target: Target;
afterEach(() => target.stop());

/** How often each status came back. */
async function statuses(sent: readonly Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const count: Record<number, number> = {};
  for (const { status } of await Promise.all(sent)) count[status] = (count[status] ?? 0) + 1;
  return count;
}

/** A promise that is settled from outside. */
function gate(): { opened: Promise<void>; open(): void; fail(): void } {
  let open = (): void => {};
  let fail = (): void => {};
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = () => reject(new Error("the automation failed"));
  });
  return { opened, open, fail };
}

/** A store that opens a gate once it has been asked so often: all copies are there while the first one runs. */
function storeThatOpens(gate: () => void, afterAsked: number): ReplayStore {
  const inner = memoryReplayStore({ clock });
  let times = 0;
  return {
    ...inner,
    reserve(listenerId, eventId) {
      if (++times === afterAsked) setTimeout(gate, 30);
      return inner.reserve(listenerId, eventId);
    },
  };
}

describe("the same event again", () => {
  it("an exact replay is 409, as often as it comes", async () => {
    target = await startTarget([hmacListener("lst_hmac"), jwtListener("lst_jwt", [key])]);
    for (const parts of [hmacParts("lst_hmac"), jwtParts("lst_jwt", key)]) {
      await expectAccepted(target, parts);
      for (let i = 0; i < 3; i++) await expectRefusal(target, parts, 409, "EVENT_DUPLICATE");
    }
  });

  it("the id with another body and a good signature is 409 as well", async () => {
    target = await startTarget([hmacListener("lst_hmac")]);
    const eventId = randomUUID();
    await expectAccepted(target, hmacParts("lst_hmac", { eventId }));
    await expectRefusal(target, hmacParts("lst_hmac", { eventId, body: "[1]" }), 409, "EVENT_DUPLICATE");
  });

  it("of 50 copies at once one is 200, 49 are 409, and one runs", async () => {
    const { opened, open } = gate();
    const replayStore = storeThatOpens(open, 50);
    target = await startTarget([hmacListener("lst_hmac", { run: () => opened, replayStore })]);
    const parts = hmacParts("lst_hmac");
    const copies = Array.from({ length: 50 }, () => send(target, parts));
    expect(await statuses(copies)).toEqual({ 200: 1, 409: 49 });
    expect(target.runs(parts.eventId)).toBe(1);
  });

  it("of 50 copies in both spellings and with fresh timestamps one runs", async () => {
    target = await startTarget([hmacListener("lst_hmac")]);
    const eventId = randomUUID();
    const copies = Array.from({ length: 50 }, (_, i) =>
      send(
        target,
        hmacParts("lst_hmac", {
          eventId: i % 2 === 0 ? eventId : eventId.toUpperCase(),
          timestamp: String(clock.now() / 1000 - i),
        }),
      ),
    );
    expect(await statuses(copies)).toEqual({ 200: 1, 409: 49 });
    expect(target.runs(eventId)).toBe(1);
  });

  it("while the first run takes longer than a copy waits, copies are 503 with Retry-After", async () => {
    const { opened, open } = gate();
    target = await startTarget([hmacListener("lst_hmac", { run: () => opened, inFlightWaitMs: 20 })]);
    const parts = hmacParts("lst_hmac");
    const first = send(target, parts);
    while (target.runs() === 0) await new Promise(setImmediate);
    const copies = await Promise.all(Array.from({ length: 5 }, () => send(target, parts)));
    for (const copy of copies) {
      expect([copy.status, copy.code, copy.header("Retry-After")]).toEqual([503, "EVENT_IN_FLIGHT", "1"]);
    }
    open();
    expect((await first).status).toBe(200);
    await expectRefusal(target, parts, 409, "EVENT_DUPLICATE");
    expect(target.runs(parts.eventId)).toBe(1);
  });

  it("when the first run fails, one waiting copy runs", async () => {
    const first = gate();
    let runs = 0;
    const run = () => (++runs === 1 ? first.opened : Promise.resolve());
    const replayStore = storeThatOpens(first.fail, 10);
    target = await startTarget([hmacListener("lst_hmac", { run, replayStore })]);
    const parts = hmacParts("lst_hmac");
    const copies = Array.from({ length: 10 }, () => send(target, parts));
    expect(await statuses(copies)).toEqual({ 503: 1, 200: 1, 409: 8 });
    expect(target.runs(parts.eventId)).toBe(2);
  });

  it("a client that leaves while the automation runs does not free the id", async () => {
    const { opened, open } = gate();
    target = await startTarget([hmacListener("lst_hmac", { run: () => opened })]);
    const parts = hmacParts("lst_hmac");
    const controller = new AbortController();
    const left = fetch(`http://127.0.0.1:${target.port}${parts.target}`, {
      method: "POST",
      headers: parts.headers.filter(([name]) => name.startsWith("Webhook") || name === "Content-Type") as [
        string,
        string,
      ][],
      body: Buffer.from(parts.body),
      signal: controller.signal,
    }).catch((error: Error) => error.name);
    while (target.runs() === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await left).toBe("AbortError");
    open();
    await expectRefusal(target, parts, 409, "EVENT_DUPLICATE");
  });
});

describe("the same id elsewhere", () => {
  it("is 200 at another listener, also where both share one store", async () => {
    const replayStore = memoryReplayStore({ clock });
    target = await startTarget([
      hmacListener("lst_a", { replayStore }),
      hmacListener("lst_b", { replayStore }),
      hmacListener("lst_c"),
    ]);
    const eventId = randomUUID();
    for (const id of ["lst_a", "lst_b", "lst_c"]) await expectAccepted(target, hmacParts(id, { eventId }));
    for (const id of ["lst_a", "lst_b", "lst_c"])
      await expectRefusal(target, hmacParts(id, { eventId }), 409, "EVENT_DUPLICATE");
  });

  it("a token for one listener is 401 at another, even over the same keys", async () => {
    target = await startTarget([jwtListener("lst_a", [key]), jwtListener("lst_b", [key])]);
    const parts = jwtParts("lst_a", key);
    const elsewhere = { ...parts, target: jwtParts("lst_b", key).target };
    await expectRefusal(target, elsewhere, 401, "CLAIM_AUD_INVALID");
    await expectAccepted(target, parts);
  });
});

describe("ids that a rejected request does not use up", () => {
  it("after 400, 401, 403, 404, 413 and 415 the event is still 200", async () => {
    let active = false;
    target = await startTarget([hmacListener("lst_hmac", { isTriggerActive: () => active })]);
    const eventId = randomUUID();
    const good = hmacParts("lst_hmac", { eventId });
    await expectRefusal(target, hmacParts("lst_hmac", { eventId, secret: "x" }), 401, "SIGNATURE_MISMATCH");
    await expectRefusal(target, hmacParts("lst_hmac", { eventId, body: "{" }), 400, "BODY_NOT_JSON");
    await expectRefusal(
      target,
      { ...good, headers: replaced(good.headers, "Content-Type", "text/plain") },
      415,
      "CONTENT_TYPE_UNSUPPORTED",
    );
    const large = hmacParts("lst_hmac", { eventId, body: Buffer.alloc(70_000, 0x20) });
    await expectRefusal(target, large, 413, "BODY_TOO_LARGE");
    await expectRefusal(target, good, 404, "TRIGGER_INACTIVE");
    active = true;
    await expectAccepted(target, good);
  });

  it.each<[string, Partial<ReplayStore>, string, number]>([
    ["reserve rejects", { reserve: () => Promise.reject(new Error("down")) }, "REPLAY_STORE_UNAVAILABLE", 0],
    ["reserve answers nothing", { reserve: async () => undefined as never }, "REPLAY_STORE_UNAVAILABLE", 0],
    ["commit rejects", { commit: () => Promise.reject(new Error("down")) }, "REPLAY_STORE_UNAVAILABLE", 1],
  ])("a store whose %s is 503, never 200 or 409", async (_name, broken, code, runs) => {
    const replayStore = { ...memoryReplayStore({ clock }), ...broken };
    target = await startTarget([hmacListener("lst_hmac", { replayStore })]);
    const parts = hmacParts("lst_hmac");
    const answer = await send(target, parts);
    expect([answer.status, answer.code, answer.header("Retry-After")]).toEqual([503, code, "1"]);
    expect(target.runs()).toBe(runs);
  });
});
