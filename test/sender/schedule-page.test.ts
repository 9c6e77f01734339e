import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../kit/markdown.js";
import { schedulePage, schedulePicture } from "./schedule-page.js";

const page = readFileSync(join(ROOT, "docs/guides/retry-schedule.md"), "utf8");

it("docs/guides/retry-schedule.md and its picture are what npm run generate makes", () => {
  expect(schedulePage()).toBe(page);
  expect(schedulePicture()).toBe(readFileSync(join(ROOT, "docs/images/retry-schedule.svg"), "utf8"));
});

it("its times are sums of 1 s, 2 s, 4 s and so on, with half of each at the latest", () => {
  const rows = [...page.matchAll(/^\| (\d+) +\| (.+?) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells);
  expect(rows.slice(0, 5)).toEqual([
    ["1", "0 s", "0 s"],
    ["2", "1 s", "1 s 500 ms"],
    ["3", "3 s", "4 s 500 ms"],
    ["4", "7 s", "10 s 500 ms"],
    ["5", "15 s", "22 s 500 ms"],
  ]);
  expect(rows[12]).toEqual(["13", "1 h 8 min", "1 h 42 min"]); // 4095 s, 6142.5 s
});
