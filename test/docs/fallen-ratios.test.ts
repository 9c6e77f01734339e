import { describe, expect, it } from "vitest";
import { fallenRatios } from "../../bench/fallen.mjs";

const question = "HMAC verify, 1,024 bytes";
const kept = [{ kind: "rates", question, ratios: [{ of: "a", to: "b", ratio: 1, low: 0.9, high: 1.1 }] }];
/** What is fallen of rounds that lie evenly about a ratio, from `spread` below it to as much above. */
function fallenAt(ratio: number, spread: number, { before = kept, goal = 0 } = {}): string[] {
  const rounds = Array.from({ length: 15 }, (_, round) => ratio + (spread * (round - 7)) / 7);
  const answer = { question, ratios: [{ of: "a", to: "b", goal, ratio, high: ratio + spread / 2, rounds }] };
  return fallenRatios(answer, before).map(({ name }) => name);
}

describe("a ratio in the short form of the benches", () => {
  const name = `${question}: a of b`;

  it("has fallen when it is more than 15 % below the kept lower quartile", () => {
    expect(fallenAt(0.7, 0.05)).toEqual([name]);
    expect(fallenAt(0.8, 0.05)).toEqual([]);
    expect(fallenAt(1.5, 0.05)).toEqual([]);
  });

  it("has not fallen when its rounds lie so far apart that its median may be higher", () => {
    expect(fallenAt(0.7, 0.1)).toEqual([name]);
    expect(fallenAt(0.7, 0.4)).toEqual([]);
  });

  it("is not compared where the reference itself is slower or quicker than it was", () => {
    const rate = (perSecond: number) => ({ b: { perSecond } });
    const rounds = Array.from({ length: 15 }, () => 0.5);
    const answer = { question, ratios: [{ of: "a", to: "b", ratio: 0.5, high: 0.5, rounds }] };
    const before = kept.map((one) => ({ ...one, results: rate(10_000) }));
    const fallen = (perSecond: number) => fallenRatios({ ...answer, results: rate(perSecond) }, before);
    expect(fallen(10_900).map((one) => one.name)).toEqual([name]);
    expect(fallen(9_100).map((one) => one.name)).toEqual([name]);
    expect([fallen(11_100), fallen(8_900)]).toEqual([[], []]);
  });

  it("is not compared where one reference is as quick as it was and another is not", () => {
    const both = (b: number, c: number) => ({ b: { perSecond: b }, c: { perSecond: c } });
    const rounds = Array.from({ length: 15 }, () => 0.5);
    const ratios = ["b", "c"].map((to) => ({ of: "a", to, ratio: 0.5, high: 0.5, rounds }));
    const then = ["b", "c"].map((to) => ({ of: "a", to, ratio: 1, low: 0.9, high: 1.1 }));
    const before = [{ kind: "rates", question, ratios: then, results: both(10_000, 10_000) }];
    const fallen = (b: number, c: number) => fallenRatios({ question, ratios, results: both(b, c) }, before);
    expect(fallen(10_000, 9_500)).toHaveLength(2);
    expect(fallen(10_000, 5_000)).toEqual([]);
  });

  it("is asked for half its goal alone where there is nothing to compare it with", () => {
    expect(fallenAt(0.7, 0.05, { before: [], goal: 0.9 })).toEqual([]);
    expect(fallenAt(0.4, 0.05, { before: [], goal: 0.9 })).toEqual([name]);
  });
});
