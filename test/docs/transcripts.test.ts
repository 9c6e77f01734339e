import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { matches, openStage, parseTranscript, requireBuild } from "../support/transcript.js";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGES = [join(ROOT, "README.md"), ...markdownIn(join(ROOT, "docs"))];

beforeAll(requireBuild);

describe("the transcripts in README and docs are what a person sees", () => {
  for (const page of PAGES) {
    const blocks = [...readFileSync(page, "utf8").matchAll(/^```console\n([\s\S]*?)^```/gm)].map(
      ([, block]) => block ?? "",
    );
    if (blocks.length === 0) continue;
    it(relative(ROOT, page), async () => {
      const stage = await openStage();
      try {
        // A page is one story: what an earlier block starts or makes is there in a later one.
        for (const { command, expected } of blocks.flatMap(parseTranscript)) {
          const seen = await stage.run(command, true);
          const printed = seen.filter((line) => !line.startsWith("? "));
          if (!matches(expected, printed))
            expect({ command, printed }).toEqual({ command, printed: expected });
        }
      } finally {
        await stage.close();
      }
    });
  }
});

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
}
