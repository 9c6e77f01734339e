import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { aesGcmEncryption, createOutbox } from "hookproof/outbox";
import { beforeAll, expect, it } from "vitest";
import { matches, openStage, parseTranscript, requireBuild, type Stage } from "../../test/kit/transcript.js";
import { ATTEMPT, failOne, IDS, LISTENER, otherProgram } from "./kit/other-program.js";

beforeAll(requireBuild);

async function onStage(play: (stage: Stage, work: string) => Promise<void>): Promise<void> {
  const stage = await openStage();
  try {
    await play(stage, join(stage.folder, "work"));
  } finally {
    await stage.close();
  }
}

it("a person looks after another program's outbox", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    const enqueue = (listener: string, n: number) =>
      program.outbox.enqueue({ listener, eventId: IDS[n] ?? "", payload: { n } });
    await enqueue("offboarding", 0);
    await failOne(program);
    await enqueue("offboarding", 1);
    await enqueue("offboarding", 2);
    await enqueue("archive", 3);
    const second = otherProgram(join(work, "two.db"));
    for (const n of [0, 1, 2]) {
      await second.outbox.enqueue({ listener: "offboarding", eventId: IDS[n] ?? "", payload: { n } });
      if (n < 2) await failOne(second);
    }
    await second.store.close();
    const newer = otherProgram(join(work, "newer.db"));
    await newer.store.close();
    const db = openSqlite(join(work, "newer.db"));
    db.exec("UPDATE hookproof_outbox_version SET version = 99");
    db.close();
    const story = readFileSync(join(import.meta.dirname, "outbox.txt"), "utf8");
    const steps = parseTranscript(story);
    expect(steps).not.toEqual([]);
    for (const { command, expected } of steps) {
      const seen = await stage.runInOne(command);
      if (!matches(expected, seen)) expect({ command, seen }).toEqual({ command, seen: expected });
    }
    await program.store.close();
  });
});

it("a blocked event says which dead letter it waits behind", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    const [dead = "", blocked = "", free = ""] = IDS;
    for (const eventId of [dead, blocked])
      await program.outbox.enqueue({ listener: "offboarding", eventId, orderingKey: "u_1", payload: {} });
    await failOne(program, true);
    await program.outbox.enqueue({ listener: "archive", eventId: free, payload: {} });
    const run = async (command: string) =>
      (await stage.runInOne(`hookproof outbox ${command} --outbox app.db`)).join("\n");
    const behind = `waits behind ${dead}, dead since 20`;
    expect(await run("list")).toContain(behind);
    expect(await run(`attempts ${blocked}`)).toMatch(/ key +u_1\n/);
    expect(await run(`attempts ${blocked}`)).toContain(behind);
    const since = expect.stringMatching(/^20.*Z$/);
    const fields = { orderingKey: "u_1", waitsBehind: { eventId: dead, state: "dead", since } };
    expect(JSON.parse(await run("list --json")).events).toMatchObject([
      fields,
      { orderingKey: null, waitsBehind: null },
    ]);
    expect(JSON.parse(await run(`attempts ${blocked} --json`)).entries).toMatchObject([fields]);
    await program.store.close();
  });
});

it("works and watches while another program enqueues, and ends with 0 when it is interrupted", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    await stage.run("hookproof listen &");
    await stage.run("hookproof profile add offboarding --target :4400");
    // As Ctrl-C ends it, once it has printed so many lines of a kind.
    const until = (count: number, pattern: string, command: string) =>
      stage.run(
        `set -m; hookproof outbox ${command} --json >$$ 2>&1 &
        exec 2>/dev/null
        until [ "$(grep -c '${pattern}' $$)" -ge ${count} ]; do sleep 0.1; done
        kill -INT $!; wait $!; echo $? >>$$; cat $$`,
      );
    const worker = until(20, '"outcome":"delivered"', "work --outbox app.db");
    const watcher = until(4, '"delivered":20', "status --outbox app.db --watch --every 200ms");
    for (let n = 0; n < 20; n++) {
      await program.outbox.enqueue({ listener: "offboarding", payload: { n } });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const parsed = (lines: string[]) => lines.slice(0, -1).map((line) => JSON.parse(line));
    const [worked, watched] = await Promise.all([worker, watcher]);
    expect([worked.at(-1), watched.at(-1)]).toEqual(["0", "0"]);
    const [first, ...deliveries] = parsed(worked);
    expect(first).toMatchObject({ v: 1, type: "working", listeners: ["offboarding"] });
    expect(deliveries.pop()).toEqual({
      v: 1,
      type: "worked",
      ok: true,
      delivered: 20,
      duplicate: 0,
      dead: 0,
    });
    expect(new Set(deliveries.map(({ type, outcome }) => `${type} ${outcome}`))).toEqual(
      new Set(["delivery delivered"]),
    );
    const states = parsed(watched);
    expect(states.length).toBeGreaterThan(3);
    expect(states.at(-1)).toMatchObject({ type: "outbox", listeners: [{ pending: 0, delivered: 20 }] });
    await program.store.close();
  });
});

it("asks before a redrive on a terminal, and shows a bar", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    await program.outbox.enqueue(
      Array.from({ length: 30_000 }, (_, n) => ({ listener: "offboarding", payload: { n } })),
    );
    const db = openSqlite(join(work, "app.db"));
    db.exec(
      "UPDATE hookproof_outbox SET state = 2, turn = NULL, ended_at = 1, reason = 'refused', code = 'REQUEST_REFUSED'; UPDATE hookproof_outbox_counts SET state = 2",
    );
    db.close();
    const seen = await stage.run(
      "echo y | script -qec 'hookproof outbox redrive --outbox app.db' /dev/null",
      true,
    );
    const text = seen.join("\n");
    expect(text).toContain("Redrive 30000 dead letters? (y/n)");
    expect(text).toMatch(/\[#+-+\] \d+\/30000 {2}\d+\/s/);
    expect(text).toContain("30000 dead letters redriven");
    expect(await program.store.stats()).toMatchObject([{ pending: 30_000, dead: 0 }]);
    await program.store.close();
  });
});

it("asks on a terminal before it cancels more than one event", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    const eventId = IDS[0] ?? "";
    await program.outbox.enqueue({ listeners: ["offboarding", "archive"], eventId, payload: {} });
    await program.outbox.enqueue({ listener: "offboarding", eventId: IDS[1] ?? "", payload: {} });
    await program.outbox.enqueue({ listener: "archive", eventId: IDS[2] ?? "", payload: {} });
    const cancel = (answer: string, which: string) =>
      stage.run(
        `echo ${answer} | script -qec 'hookproof outbox cancel ${which} --outbox app.db' /dev/null`,
        true,
      );
    const pending = async () => (await program.store.stats()).map((one) => [one.listener, one.pending]);
    const asked = (await cancel("n", eventId)).join("\n");
    expect(asked).toContain(`Cancel up to 2 events with the id ${eventId}, each for another listener?`);
    expect(asked).toContain("Nothing was done.");
    expect(await pending()).toEqual([
      ["archive", 2],
      ["offboarding", 2],
    ]);
    const alone = (await cancel("n", IDS[1] ?? "")).join("\n"); // is not asked for
    expect(alone).toContain("1 event cancelled");
    expect(alone).not.toContain("(y/n)");
    expect((await cancel("y", eventId)).join("\n")).toContain("2 events cancelled");
    const all = (await cancel("y", "--listener archive")).join("\n");
    expect(all).toContain('Cancel up to 1 event for "archive"?');
    expect(all).toContain("1 event cancelled");
    expect(await pending()).toEqual([]);
    await program.store.close();
  });
});

it("cancels what has not begun, lists what has, and says so", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    for (const n of [0, 1, 2])
      await program.outbox.enqueue({ listener: "offboarding", eventId: IDS[n] ?? "", payload: {} });
    const listeners = new Map([["offboarding", { most: 2, windowMs: 604_800_000 }]]);
    const [tried] = await program.store.claim({ limit: 2, leaseMs: 60_000, listeners });
    const { lease, now } = tried ?? expect.fail("nothing was claimed");
    await program.store.reschedule(lease, now + 3_600_000, ATTEMPT);
    const toTheSecond = (at: number) => new Date(at).toISOString().replace(/\.\d+Z/, "Z");
    const due = toTheSecond(now + 3_600_000);
    const [, first, second] = await stage.run("hookproof outbox list --outbox app.db");
    expect(first).toBe(
      `${due}  ${IDS[0]}  offboarding         1  400 REQUEST_REFUSED {"code":"BODY_NOT_JSON"}`,
    );
    expect(second).toBe(`in-flight             ${IDS[1]}  offboarding         0`);
    const seen = await stage.run("hookproof outbox cancel --listener offboarding --yes --outbox app.db");
    expect(seen).toEqual([
      "1 event cancelled",
      "! warning  2 events not cancelled, as an attempt has begun. Delivery goes on.",
    ]);
    for (const [id, why] of [
      [IDS[0], "as an attempt was made; it is tried again"],
      [IDS[1], "as it is being sent"],
    ])
      expect(await stage.run(`hookproof outbox cancel ${id} --outbox app.db`)).toEqual([
        "0 events cancelled",
        `! warning  offboarding: not cancelled, ${why}`,
        "? 7",
      ]);
    await program.store.rest("offboarding", 3_600_000);
    const [{ restsUntil = 0 } = {}] = await program.store.stats();
    expect((await stage.run("hookproof outbox status --outbox app.db")).at(-1)).toBe(
      `offboarding  rests until ${toTheSecond(restsUntil)}, as it asked for (Retry-After)`,
    );
    await program.store.unknown(["offboarding"]);
    expect((await stage.run("hookproof outbox status --outbox app.db")).at(-2)).toMatch(
      /^offboarding {2}unknown since .+: a worker's function of listeners does not have it$/,
    );
    await program.store.close();
  });
});

it("gives an encrypted dead letter no new id, as its body is bound to the one it has", async () => {
  await onStage(async (stage, work) => {
    const program = otherProgram(join(work, "app.db"));
    const encryption = aesGcmEncryption([{ id: "k", key: new Uint8Array(32) }]);
    const sealing = createOutbox({ store: program.store, listeners: { offboarding: LISTENER }, encryption });
    const { eventId } = await sealing.enqueue({ listener: "offboarding", payload: {} });
    const listeners = new Map([["offboarding", { most: 1, windowMs: 604_800_000 }]]);
    const [claimed] = await program.store.claim({ limit: 1, leaseMs: 60_000, listeners });
    const lease = claimed?.lease ?? expect.fail("nothing was claimed");
    await program.store.fail(lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false });
    const redrive = "hookproof outbox redrive --outbox app.db --yes";
    const refused = await stage.run(`${redrive} --new-ids 2>&1; echo $?`);
    expect(refused.join("\n")).toContain(`The body of the event ${eventId} is encrypted`);
    expect(refused.at(-1)).toBe("2");
    expect(await stage.run(`${redrive}; echo $?`)).toContain("0");
    expect(await program.store.stats()).toMatchObject([{ dead: 0 }]);
    await program.store.close();
  });
});
