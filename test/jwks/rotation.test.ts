import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeySet } from "hookproof/jwks";
import { type KeyStore, openKeyStore } from "hookproof/node";
import { type FixedClock, fixedClock } from "hookproof/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const MINUTE = 60_000;
const START = Date.parse("2026-01-01T00:00:00Z");
let dir: string;
let clock: FixedClock;
let store: KeyStore;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hookproof-rotation-"));
  clock = fixedClock(START);
  store = openKeyStore(dir, { clock });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const minutes = (at: number | undefined) => (at === undefined ? undefined : (at - START) / MINUTE);
const states = async () => (await store.list()).map(({ state }) => state);

describe("the plan of a rotation", () => {
  it("publishes for 15 minutes, then signs, and removes the old key 15 minutes after its last signature", async () => {
    const old = await store.generate({ alg: "ES256" });
    clock.advance(60 * MINUTE);
    const { kid, steps } = await store.rotate("ES256");
    expect(steps.map(({ step, kid: of, at }) => [step, of, minutes(at)])).toEqual([
      ["publish", kid, 60],
      ["sign", kid, 75],
      ["retire", old.kid, 75],
      ["remove", old.kid, 90],
    ]);
  });

  it("counts from when a waiting key was published", async () => {
    await store.generate({ alg: "ES256" });
    const waiting = await store.generate({ alg: "ES256" });
    clock.advance(10 * MINUTE);
    const { kid, steps } = await store.rotate("ES256");
    expect(kid).toBe(waiting.kid);
    expect(minutes(steps.find(({ step }) => step === "sign")?.at)).toBe(15);
  });

  it("is the same when it is asked for again while it is under way", async () => {
    await store.generate({ alg: "ES256" });
    const plan = await store.rotate("ES256");
    clock.advance(5 * MINUTE);
    expect(await store.rotate("ES256")).toEqual(plan);
    expect(await states()).toEqual(["active", "next"]);
  });

  it("is one plan when several processes ask at once", async () => {
    await store.generate({ alg: "EdDSA" });
    const others = [store, openKeyStore(dir, { clock }), openKeyStore(dir, { clock })];
    const plans = await Promise.all(others.map((one) => one.rotate("EdDSA")));
    expect(new Set(plans.map(({ kid }) => kid)).size).toBe(1);
    expect(await states()).toEqual(["active", "next"]);
  });

  it("waits for nothing where nothing signs yet", async () => {
    const { kid } = await store.rotate("EdDSA");
    expect((await createKeySet(store).signingKey("EdDSA")).kid).toBe(kid);
  });

  it("leaves other algorithms alone", async () => {
    const other = await store.generate({ alg: "EdDSA" });
    await store.generate({ alg: "ES256" });
    await store.rotate("ES256");
    clock.advance(60 * MINUTE);
    expect((await createKeySet(store).signingKey("EdDSA")).kid).toBe(other.kid);
  });
});

describe("waits", () => {
  it("are never shorter than the set's max-age and 5 minutes", async () => {
    await store.generate({ alg: "EdDSA" });
    await expect(store.rotate("EdDSA", { publishForMs: 10 * MINUTE - 1 })).rejects.toThrow(RangeError);
    await expect(store.rotate("EdDSA", { publishForMs: Number.NaN })).rejects.toThrow(/publishForMs/);
    expect(await states()).toEqual(["active"]);
    await store.setMaxAge(3_600);
    await expect(openKeyStore(dir, { clock }).rotate("EdDSA", { publishForMs: 15 * MINUTE })).rejects.toThrow(
      /3900000/,
    );
    const { steps } = await store.rotate("EdDSA");
    expect(minutes(steps.find(({ step }) => step === "sign")?.at)).toBe(65);
  });

  it("never remove a key whose last token may still be alive", async () => {
    await store.generate({ alg: "EdDSA" });
    await expect(store.rotate("EdDSA", { retireAfterMs: 10 * MINUTE - 1 })).rejects.toThrow(/retireAfterMs/);
    await expect(store.retire("x", { retireAfterMs: 10 * MINUTE - 1 })).rejects.toThrow(/retireAfterMs/);
    await expect(store.retire("x", { retireAfterMs: Number.NaN })).rejects.toThrow("at least 600000:");
    await expect(store.retire("x")).rejects.toMatchObject({ code: "KEY_NOT_FOUND" });
  });

  it("are skipped when the key has leaked, also in the middle of a rotation", async () => {
    const old = await store.generate({ alg: "EdDSA" });
    const planned = await store.rotate("EdDSA");
    clock.advance(MINUTE);
    const forced = await store.rotate("EdDSA", { immediately: true });
    expect(forced.kid).toBe(planned.kid);
    expect((await createKeySet(store).signingKey("EdDSA")).kid).toBe(planned.kid);
    expect(await states()).toEqual(["retired", "active"]);
    await store.remove(old.kid, { force: true });
    expect((await createKeySet(store).publicJwks()).keys).toHaveLength(1);
  });
});

describe("retiring and removing by hand", () => {
  it("keeps the key in the set for as long as it is told", async () => {
    const [first, second] = [await store.generate({ alg: "EdDSA" }), await store.generate({ alg: "EdDSA" })];
    const now = clock.now();
    await store.retire(first.kid, { force: true });
    await store.retire(second.kid, { retireAfterMs: 20 * MINUTE });
    expect((await store.list()).map(({ retiresAt, removesAt }) => [retiresAt, removesAt])).toEqual([
      [now, now + 15 * MINUTE],
      [now, now + 20 * MINUTE],
    ]);
  });

  it("is refused for a key that signs or whose tokens may be under way", async () => {
    const { kid } = await store.generate({ alg: "EdDSA" });
    await expect(store.retire(kid)).rejects.toMatchObject({ code: "KEY_IN_USE" });
    await expect(store.remove(kid)).rejects.toMatchObject({ code: "KEY_IN_USE" });
    await store.rotate("EdDSA");
    clock.advance(20 * MINUTE);
    await expect(store.remove(kid)).rejects.toMatchObject({
      code: "KEY_IN_USE",
      message: expect.stringContaining("00:30:00"),
    });
    await store.retire(kid);
    clock.advance(10 * MINUTE);
    await expect(store.remove(kid)).rejects.toMatchObject({ code: "KEY_NOT_FOUND" });
    expect(await states()).toEqual(["removed", "active"]);
  });

  it.each(["retire", "remove"] as const)(
    "%s of the key that would sign next leaves the active key active",
    async (call) => {
      const { kid } = await store.generate({ alg: "EdDSA" });
      const plan = await store.rotate("EdDSA");
      await store[call](plan.kid);
      clock.advance(60 * MINUTE);
      expect((await createKeySet(store).signingKey("EdDSA")).kid).toBe(kid);
      expect(await states()).toEqual(["active", "removed"]);
    },
  );

  it("lets the next key that is generated sign at once when nothing signs any more", async () => {
    const { kid } = await store.generate({ alg: "EdDSA" });
    await store.retire(kid, { force: true });
    await expect(createKeySet(store).signingKey("EdDSA")).rejects.toMatchObject({ code: "KEY_NOT_FOUND" });
    expect((await store.generate({ alg: "EdDSA" })).state).toBe("active");
  });
});

describe("rotating now and then", () => {
  it("makes one rotation each period, so that each key signs for that long", async () => {
    await store.generate({ alg: "EdDSA" });
    const signers = new Map<string, number>();
    for (let hour = 0; hour < 24 * 10; hour++) {
      await store.rotateDue(24 * 60 * MINUTE);
      const { kid } = await createKeySet(store).signingKey("EdDSA");
      signers.set(kid, (signers.get(kid) ?? 0) + 1);
      expect((await store.list()).filter(({ state }) => state === "active")).toHaveLength(1);
      clock.advance(60 * MINUTE);
    }
    // The host looks every hour here, so a rotation starts at the first look after it is due.
    expect([...signers.values()].slice(0, -1).every((hours) => hours >= 24 && hours <= 26)).toBe(true);
    expect(signers.size).toBe(10);
  });

  it("refuses a period that is shorter than the wait", async () => {
    await store.generate({ alg: "EdDSA" });
    await expect(store.rotateDue(15 * MINUTE)).rejects.toThrow(/everyMs/);
  });
});

describe("a clock that is behind the one that erased a key", () => {
  it("does not bring the key back", async () => {
    const { kid } = await store.generate({ alg: "EdDSA" });
    await store.rotate("EdDSA");
    clock.advance(60 * MINUTE);
    await store.rotateDue(24 * 60 * MINUTE);
    const behind = openKeyStore(dir, { clock: fixedClock(START) });
    expect((await behind.load()).map((key) => key.kid)).not.toContain(kid);
    expect((await behind.list()).map(({ state }) => state)).toEqual(["removed", "next"]);
    await behind.rotate("EdDSA");
    expect((await createKeySet(behind).publicJwks()).keys).toHaveLength(1);
  });
});

describe("a list", () => {
  it("says of each key what happens next", async () => {
    await store.generate({ alg: "EdDSA" });
    expect((await store.list()).map(({ nextStep }) => nextStep)).toEqual([undefined]);
    await store.rotate("EdDSA");
    const next = async () =>
      (await store.list()).map(({ nextStep }) => [nextStep?.step, minutes(nextStep?.at)]);
    expect(await next()).toEqual([
      ["retire", 15],
      ["sign", 15],
    ]);
    clock.advance(15 * MINUTE);
    expect(await next()).toEqual([
      ["remove", 30],
      [undefined, undefined],
    ]);
  });
});
