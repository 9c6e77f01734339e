import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pageFrom, plotsFrom } from "../../bench/performance-page.mjs";
import { ROWS } from "../../bench/performance-rows.mjs";
import { ROOT } from "../kit/markdown.js";

const page = readFileSync(join(ROOT, "docs/performance.md"), "utf8");
const folder = join(ROOT, "bench/results");
const results = Object.fromEntries(
  readdirSync(folder).map((file) => [
    file.replace(".json", ""),
    JSON.parse(readFileSync(join(folder, file), "utf8")),
  ]),
);

describe("docs/performance.md", () => {
  it("says what bench/results says; `npm run generate` makes it so", () => {
    expect(pageFrom(page, results)).toBe(page);
  });

  it("has plots that show what bench/results says", () => {
    const images = join(ROOT, "docs/images/performance");
    const plots = plotsFrom(results) as Record<string, string>;
    expect(readdirSync(images).sort()).toEqual(Object.keys(plots).sort());
    for (const [name, svg] of Object.entries(plots)) {
      expect(readFileSync(join(images, name), "utf8"), name).toBe(svg);
    }
  });

  it("begins with one picture and ten lines, whose questions the results still answer", () => {
    const [, first = ""] = page.split(/<!-- made from summary -->|<!-- end -->/);
    expect(first.match(/^!\[/gm)).toHaveLength(1);
    expect(first.match(/^- \*\*/gm)).toHaveLength(10);
    const renamed = structuredClone(results);
    renamed.latency.answers.shift();
    renamed.latency.answers[0].question = "another question";
    expect(() => pageFrom(page, renamed)).toThrow("from enqueue to the receiver, at a share of the most");
  });

  it("has a place for every bench, and a row for every question", () => {
    const benches = readdirSync(join(ROOT, "bench")).filter((file) => file.endsWith(".bench.mjs"));
    for (const file of benches) {
      expect(page).toContain(`<!-- made from ${file.replace(".bench.mjs", "")} -->`);
    }
    expect(ROWS.length).toBeGreaterThanOrEqual(10);
  });

  it("shows a changed figure, a missed goal, and what was not measured", () => {
    const made = (over: object) => pageFrom(page, { ...results, ...over }) as string;
    const answer = {
      kind: "rates",
      question: "Receiving",
      results: {
        ours: { perSecond: 4321, low: 4000, high: 5000 },
        bare: { perSecond: 8642, low: 8000, high: 9000 },
      },
      ratios: [{ of: "ours", to: "bare", goal: 0.8, ratio: 0.5, low: 0.45, high: 0.55 }],
    };
    const machine = { node: "v20.0.0", cpu: "a", cores: 2, memoryGb: 8, date: "2026-01-02" };
    const jwks = { name: "jwks", command: "npm run bench -- jwks", machine, answers: [answer] };
    const changed = made({ jwks });
    expect(changed).toContain("| Receiving | ours / bare | 0.50 | 0.45 to 0.55 | 0.8 | **no** |");
    expect(changed).toContain("| Receiving | ours | 4,321 | 4,000 to 5,000 |");
    expect(changed).toContain("0 of 1");
    expect(made({ jwks: undefined })).toContain("Not measured: `npm run bench -- jwks --write`");
  });
});
