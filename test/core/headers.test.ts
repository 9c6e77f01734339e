import { describe, expect, it } from "vitest";
import { detailOf } from "../../src/core/check.js";
import { receivedHeaders } from "../../src/core/headers.js";
import { shown } from "../../src/core/shown.js";

describe("receivedHeaders", () => {
  it("finds a name in any case, in every form headers come in", () => {
    const forms = [
      new Headers({ "Webhook-Timestamp": "1" }),
      [["WEBHOOK-TIMESTAMP", "1"]] as const,
      { "webhook-timestamp": "1" },
      { "Webhook-Timestamp": ["1"], "Webhook-Event-Id": undefined },
    ];
    for (const form of forms) {
      const headers = receivedHeaders(form);
      expect(headers.all("webhook-Timestamp")).toEqual(["1"]);
      expect(headers.all("Webhook-Event-Id")).toEqual([]);
    }
  });

  it("loses none that was sent twice, in whatever case", () => {
    expect(
      receivedHeaders([
        ["A", "1"],
        ["b", "x"],
        ["a", "2"],
      ]).all("a"),
    ).toEqual(["1", "2"]);
    expect(receivedHeaders({ a: ["1", "2"], A: "34" }).all("A")).toEqual(["1", "2", "34"]);
  });

  it("knows no names that objects have by themselves", () => {
    expect(receivedHeaders({}).all("constructor")).toEqual([]);
    expect(receivedHeaders([["__proto__", "x"]]).all("__proto__")).toEqual(["x"]);
  });
});

describe("what is shown of a text from outside", () => {
  it.each<[value: unknown, text: string]>([
    ["a", '"a"'],
    ["line\nbreak \u001b[31m", '"line\\nbreak \\u001b[31m"'],
    ["x".repeat(80), `"${"x".repeat(80)}"`],
    ["x".repeat(100), `"${"x".repeat(80)}…"`],
    ["\u009b2J\u202e\u200b", '"\\u009b2J\\u202e\\u200b"'],
    [undefined, "undefined"],
    [17, "17"],
    [["a", "b"], '["a","b"]'],
    [{ a: 1 }, '{"a":1}'],
  ])("%j", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  it("stands in one line with what was wanted", () => {
    const check = {
      step: "sub",
      ok: false,
      rule: "sub is the base URL",
      seen: '"a"',
      wanted: '"b"',
    } as const;
    expect(detailOf(check)).toBe('sub is the base URL. Received "a", expected "b".');
    expect(detailOf({ ...check, fact: "The sub was another." })).toBe(
      'The sub was another. Received "a", expected "b".',
    );
    expect(detailOf({ step: "sub", ok: true, rule: "sub is the base URL" })).toBe("sub is the base URL.");
    expect(detailOf({ step: "sub", ok: false, rule: "sub is the base URL", seen: "nothing" })).toBe(
      "sub is the base URL.",
    );
  });
});
