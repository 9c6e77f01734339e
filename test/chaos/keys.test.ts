import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKeyStore } from "hookproof/node";
import { expect, it, onTestFinished } from "vitest";
import { seededRandom } from "../kit/seed.mjs";

const KILLS = process.env.HOOKPROOF_LONG === "1" ? 200 : 15;
const random = seededRandom("keys");

/** A time at which a key is made, or the key that was. */
type Step = { readonly now: number } | { readonly kid: string };

/** Runs a process that generates and rotates, kills it at a random moment, and gives the steps it reported. */
function killedAtRandom(dir: string, now: number): Promise<Step[]> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "keys-process.mjs"), dir, String(now)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    // Within a step, and after a few, however slow the machine is.
    const last = 2 + Math.floor(random() * 6);
    const lateMs = random() * 20;
    let isDue = false;
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (isDue || text.split("\n").length <= last) return;
      isDue = true;
      setTimeout(() => child.kill("SIGKILL"), lateMs);
    });
    child.on("close", () => {
      const complete = text.slice(0, text.lastIndexOf("\n")).split("\n").slice(1);
      resolve(complete.filter((line) => line !== "").map((line) => JSON.parse(line) as Step));
    });
  });
}

it(`after each of ${KILLS} kills the store opens, no key is lost and no kid doubles`, {
  timeout: 600_000,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "hookproof-chaos-keys-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  let now = Date.parse("2026-01-01T00:00:00Z");
  const known = new Set<string>();
  let left = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // Two at once, so that one is also killed while the other holds or wants the lock.
    const steps = (await Promise.all([killedAtRandom(dir, now), killedAtRandom(dir, now)])).flat();
    left += readdirSync(dir).filter((name) => name !== "keys.json").length;
    for (const step of steps) {
      if ("kid" in step) known.add(step.kid);
      else now = Math.max(now, step.now);
    }

    const store = openKeyStore(dir, { clock: { now: () => now } });
    const keys = await store.list();
    const kids = keys.map(({ kid }) => kid);
    expect(new Set(kids).size).toBe(kids.length);
    expect(kids).toEqual(expect.arrayContaining([...known]));
    for (const kid of kids) known.add(kid);
    for (const alg of ["ES256", "EdDSA"]) {
      const own = keys.filter((key) => key.alg === alg);
      expect(own.filter(({ state }) => state === "active").length).toBe(own.length === 0 ? 0 : 1);
    }
    const living = keys.filter(({ state }) => state !== "removed").map(({ kid }) => kid);
    const records = await store.load();
    expect(records.map(({ kid }) => kid)).toEqual(living);
    for (const { privateJwk } of records) expect(privateJwk.d).toEqual(expect.any(String));
  }

  // What the killed ones left behind holds nobody up, and is gone with the next write.
  now += 24 * 60 * 60_000;
  await openKeyStore(dir, { clock: { now: () => now } }).generate({ alg: "EdDSA" });
  expect(readdirSync(dir)).toEqual(["keys.json"]);
  expect(known.size).toBeGreaterThan(KILLS / 2);
  const { keys } = JSON.parse(readFileSync(join(dir, "keys.json"), "utf8")) as {
    keys: { removesAt?: number; privateJwk?: unknown }[];
  };
  for (const key of keys)
    expect(key.privateJwk === undefined).toBe(key.removesAt !== undefined && key.removesAt <= now);
  console.info(
    `${KILLS * 2} processes killed, ${known.size} keys, ${left} files left behind and cleared away`,
  );
});
