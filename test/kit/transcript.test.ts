import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fencedBlocks, markdownIn, ROOT } from "./markdown.js";
import { FORMS, matches } from "./transcript.js";

/** A value of each form, and texts that are nearly one. */
const CASES: Record<string, { is: string[]; isNot: string[] }> = {
  "[age]": { is: ["0ms", "594ms", "1s", "12s", "2m"], isNot: ["", "-", "1", "1500ms", "0s", "-1s", "1h"] },
  "[clock]": { is: ["00:00:00", "23:59:59"], isNot: ["", "7:00:00", "12:00", "32:00:00"] },
  "[date]": { is: ["Mon, 23 Nov 2026 05:35:04 GMT"], isNot: ["Mon, 23 Nov 2026", "2026-11-23T05:35:04Z"] },
  "[fingerprint]": { is: ["02d243df"], isNot: ["02d243d", "02D243DF", "02d243df0", "undefined"] },
  "[folder]": {
    is: ["/tmp/hookproof-transcript-u1FgOu", "/tmp/run-1/hookproof-transcript-u1FgOu"],
    isNot: ["/tmp", "", "/tmp/a b/hookproof-transcript-u1FgOu", "/tmp/hookproof-transcript-u1FgOu/data"],
  },
  "[hash]": { is: ["cb9087ca2778dd11778e6c00a4d563aa"], isNot: ["cb9087ca", "../../../etc/passwd"] },
  "[host]": { is: ["127.0.0.1:20898", "localhost:5432"], isNot: ["127.0.0.1", "user:word@127.0.0.1:5432"] },
  "[kid]": { is: ["2026-11-22-qP9yMG4M", "2026-11-22-_Ak_mMS2"], isNot: ["2026-11-22", "release-key"] },
  "[ms]": { is: ["0", "57", "12000"], isNot: ["", "-1", "1.5", "null", "057", "1795348891"] },
  "[port]": { is: ["39659", "4400"], isNot: ["0", "80", "PORT", "undefined"] },
  "[recipient]": {
    is: ["age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"],
    isNot: ["age1", "age1tag1lggyhqrw", "AGE-SECRET-KEY-1"],
  },
  "[s]": { is: ["0.076", "12.345"], isNot: ["0", "0.1", "NaN", "76"] },
  "[seconds]": { is: ["1795348891"], isNot: ["1795348891000", "0", "NaN", "2026-11-22"] },
  "[signature]": {
    is: ["3OyzQpkqF03fsYoAp0P3GFQM0AXCGbBFxRglBYX0k_A"],
    isNot: ["3OyzQpk…", "3OyzQpkqF03fsYoAp0P3GFQM0AXCGbBFxRglBYX0k_A=", ""],
  },
  "[time]": {
    is: ["2026-11-22T12:02:31.789Z", "2026-11-22T12:02:31Z", "2026-11-22 12:02:31"],
    isNot: ["2026-11-22", "2026-11-22T12:02:31", "Invalid Date", "1795348891", "2026-11-22 12:02:31Z"],
  },
  "[token]": { is: ["sbXMdDA2GL6a4xrem-erkDhGfv06a0hJKbQ8dAZ_CUM"], isNot: ["", "undefined", "sbXMdDA2"] },
  "[uuid]": {
    is: ["0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"],
    isNot: ["0b0f2b3e-6f3c-1c1d-9a6e-2f6d8b7c1a10", "0B0F2B3E-6F3C-4C1D-9A6E-2F6D8B7C1A10", "last"],
  },
  "[version]": { is: ["20.19.0"], isNot: ["20", "v20.19.0", "20.19"] },
};

describe("what a name in brackets of a transcript stands for", () => {
  it("is shown here for every name", () => expect(Object.keys(CASES)).toEqual(Object.keys(FORMS)));

  it.each(Object.entries(CASES))("%s", (name, { is, isNot }) => {
    const seen = (value: string) => matches([`at (${name}).`], [`at (${value}).`]);
    expect(is.filter((value) => !seen(value))).toEqual([]);
    expect([...isNot, name].filter(seen)).toEqual([]);
  });

  it("is nothing but itself for other names, and for [..], which once stood for any text", () => {
    for (const text of ["[..]", "[target]", "[constructor]", "[toString]", "."]) {
      expect(matches([text], [text])).toBe(true);
      expect(matches([text], ["x"])).toBe(false);
    }
  });
});

it("no transcript hides a text whose form is known behind [..]", () => {
  const folders = ["cli/test", "cli/test/transcripts"].map((folder) => join(ROOT, folder));
  const stories = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((file) => (file.endsWith(".txt") ? [join(folder, file)] : [])),
  );
  const blocks = [join(ROOT, "README.md"), ...markdownIn("docs")].flatMap(fencedBlocks);
  const texts = [...stories.map((file) => readFileSync(file, "utf8")), ...blocks.map(({ text }) => text)];
  expect(stories.length).toBeGreaterThan(20);
  expect(texts.flatMap((text) => text.split("\n")).filter((line) => line.includes("[..]"))).toEqual([]);
});
