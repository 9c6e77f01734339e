import { describe, expect, it } from "vitest";
import { seed } from "../kit/seed.mjs";
import { parsersWithCorpus } from "./corpus.js";
import { fuzz } from "./fuzz.js";
import { PARSERS } from "./parsers.js";
import { faultOf } from "./promises.js";

/** How many inputs each parser reads here; `npm run fuzz` goes on for as long as somebody likes. */
const RUNS = process.env.HOOKPROOF_LONG ? 20_000 : 400;
/** Half a minute of a processor's, which others may want as well. */

describe("every parser of strangers' bytes keeps its promises", () => {
  it("as far as these inputs show", async () => {
    const names = PARSERS.map(({ name }) => name);
    const found = await fuzz({ names, seed, runs: RUNS });
    const faults = found.filter(({ fault }) => fault !== undefined);
    expect(faults.map(({ name, fault, input }) => [name, fault, String(input)])).toEqual([]);
    expect(found.map(({ name }) => name)).toEqual(names);
    expect(found.filter(({ inputs }) => inputs < 30).map(({ name }) => name)).toEqual([]);
  });

  it("and the corpus has folders of parsers that there are", () => {
    expect(parsersWithCorpus().filter((name) => !PARSERS.some((parser) => parser.name === name))).toEqual([]);
  });
});

describe("what is broken is found out", () => {
  const parser = { name: "x", examples: [""], refuses: () => false } as const;

  it.each([
    ["throws", () => JSON.parse("{")],
    ["steers a terminal", () => ["\u001b[2J"]],
    ["part of the secret", () => ["it is hunter2hunter2"]],
  ])("what %s", async (words, read) => {
    const fault = await faultOf({ ...parser, hidden: "hunter2hunter2", read }, Buffer.from("x"));
    expect(fault).toContain(words);
  });

  it("what takes four times as long for twice as much", async () => {
    // So dear that no load on the machine explains it: a second and not 150 ms.
    const read = (input: Buffer) => {
      let sum = 0;
      for (let one = 0; one < input.length; one++) for (let two = 0; two < input.length; two++) sum ^= two;
      return sum === 0.5 ? ["never"] : undefined;
    };
    expect(await faultOf({ ...parser, read }, Buffer.alloc(45_000))).toMatch(/^takes \d+ ms for 45000 bytes/);
  });
});
