import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const BUILT = join(import.meta.dirname, "../../service/dist/inspector-page");
const files = readdirSync(BUILT);
const text = (name: string) => readFileSync(join(BUILT, name), "utf8");

describe("the built page", () => {
  it("weighs less than 48 kB gzipped, in all", () => {
    const weight = files.reduce((sum, name) => sum + gzipSync(text(name)).length, 0);
    expect(weight).toBeLessThan(48_000);
  });

  it("names no other place, but for namespaces and examples", () => {
    const named = files.flatMap(
      (name) => text(name).match(/(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]{2,}/gi) ?? [],
    );
    expect(named.filter((address) => !address.includes("www.w3.org"))).toEqual([]);
  });

  it("has no script and no style of its own in its HTML", () => {
    expect(text("index.html")).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
  });
});
