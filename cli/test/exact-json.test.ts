import { describe, expect, it } from "vitest";
import { readExact, writeExact } from "../src/send/exact-json.js";
import { setMembers } from "../src/send/payload.js";

describe("--set", () => {
  it.each<[data: string, set: string, body: string]>([
    ['{"id":1152921506151679042}', "x=1", '{"id":1152921506151679042,"x":1}'],
    ['{"a":0}', "a=12345678901234567890", '{"a":12345678901234567890}'],
    ['{"a":136.0,"b":[1e400,-0]}', "c=1.10", '{"a":136.0,"b":[1e400,-0],"c":1.10}'],
    [
      '{"t":"1152921506151679042 \\" 2.0","n":{"2.0":1}}',
      "x=y",
      '{"t":"1152921506151679042 \\" 2.0","n":{"2.0":1},"x":"y"}',
    ],
    ["[2.0]", '1={"a":[9007199254740993]}', '[2.0,{"a":[9007199254740993]}]'],
  ])("leaves the numbers of %s as they are written, with %s", (data, set, body) => {
    expect(setMembers(data, [set])).toBe(body);
    expect(setMembers(new TextEncoder().encode(data), [set])).toBe(body);
  });

  it.each<[data: string | Uint8Array, set: string]>([
    ['{"a":1,"a":2}', "b=1"],
    ['{"x":[{"a":1,"\\u0061":2}]}', "b=1"],
    ["{}", 'b={"a":1,"a":2}'],
    [Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), "b=1"],
    ["{", "b=1"],
  ])("refuses what would be lost: %s and %s", (data, set) => {
    expect(() => setMembers(data, [set])).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

it("data that is nested deeply is said to be so, and not to have a doubled member", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(setMembers(nested(1_000), ["0=1"])).toMatch(/^\[1\]$/);
  expect(() => setMembers(`[0,${nested(30_000)}]`, ["0=1"])).toThrow(/nested too deeply/);
});

it("a member of a line of --batch keeps its numbers", () => {
  const { payload } = readExact('{"listener":"a","payload":{"id":1152921506151679042}}') as {
    payload: unknown;
  };
  expect(writeExact(payload)).toBe('{"id":1152921506151679042}');
});
