import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { testTitles } from "../../kit/test-titles.js";
import { statingLines } from "../specification.js";
import { conformancePage } from "./conformance-page.js";
import { STATEMENTS } from "./statements.js";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const all = [...STATEMENTS].flatMap(([section, statements]) =>
  statements.map((statement) => ({ section, ...statement })),
);
/** Lines that state nothing about the service. */
const OF_THE_DOCUMENT = /^(How a listener checks|This single document|States are carried by)/;

it("is docs/service-conformance.md (npm run generate)", () => {
  expect(read("../../../docs/service-conformance.md")).toBe(conformancePage());
});

it("names tests that are there, under their titles", () => {
  const files = new Map<string, readonly string[]>();
  const missing = all.filter(({ shown: [file, title] }) => {
    const titles = files.get(file) ?? testTitles(read(`../${file}`));
    files.set(file, titles);
    return !titles.includes(title);
  });
  expect(missing).toEqual([]);
});

it("names one line of its section for each statement", () => {
  const lines = statingLines();
  const found = all.map(({ section, line }) => [
    section,
    line,
    lines.filter((one) => one.section === section && one.line.includes(line)).length,
  ]);
  // A line that says what is not shown may state something beside it.
  expect(found.filter(([, , count]) => count !== 1)).toEqual([
    ["4.4", "- Rule:", 0],
    ["5.1", "Per-endpoint role", 0],
    ["5.1", "Per-endpoint role", 0],
  ]);
});

it("leaves out no line that states something", () => {
  const left = statingLines().filter(
    ({ section, line }) =>
      !OF_THE_DOCUMENT.test(line) && !STATEMENTS.get(section)?.some((one) => line.includes(one.line)),
  );
  expect(left).toEqual([]);
});
