import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { asCommand } from "../../service/inspector/copy/as-command.js";
import { asCurl } from "../../service/inspector/copy/as-curl.js";
import { asProgram } from "../../service/inspector/copy/as-program.js";
import { asTest } from "../../service/inspector/copy/as-test.js";
import { decode, fromBase64, hexDump, sizeOf, toBase64 } from "../../service/inspector/text/bytes.js";
import { type DiffLine, diffLines } from "../../service/inspector/text/diff-lines.js";
import { prettyJson } from "../../service/inspector/text/pretty-json.js";
import { minutesAndSeconds } from "../../service/inspector/text/time.js";
import { visible } from "../../service/inspector/text/visible.js";
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

  it("travel as base64", () => {
    expect(toBase64("é\n")).toBe(Buffer.from("é\n").toString("base64"));
    expect([...fromBase64("w6kK")]).toEqual([0xc3, 0xa9, 0x0a]);
  });

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
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

  it("give both texts back", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (first, now) => {
        const diff = diffLines(first, now);
        expect(diff.filter(({ side }) => side !== "this").map(({ text }) => text)).toEqual(first);
        expect(diff.filter(({ side }) => side !== "first").map(({ text }) => text)).toEqual(now);
      }),
    );
  });
});

it("a countdown has minutes and seconds, and never goes below nothing", () => {
  expect(minutesAndSeconds(299_100)).toBe("5:00");
  expect(minutesAndSeconds(61_000)).toBe("1:01");
  expect(minutesAndSeconds(-5)).toBe("0:00");
});
