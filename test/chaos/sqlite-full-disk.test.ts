import { afterAll, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { smallDisk } from "../kit/small-disk.js";
import { outboxChaos } from "./outbox-chaos.js";
import { sqliteEngine } from "./sqlite-engine.js";

const SIZE = process.env.HOOKPROOF_LONG
  ? { events: 5_000, disturbances: 16 }
  : { events: 400, disturbances: 4 };

const disk = smallDisk(48);
afterAll(() => disk?.remove()); // nothing of it may be open

itWith("mount", disk)("SQLite: the disk of its file is full", async () => {
  if (!disk) return;
  const { engine, close } = sqliteEngine(disk.folder, disk);
  try {
    const { broken, summary } = await outboxChaos(engine, SIZE);
    console.info(summary);
    expect(broken.slice(0, 20)).toEqual([]);
    expect(summary["cut-store"]).toBeGreaterThan(0);
    expect(summary.storeLost).toBeGreaterThan(0); // somebody has noticed
  } finally {
    close();
  }
});
