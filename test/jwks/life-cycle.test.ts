import type { KeyLife } from "hookproof/jwks";
import { currentRotation, nextStep } from "hookproof/jwks/rotation";
import { describe, expect, it } from "vitest";
import { keyNamed, removeKey, retireKey } from "../../src/jwks/life-cycle.js";

const key = (kid: string, times: Partial<KeyLife> = {}): KeyLife => ({
  kid,
  alg: "ES256",
  createdAt: 0,
  ...times,
});
const named = (keys: readonly KeyLife[], kid: string) => keys.find((one) => one.kid === kid);

describe("the current rotation", () => {
  it("leads to the key that signs last, wherever it stands in the list", () => {
    const older = key("older", { signsAt: 0, retiresAt: 10, removesAt: 20 });
    const old = key("old", { signsAt: 10, retiresAt: 50, removesAt: 90 });
    const successor = key("new", { createdAt: 30, signsAt: 50 });
    const waiting = key("waiting", { createdAt: 35 });
    for (const keys of [
      [older, old, successor, waiting],
      [waiting, successor, old, older],
      [successor, waiting, older, old],
    ]) {
      const plan = currentRotation(keys, "ES256", 40);
      expect(plan?.kid).toBe("new");
      expect(plan?.steps.map(({ step, kid, at }) => `${step} ${kid} ${at}`)).toEqual([
        "publish new 30",
        "sign new 50",
        "retire old 50",
        "remove old 90",
      ]);
    }
  });

  it("is none where no key signs or will sign: all wait, or are retired", () => {
    const keys = [
      key("a", { signsAt: 0, retiresAt: 20, removesAt: 900 }),
      key("b", { signsAt: 20, retiresAt: 30, removesAt: 910 }),
      key("waiting"),
    ];
    expect(currentRotation(keys, "ES256", 40)).toBeUndefined();
    expect(currentRotation(keys, "ES256", 29)?.kid).toBe("b");
  });

  it("has its steps in order of time, though the new key's own end is planned", () => {
    const keys = [
      key("new", { createdAt: 30, signsAt: 50, retiresAt: 200, removesAt: 300 }),
      key("old", { signsAt: 10, retiresAt: 50, removesAt: 90 }),
    ];
    const times = currentRotation(keys, "ES256", 60)?.steps.map(({ at }) => at);
    expect(times).toEqual([30, 50, 50, 90, 200, 300]);
  });
});

describe.each(["retired", "removed"] as const)("a key that is %s by force", (state) => {
  const end = (keys: readonly KeyLife[], kid: string, now: number) =>
    state === "retired"
      ? retireKey(keys, kid, { now, retireAfterMs: 600, force: true })
      : removeKey(keys, kid, { now, force: true });

  it.each([10, 40])("does not bring back the key that it took over from (now = %i)", (now) => {
    const older = key("older", { signsAt: 0, retiresAt: 10, removesAt: 900 });
    const left = end([older, key("old", { signsAt: 10, retiresAt: 50, removesAt: 950 })], "old", now);
    expect(named(left, "older")).toEqual(older);
    expect(named(left, "old")?.signsAt).toBe(10);
  });

  it("leaves alone what was planned for the keys before, where it only waited", () => {
    const dropped = key("dropped", { removesAt: 5 });
    const active = key("active", { signsAt: 0 });
    const left = end([dropped, active, key("waiting")], "waiting", 40);
    expect([named(left, "dropped"), named(left, "active")]).toEqual([dropped, active]);
    expect(named(left, "dropped")).toHaveProperty("removesAt", 5);
  });

  it("cancels the rotation to it, and no other time", () => {
    const older = key("older", { signsAt: 0, retiresAt: 10, removesAt: 900 });
    const active = key("active", { signsAt: 10, retiresAt: 50, removesAt: 950 });
    const left = end([older, active, key("new", { signsAt: 50 })], "new", 40);
    expect(named(left, "older")).toEqual(older);
    expect(named(left, "active")).toEqual({ ...active, retiresAt: undefined, removesAt: undefined });
    expect(named(left, "new")?.signsAt).toBeUndefined();
  });
});

it("an id in a message is cut, as it may be anything", () => {
  const kid = `${"k".repeat(80)}SECRET`;
  expect(() => keyNamed([], kid, 0)).toThrow(`There is no key with the kid "${"k".repeat(80)}".`);
});

it("the next step is the first that lies ahead", () => {
  const times = { signsAt: 10, retiresAt: 20, removesAt: 30 };
  expect(nextStep(key("a", times), 9)).toEqual({ step: "sign", kid: "a", at: 10 });
  expect(nextStep(key("a", times), 10)).toEqual({ step: "retire", kid: "a", at: 20 });
  expect(nextStep(key("a", times), 30)).toBeUndefined();
});
