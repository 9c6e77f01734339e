import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { beforeAll, expect, it } from "vitest";
import { openStage, requireBuild } from "../../test/kit/transcript.js";
import { otherProgram } from "./kit/other-program.js";

beforeAll(requireBuild);

it("a worker that was killed stays with its last sign, and one that was stopped is gone", async () => {
  const stage = await openStage();
  try {
    const work = join(stage.folder, "work");
    const { store } = otherProgram(join(work, "app.db"));
    const seen = async () => (await store.workers()).map(({ name }) => name).sort();
    const status = async (flags = "") =>
      (await stage.runInOne(`hookproof outbox status --outbox app.db ${flags}`)).join("\n");
    expect(await stage.run(`hookproof outbox work --outbox app.db --worker ${"x".repeat(201)}`)).toContain(
      "? 2",
    );
    await stage.run("hookproof listen &");
    await stage.run("hookproof profile add offboarding --target :4400");
    const ended = stage.run(`set -m
      hookproof outbox work --outbox app.db --worker "the killed" >/dev/null 2>&1 & killed=$!
      hookproof outbox work --outbox app.db --worker stopped >/dev/null 2>&1 & stopped=$!
      exec 2>/dev/null
      until [ -e go ]; do sleep 0.1; done
      kill -KILL $killed; kill -INT $stopped; wait $killed; echo $?; wait $stopped; echo $?`);
    await expect.poll(seen).toEqual(["stopped", "the killed"]);
    writeFileSync(join(work, "go"), "");
    expect(await ended).toEqual(["137", "0"]);
    expect(await seen()).toEqual(["the killed"]);
    expect(await status()).toMatch(/^worker +running since +last seen\nthe killed +20\S+Z +[0-9]+m?s ago$/m);
    const time = expect.stringMatching(/^20.*Z$/);
    expect(JSON.parse(await status("--json")).workers).toEqual([
      { name: "the killed", startedAt: time, lastSeenAt: time, silentMs: expect.any(Number) },
    ]);

    const db = openSqlite(join(work, "app.db"));
    const wasSeen = (ms: number) =>
      db.exec(`UPDATE hookproof_outbox_workers SET seen_at = ${Date.now() - ms}`);
    wasSeen(200_000);
    expect(await status()).toMatch(/^the killed .* not seen for 3m$/m);
    wasSeen(-3_600_000);
    expect(await status()).toMatch(/^the killed .* not seen since the clock was put back$/m);
    db.exec("DROP TABLE hookproof_outbox_workers");
    db.close();
    expect(await status()).toBe("The outbox is empty.");
    expect(JSON.parse(await status("--json"))).not.toHaveProperty("workers");
    await store.close();
  } finally {
    await stage.close();
  }
});
