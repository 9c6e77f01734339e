import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { asCommand } from "../../service/inspector/copy/as-command.js";
import { asCurl } from "../../service/inspector/copy/as-curl.js";
import { asProgram } from "../../service/inspector/copy/as-program.js";
import { asTest } from "../../service/inspector/copy/as-test.js";
import { decode, fromBase64, hexDump, hexOf, sizeOf, toBase64 } from "../../service/inspector/text/bytes.js";
import { type DiffLine, diffLines } from "../../service/inspector/text/diff-lines.js";
import { isJson, prettyJson } from "../../service/inspector/text/pretty-json.js";
import { ago, dateAndTime, minutesAndSeconds, timeOfDay } from "../../service/inspector/text/time.js";
import { hasHidden, visible } from "../../service/inspector/text/visible.js";
import fc from "../kit/fast-check.js";

describe("a copied curl command", () => {
  const value = "it's \x9b31mred\x85\\ n\xe9";
  const command = asCurl({
    method: "POST",
    url: "http://127.0.0.1:1/x",
    headers: [["X-Title", value]],
    bodyBase64: "",
  } as unknown as Parameters<typeof asCurl>[0]);

  it("has nothing of a header that would act in a terminal", () => {
    expect(command.replaceAll("\n", "")).toMatch(/^[ -~]+$/);
  });

  it("gives bash the bytes of the header as they came", () => {
    const words = execFileSync("bash", ["-c", `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });
    expect(words.toString("latin1").split("\n")).toContain(`X-Title: ${value}`);
  });
});

describe("what a file that was imported says of its address and method, in what is copied", () => {
  const url = "http://127.0.0.1:1/a'\u001b[201~\n\u009b31m\u202e\u{e0041}$(id)\\é";
  const detail = {
    ...{ method: "X\u001b[201~'", url, headers: [], bodyBase64: "e30=", auth: "jwt" },
    token: { key: { kid: "k\u001b[201~'" } },
  } as unknown as Parameters<typeof asCurl>[0];
  const words = (command: string, name: string) =>
    execFileSync("bash", ["-c", `${name}() { printf '%s\\0' "$@"; }\n${command}`], {
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    })
      .toString()
      .split("\0");

  it.each([
    ["curl", asCurl(detail)],
    ["hookproof", asCommand(detail) ?? ""],
  ])("has nothing that would act in a terminal, and stays one word of bash: %s", (name, command) => {
    expect(command.replaceAll("\n", "")).toMatch(/^[ -~]+$/);
    expect(words(command, name)).toContain(url);
  });

  it("nor has a program or a test of it, which still have the same address", () => {
    const listener = { id: "lst_1", url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1", auth: "hmac" };
    const hmac = { ...detail, auth: "hmac" as const, steps: [], status: 400, at: 0 };
    const test = asTest(hmac, { ...listener, allowedCidrs: [] } as never) ?? "";
    const [, inTest = '""'] = /^ {2}url: (".*"),$/m.exec(test) ?? [];
    expect(JSON.parse(inTest)).toBe(url);
    const php = asProgram("PHP", hmac) ?? "";
    for (const text of [test, php]) expect(text.replaceAll(/[\n…]/g, "")).toMatch(/^[ -~]+$/);
    expect(php).toContain(
      `"http://127.0.0.1:1/a'\\u{1b}[201~\\u{a}\\u{9b}31m\\u{202e}\\u{e0041}\\$(id)\\\\\\u{e9}"`,
    );
  });

  it("so do the method and the id of the key", () => {
    expect(words(asCurl(detail), "curl")).toContain("X\u001b[201~'");
    expect(words(asCommand(detail) ?? "", "hookproof")).toContain("k\u001b[201~'");
  });
});

describe("invisible characters are shown", () => {
  it.each([
    ["a\nb", ["a", "⏎\n", "b"]],
    ["a\r\tb", ["a", "␍", "→\t", "b"]],
    ["\u202egpj.exe", ["U+202E", "gpj.exe"]],
    ["\ufeff{}", ["BOM", "{}"]],
    ["a\u200bb", ["a", "U+200B", "b"]],
    ["a b\u00a0c", ["a b", "⍽", "c"]],
    ["\u{e0041}", ["U+E0041"]],
  ])("%j", (text, expected) => {
    expect(visible(text).map((stretch) => stretch.text)).toEqual(expected);
  });

  it("in few characters where there are thousands: a browser takes long over long lines", () => {
    const text = visible("\0".repeat(60_000))
      .map((stretch) => stretch.text)
      .join("");
    expect(text.length).toBeLessThan(75_000);
    expect(text.endsWith("\u2400")).toBe(true);
  });

  it("of thousands, each in the one sign that it has, and what is seen as it is", () => {
    const stretches = visible(`${"\0a".repeat(1_000)}\x1fb\u200bc\n`);
    expect(stretches.slice(0, 2)).toEqual([{ text: "U+0000", hidden: "U+0000" }, { text: "a" }]);
    expect(stretches.slice(2_000)).toEqual([{ text: "\u241fb‹U+200B›c‹⏎\n›" }]);
    expect(visible("\0a".repeat(1_000))).toHaveLength(2_000);
  });

  it("and a text that was set on lines here keeps its lines", () => {
    expect(visible("a\n\tb", "on-lines")).toEqual([
      { text: "a\n" },
      { text: "→\t", hidden: "tab" },
      { text: "b" },
    ]);
    expect([hasHidden("a b"), hasHidden("a\u202eb")]).toEqual([false, true]);
  });

  it("spaces too, where bytes count", () => {
    expect(visible("a  b", "bytes")).toEqual([{ text: "a" }, { text: "··", hidden: "space" }, { text: "b" }]);
  });
});

describe("bytes", () => {
  it("that are no UTF-8 stand between the text around them", () => {
    const bytes = new Uint8Array([0x61, 0xff, 0xc3, 0xa9, 0xf0, 0x9f, 0x62, 0xed, 0xa0, 0x80]);
    expect(decode(bytes).map((part) => (typeof part === "string" ? part : part[0]))).toEqual([
      "a",
      0xff,
      "é",
      0xf0,
      0x9f,
      "b",
      0xed,
      0xa0,
      0x80,
    ]);
  });

  it.each(["é", "€", "\u0800", "😀", "\u{10000}", "\u{10ffff}", "\x7f", "\ufeff"])(
    "%j is one character between bytes that are none, and by itself",
    (character) => {
      const bytes = Uint8Array.of(0xff, ...Buffer.from(character), 0x80);
      expect(decode(bytes)).toEqual([Uint8Array.of(0xff), character, Uint8Array.of(0x80)]);
      expect(decode(Buffer.from(character))).toEqual([character]);
    },
  );

  it("have two digits each where they are no text", () => {
    expect([hexOf(Uint8Array.of(0xff)), hexOf(Uint8Array.of(0x0a))]).toEqual(["\\xff", "\\x0a"]);
  });

  it("are all kept, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const back = decode(bytes).flatMap((part) => [
          ...(typeof part === "string" ? Buffer.from(part) : part),
        ]);
        expect(back).toEqual([...bytes]);
      }),
    );
  });

  it("are dumped as hexdump -C does", () => {
    expect(hexDump(Buffer.from('{"a":"é"}\n01234567'))).toBe(
      [
        '00000000  7b 22 61 22 3a 22 c3 a9  22 7d 0a 30 31 32 33 34  {"a":".."}.01234',
        `00000010  35 36 37${" ".repeat(42)}567`,
      ].join("\n"),
    );
  });

  it("that are at the ends of ASCII are dots or themselves in a dump, and nothing is nothing", () => {
    expect(hexDump(Uint8Array.of(0x1f, 0x20, 0x7e, 0x7f))).toBe(`00000000  1f 20 7e 7f${" ".repeat(39)}. ~.`);
    expect(hexDump(new Uint8Array())).toBe("");
    expect(hexDump(Buffer.from("0123456789abcdef")).split("\n")).toHaveLength(1);
  });

  it("travel as base64", () => {
    expect(toBase64("é\n")).toBe(Buffer.from("é\n").toString("base64"));
    expect([...fromBase64("w6kK")]).toEqual([0xc3, 0xa9, 0x0a]);
  });

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KB"],
    [65_536, "64.0 KB"],
  ])("%i bytes are %s", (bytes, text) => expect(sizeOf(bytes)).toBe(text));
});

describe("JSON on lines", () => {
  const laidOut = (text: string) =>
    prettyJson(text)
      ?.map((piece) => piece.text)
      .join("");

  it("keeps every token as it was sent", () => {
    expect(laidOut('{"n":12345678901234567890, "n":1.0,"e":{},"l":[ ],"s":"\\u00e9,{"}')).toBe(
      '{\n  "n": 12345678901234567890,\n  "n": 1.0,\n  "e": {},\n  "l": [],\n  "s": "\\u00e9,{"\n}',
    );
  });

  it("means the same, whatever JSON it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(laidOut(JSON.stringify(value)) ?? "")).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("is laid out as JSON.stringify does", () => {
    const value = { a: [1, true, null, "x"], b: { c: { d: -1.5e10 } } };
    expect(laidOut(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  });

  it("tells keys from texts", () => {
    expect(prettyJson('{"a":"b"}')?.filter(({ kind }) => kind)).toEqual([
      { text: '"a"', kind: "key" },
      { text: '"b"', kind: "string" },
    ]);
  });

  it("tells numbers from words, and has no piece without text", () => {
    expect(prettyJson('[-1,"2t",null, true,false]')).toEqual([
      { text: "[\n  " },
      { text: "-1", kind: "number" },
      { text: ",\n  " },
      { text: '"2t"', kind: "string" },
      { text: ",\n  " },
      { text: "null", kind: "word" },
      { text: ",\n  " },
      { text: "true", kind: "word" },
      { text: ",\n  " },
      { text: "false", kind: "word" },
      { text: "\n]" },
    ]);
    expect(prettyJson(" 7 ")).toEqual([{ text: "7", kind: "number" }]);
  });

  it("tells nothing apart where there are thousands of pieces, so that the page stays quick", () => {
    const numbers = (count: number) => JSON.stringify(Array.from({ length: count }, (_, n) => n));
    // Each number and what stands before it, and the end.
    expect(prettyJson(numbers(999))).toHaveLength(1_999);
    expect(prettyJson(numbers(1_000))).toEqual([
      { text: JSON.stringify(JSON.parse(numbers(1_000)), null, 2) },
    ]);
  });

  it("is told from what is none", () => {
    expect([isJson("null"), isJson(""), isJson("{")]).toEqual([true, false, false]);
  });

  it("does not grow without measure", () => {
    const depth = 5_000;
    const deep = "[".repeat(depth) + "]".repeat(depth);
    expect(laidOut(deep)).toBeUndefined();
    const less = "[".repeat(200) + "]".repeat(200);
    expect(laidOut(less)).toBe(JSON.stringify(JSON.parse(less), null, 2));
  });

  it.each(["", "{", "{'a':1}", "undefined", "\ufeff{}"])("%j is no JSON", (text) =>
    expect(prettyJson(text)).toBeUndefined(),
  );
});

describe("differences", () => {
  const sides = (lines: DiffLine[]) =>
    lines.map(({ side, text }) => `${{ both: " ", first: "-", this: "+" }[side]}${text}`);

  it("are found between lines that stay", () => {
    expect(sides(diffLines(["{", "a", "b", "c", "}"], ["{", "b", "x", "c", "}"]))).toEqual([
      " {",
      "-a",
      " b",
      "+x",
      " c",
      " }",
    ]);
  });

  /** The most lines that two lists have in common, in their order. */
  function mostInCommon([one, ...first]: readonly string[], now: readonly string[]): number {
    if (one === undefined) return 0;
    const at = now.indexOf(one);
    const without = mostInCommon(first, now);
    return at < 0 ? without : Math.max(without, 1 + mostInCommon(first, now.slice(at + 1)));
  }

  it("are no more than there have to be, and give both texts back", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (first, now) => {
        const diff = diffLines(first, now);
        expect(diff.filter(({ side }) => side === "both")).toHaveLength(mostInCommon(first, now));
        expect(diff.filter(({ side }) => side !== "this").map(({ text }) => text)).toEqual(first);
        expect(diff.filter(({ side }) => side !== "first").map(({ text }) => text)).toEqual(now);
      }),
    );
  });
});

describe("more lines than can be compared while somebody waits", () => {
  const many = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word} ${n}`);
  const kinds = (first: string[], now: string[]) => diffLines(first, now).map(({ side }) => side);

  it("are one block after the other, between those that both begin and end with", () => {
    const inside = (word: string) => ["{", ...many(1_001, word), "}"];
    const sides = kinds(inside("a"), [...inside("b"), "}"]);
    expect(sides).toEqual([
      "both",
      ...many(1_001, "").map(() => "first"),
      ...many(1_002, "").map(() => "this"),
      "both",
    ]);
    // One that both have is not looked for where one side has too many.
    expect(kinds(["x", ...many(1_001, "a")], ["y", "a 7", "z"])).not.toContain("both");
    expect(kinds(["y", "a 7", "z"], ["x", ...many(1_001, "a")])).not.toContain("both");
  });

  it("are a thousand: so many are compared", () => {
    const thousand = many(1_000, "a");
    expect(kinds(thousand, ["y", "a 7", "z"]).filter((side) => side === "both")).toHaveLength(1);
    expect(kinds(["y", "a 7", "z"], thousand).filter((side) => side === "both")).toHaveLength(1);
  });
});

describe("how long ago something was, in one unit", () => {
  it.each([
    [-5, "0 s ago"],
    [59_999, "59 s ago"],
    [60_000, "1 min ago"],
    [3_599_999, "59 min ago"],
    [3_600_000, "1 h ago"],
    [172_799_999, "47 h ago"],
    [172_800_000, "2 days ago"],
    [900_000_000, "10 days ago"],
  ])("%i ms: %s", (ms, text) => expect(ago(ms)).toBe(text));
});

it("a time is the reader's, with its zone, and that of UTC next to it where it is another", () => {
  const summer = new Date(Date.UTC(2026, 6, 1, 12, 34, 56));
  const here = summer.toTimeString().slice(0, 8);
  expect(timeOfDay(summer.getTime())).toBe(here);
  const whole = dateAndTime(summer.getTime());
  expect(whole).toMatch(new RegExp(`^${summer.getDate()} Jul 2026, ${here} \\S`));
  expect(whole.endsWith(" · 12:34:56 UTC")).toBe(here !== "12:34:56");
});

it("a countdown has minutes and seconds, and never goes below nothing", () => {
  expect(minutesAndSeconds(299_100)).toBe("5:00");
  expect(minutesAndSeconds(61_000)).toBe("1:01");
  expect(minutesAndSeconds(-5)).toBe("0:00");
});
