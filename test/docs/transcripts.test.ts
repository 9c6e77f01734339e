import { join, relative } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fencedBlocks, markdownIn, ROOT } from "../support/markdown.js";
import { matches, openStage, parseTranscript, requireBuild } from "../support/transcript.js";

const PAGES = [join(ROOT, "README.md"), ...markdownIn("docs")];

beforeAll(requireBuild);

describe("the transcripts in README and docs are what a person sees", () => {
  for (const page of PAGES) {
    const blocks = fencedBlocks(page).filter(({ language }) => language === "console");
    if (blocks.length === 0) continue;
    it(relative(ROOT, page), async () => {
      const stage = await openStage();
      try {
        // A page is one story: what an earlier block starts or makes is there in a later one.
        for (const { command, expected } of blocks.flatMap(({ text }) => parseTranscript(text))) {
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
