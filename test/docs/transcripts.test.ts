import { join, relative } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { fencedBlocks, markdownIn, ROOT } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { matches, openStage, parseTranscript, requireBuild, toolsOf } from "../kit/transcript.js";

/** They need a database: test/examples/outbox-tenants.test.ts runs them. */
const ELSEWHERE = [join(ROOT, "docs/guides/many-tenants.md")];
const PAGES = [join(ROOT, "README.md"), ...markdownIn("docs")].filter((page) => !ELSEWHERE.includes(page));

beforeAll(requireBuild);

describe("the transcripts in README and docs are what a person sees", () => {
  for (const page of PAGES) {
    const blocks = fencedBlocks(page).filter(({ language }) => language === "console");
    if (blocks.length === 0) continue;
    // A page is one story: what an earlier block starts or makes is there in a later one.
    const steps = blocks.flatMap(({ text }) => parseTranscript(text));
    const tools = toolsOf(steps);
    const itWhere = tools ? itWith(tools, hasTools(tools)) : it;
    itWhere(relative(ROOT, page), async () => {
      expect(steps).not.toEqual([]);
      const stage = await openStage();
      try {
        for (const { command, expected } of steps) {
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
