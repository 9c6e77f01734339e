import { describe, expect, it } from "vitest";
import { duplicateMember, parseJson } from "../../src/core/json.js";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("parseJson", () => {
  it.each<[text: string, value: unknown]>([
    ["null", null],
    [' [1, "a"]\n', [1, "a"]],
    ['"\\ud800"', "\ud800"],
    ['{"a":{"b":false}}', { a: { b: false } }],
  ])("reads %j", (text, value) => {
    expect(parseJson(bytes(text))).toEqual({ ok: true, value });
  });

  it.each([
    "",
    " ",
    "1 2",
    "{} {}",
    "{'a':1}",
    "{a:1}",
    "[1,]",
    "NaN",
    "01",
    "\uFEFF1",
    '"a\nb"',
    "// c\n1",
    "undefined",
  ])("refuses %j", (text) => {
    expect(parseJson(bytes(text))).toEqual({ ok: false, reason: "not-json" });
  });

  it("refuses bytes that are not UTF-8, and UTF-16", () => {
    expect(parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toEqual({ ok: false, reason: "not-utf8" });
    expect(parseJson(new Uint8Array(Buffer.from("{}", "utf16le"))).ok).toBe(false);
  });

  it("sets no prototype", () => {
    const parsed = parseJson(
      bytes('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );
    expect(parsed.ok).toBe(true);
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("duplicateMember", () => {
  it.each<[text: string, name: string | undefined]>([
    ["{}", undefined],
    ['{"a":1,"b":2}', undefined],
    ['{"a":1,"a":2}', "a"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"":1,"":2}', ""],
    ['{"a":{"a":1}}', undefined],
    ['{"a":[{"b":1},{"b":2}]}', undefined],
    ['{"a":[{"b":1,"b":2}]}', "b"],
    ['{"a":{"x":1},"b":{"x":1},"a":0}', "a"],
    ['{"a":"a","b":"a"}', undefined],
    ['{"a":"{\\"a\\":1,\\"a\\":2}"}', undefined],
    ['{"a":["a","a"]}', undefined],
    ['{"a\\"":1,"a\\"":2}', 'a"'],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"toString":1}', undefined],
    [' { "a" : 1 ,\n "a" : 2 } ', "a"],
    ['{"a":[1],"b":1,"b":2}', "b"],
    ['["a","a"]', undefined],
    ['"a"', undefined],
    ["1", undefined],
  ])("of %s is %j", (text, name) => {
    JSON.parse(text);
    expect(duplicateMember(text)).toBe(name);
  });
});
