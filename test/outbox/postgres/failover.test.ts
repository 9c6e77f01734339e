import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Activity, hmacSigner } from "hookproof";
import { createOutbox, type Outbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import { expect, onTestFinished } from "vitest";
import { itWith } from "../../kit/needs.js";
import { debianBinaries, testPool } from "../../kit/postgres.js";
import { type PostgresPair, postgresPair } from "../../kit/postgres-pair.js";
import { type ReceiverServer, receiverServer, SECRET } from "../../kit/receiver-server.js";

const itWithPostgres = itWith("postgresql", debianBinaries());

interface Stage {
  readonly pair: PostgresPair;
  readonly receiver: ReceiverServer;
  readonly outbox: Outbox;
  readonly told: Activity[];
  /** Enqueues under an id; whether it was acknowledged. */
  enqueue(eventId: string): Promise<string>;
}

async function stage(isSynchronous: boolean): Promise<Stage> {
  const pair = (await postgresPair(isSynchronous)) ?? expect.fail("PostgreSQL is missing");
  const receiver = await receiverServer();
  const pool = testPool({ connectionString: pair.url });
  const told: Activity[] = [];
  const outbox = createOutbox({
    store: postgresStore({ pool }),
    listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
    observe: (event) => told.push(event),
  });
  onTestFinished(async () => {
    await outbox[Symbol.asyncDispose]();
    await pool.end();
    await receiver.stop();
    await pair.stop();
  });
  const enqueue = (eventId: string) =>
    outbox.enqueue({ listener: "orders", eventId, payload: { eventId } }).then(
      () => "stored",
      (error: { code: string }) => error.code,
    );
  return { pair, receiver, outbox, told, enqueue };
}

itWithPostgres(
  "a failover in the middle loses nothing that was acknowledged, with synchronous replication",
  async () => {
    const { pair, receiver, outbox, told, enqueue } = await stage(true);
    const acknowledged: string[] = [];
    const refusals = new Set<string>();
    let isEnough = false;
    // A producer that enqueues until it is told to stop, and repeats what was not acknowledged under its id.
    const producer = async () => {
      while (!isEnough) {
        const id = randomUUID();
        for (;;) {
          const answer = await enqueue(id);
          if (answer === "stored") break;
          refusals.add(answer);
          await wait(20);
        }
        acknowledged.push(id);
      }
    };
    outbox.start();
    const producing = Promise.all([producer(), producer(), producer()]);
    await expect.poll(() => receiver.runs.size).toBeGreaterThan(30);

    await pair.killPrimary();
    // The address is moved before the standby is promoted: for a moment it leads to a server that can be read only.
    pair.pointToStandby();
    await wait(300);
    const before = acknowledged.length;
    await pair.promote();
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 30);
    isEnough = true;
    await producing;

    const missing = () => acknowledged.filter((id) => !receiver.runs.has(id));
    await expect.poll(missing, { timeout: 75_000 }).toEqual([]);
    expect([...receiver.runs.values()].filter((runs) => runs !== 1)).toEqual([]);
    for (const code of refusals) expect(["OUTBOX_UNAVAILABLE", "OUTBOX_OUTCOME_UNKNOWN"]).toContain(code);
    const available = told.flatMap((event) => (event.type === "store-changed" ? [event.available] : []));
    expect(available.at(-1) ?? true).toBe(true);
    const [stats] = await outbox.stats();
    expect(stats?.dead).toBe(0);
  },
);

itWithPostgres(
  "asynchronous replication may lose what it had not sent, and sends again what it does not know to be delivered",
  async () => {
    const { pair, receiver, outbox, enqueue } = await stage(false);
    const [kept, lost] = [randomUUID(), randomUUID()];
    expect(await enqueue(kept)).toBe("stored");
    const isThere = async (id: string) =>
      (await pair.on("standby", `SELECT 1 FROM hookproof.event WHERE id = '${id}'`)).length === 1;
    await expect.poll(() => isThere(kept)).toBe(true);

    pair.replication.forget(); // the standby hears nothing any more, and nobody waits for it
    await outbox.drain();
    expect(receiver.runs.get(kept)).toBe(1);
    expect(await enqueue(lost)).toBe("stored");
    await pair.killPrimary();
    pair.pointToStandby();
    await pair.promote();

    await expect.poll(() => outbox.find(lost).catch(() => undefined)).toEqual([]);
    outbox.start();
    await expect.poll(async () => (await outbox.find(kept))[0]?.state, { timeout: 75_000 }).toBe("delivered");
    // It was sent twice, under one id, and run once.
    expect(receiver.requests.length).toBeGreaterThan(1);
    expect([...receiver.runs]).toEqual([[kept, 1]]);
  },
);

itWithPostgres(
  "with synchronous replication an event that the standby has not got is not acknowledged",
  async () => {
    const { pair, enqueue } = await stage(true);
    expect(await enqueue(randomUUID())).toBe("stored");
    pair.replication.forget();
    const id = randomUUID();
    expect(await enqueue(id)).toBe("OUTBOX_OUTCOME_UNKNOWN");
    await pair.killPrimary();
    pair.pointToStandby();
    await pair.promote();
    // Repeated under its id, it is stored once.
    await expect.poll(() => enqueue(id)).toBe("stored");
  },
);
