import { type Activity, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import { expect } from "vitest";
import { itWith } from "../../kit/needs.js";
import { debianBinaries, ownPostgres, testPool } from "../../kit/postgres.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

itWith("postgresql", debianBinaries())(
  "a server that is killed comes back to workers that waited for it",
  async () => {
    const postgres = (await ownPostgres()) ?? expect.fail("PostgreSQL is missing");
    const pool = testPool({ connectionString: postgres.url });
    const receiver = await receiverServer({});
    const told: Activity[] = [];
    const outbox = createOutbox({
      store: postgresStore({ pool }),
      listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
      observe: (event) => told.push(event),
    });
    const enqueue = (place: number) => outbox.enqueue({ listener: "orders", payload: { place } });
    const available = () =>
      told.flatMap((event) => (event.type === "store-changed" ? [event.available] : []));
    try {
      await enqueue(1);
      outbox.start();
      await expect.poll(async () => (await outbox.stats())[0]?.delivered).toBe(1);

      await postgres.kill();
      const error = () => enqueue(2).catch((caught) => caught);
      await expect.poll(error).toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
      // At once, as nobody is there, and not because time was over.
      expect(await error()).toMatchObject({ code: "OUTBOX_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
      await expect.poll(() => available()[0]).toBe(false);

      await postgres.restart();
      await expect
        .poll(() =>
          enqueue(3).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      await expect.poll(async () => (await outbox.stats())[0]?.delivered).toBe(2);
      expect(available().at(-1)).toBe(true);
    } finally {
      await outbox[Symbol.asyncDispose]();
      await pool.end();
      await receiver.stop();
      await postgres.stop();
    }
  },
);
