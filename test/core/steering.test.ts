import { expect, it } from "vitest";
import { inertJson, inertLine } from "../../cli/src/output.js";
import { visible } from "../../service/inspector/text/visible.js";
import { FixtureError } from "../../service/src/state/fixture-error.js";
import { STEERING, shown } from "../../src/core/shown.js";

const characters = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).filter(
  (_, code) => code < 0xd800 || code > 0xdfff,
);
const isSteering = (character: string) => character.replace(STEERING, "") === "";
const steering = characters.filter(isSteering);
const others = characters.filter((character) => !isSteering(character) && !/["\\]/.test(character));

it.each([
  ["C0 and C1", "\u0000\u0007\u001b\u007f\u0085\u009b"],
  ["separators", "\u2028\u2029"],
  ["marks for direction", "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"],
  ["what has no width", "\u00ad\u034f\u180e\u200b\u200d\u2060\u2064\u2065\ufeff"],
  ["old format characters", "\u206a\u206f\ufff9\ufffa\ufffb"],
  ["fillers and selectors", "\u115f\u1160\u3164\uffa0\ufe0f\u{e0100}"],
  ["tag characters", "\u{e0000}\u{e0001}\u{e0041}\u{e007f}"],
])("%s steer or hide", (_, text) => {
  expect([...text].filter((character) => !isSteering(character))).toEqual([]);
  expect(shown(text)).toMatch(/^"(?:\\(?:u[\da-f]{4}|[bfnrt]))+"$/);
  expect(JSON.parse(shown(text))).toBe(text);
});

it("leaves letters, marks, emoji and spaces as they are", () => {
  for (const text of ["Ä", "e\u0301", "עברית", "😀", "a b", "\u00a0"])
    expect(shown(text)).toBe(JSON.stringify(text));
});

it("is one set, in the library, on the command line, on the inspector's page and in a fixture's mistakes", () => {
  const passed = (show: (character: string) => string) =>
    steering.filter((character) => show(character).includes(character)).map((one) => one.codePointAt(0));
  expect(passed(shown)).toEqual([]);
  expect(passed(inertLine)).toEqual([]);
  expect(passed(inertJson)).toEqual([]);
  const inFixture = (field: string) => new FixtureError("file", [{ field, description: "is wrong" }]).message;
  expect(passed(inFixture)).toEqual([]);
  expect(inFixture("\u{e0041}")).toBe("file: \\udb40\\udc41 is wrong");
  expect(steering.filter((character) => visible(character)[0]?.hidden === undefined)).toEqual([]);

  const text = others.join("");
  expect(inertLine(text) === text).toBe(true);
  expect(shown(text, text.length) === `"${text}"`).toBe(true);
});
