import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createOutbox, type Outbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import type { OutboxStore } from "hookproof/outbox/store";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../test/kit/needs.js";
import { emptyDatabase, ownPostgres, testPool } from "../../test/kit/postgres.js";
import { matches, openStage, parseTranscript, requireBuild } from "../../test/kit/transcript.js";
import { ATTEMPT, IDS, LISTENER } from "./kit/other-program.js";

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());
beforeAll(requireBuild);

describeWith("postgresql", postgres)("an outbox of another program on PostgreSQL", () => {
  let url: string;
  let pool: pg.Pool;
  let store: OutboxStore<unknown>;
  let outbox: Outbox;

  beforeEach(async () => {
    url = await emptyDatabase(postgres?.url ?? "", "shop");
    pool = testPool({ connectionString: url });
    store = postgresStore({ pool });
    outbox = createOutbox({ store, listeners: { offboarding: LISTENER, archive: LISTENER } });
  });
  afterEach(async () => {
    await store.close();
    await pool.end();
  });

  it("is looked after by a person", async () => {
    await outbox.enqueue({ listener: "offboarding", eventId: IDS[0], payload: { n: 0 } });
    const listeners = new Map([["offboarding", { most: 1, windowMs: 604_800_000 }]]);
    const [claimed] = await store.claim({ limit: 1, leaseMs: 60_000, listeners });
    const lease = claimed?.lease ?? expect.fail("nothing was claimed");
    await store.fail(lease, {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: ATTEMPT,
      blocksKey: false,
    });
    for (const n of [1, 2])
      await outbox.enqueue({ listener: "offboarding", eventId: IDS[n], payload: { n } });
    await outbox.enqueue({ listener: "archive", eventId: IDS[3], payload: {} });

    const stage = await openStage();
    try {
      const story = readFileSync(join(import.meta.dirname, "outbox-postgresql.txt"), "utf8");
      for (const { command, expected } of parseTranscript(story)) {
        const server = url.replace(/\/shop$/, "");
        const seen = await stage.run(command.replaceAll("postgres://shop@db", server));
        if (!matches(expected, seen)) expect({ command, seen }).toEqual({ command, seen: expected });
      }
    } finally {
      await stage.close();
    }
  });

  it("is worked by two processes while it is filled, each event once", async () => {
    const stage = await openStage();
    try {
      await stage.run("hookproof listen &");
      await stage.run("hookproof profile add offboarding --target :4400");
      // As Ctrl-C ends them, once all is delivered.
      const workers = stage.run(
        `set -m; exec 2>/dev/null
        for n in 1 2; do hookproof outbox work --outbox '${url}' --json >$n & done
        until [ "$(cat 1 2 | grep -c '"outcome":"delivered"')" -ge 30 ]; do sleep 0.1; done
        kill -INT %1 %2; wait; cat 1 2`,
      );
      const sent = new Set<string>();
      for (let n = 0; n < 30; n++) {
        const { eventId } = await outbox.enqueue({ listener: "offboarding", payload: { n } });
        sent.add(eventId);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const printed = (await workers).map((line) => JSON.parse(line));
      const delivered = printed.filter(({ type }) => type === "delivery");
      expect(delivered.map(({ outcome }) => outcome)).toEqual([...sent].map(() => "delivered"));
      expect(new Set(delivered.map(({ eventId }) => eventId))).toEqual(sent);
    } finally {
      await stage.close();
    }
  });
});
