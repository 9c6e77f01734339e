import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DOORS } from "./doors.js";
import { doorsPage } from "./doors-page.js";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

it("the page of doors is that of the table", () => {
  expect(read("docs/doors.md"), "run npm run generate").toBe(doorsPage());
});

it.each(DOORS.map(({ door, measured }) => [door, measured] as const))(
  "what measures %s is there",
  (_, measured) => {
    expect(measured.length).toBeGreaterThan(0);
    for (const [file, name] of measured) expect(read(file), `${file}: ${name}`).toContain(name);
  },
);
