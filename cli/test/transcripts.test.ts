import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTools } from "../../test/kit/outside-tool.js";
import { matches, openStage, parseTranscript, requireBuild, toolsOf } from "../../test/kit/transcript.js";

const FOLDER = join(import.meta.dirname, "transcripts");

beforeAll(requireBuild);

describe.concurrent("transcripts: what a person types and sees", () => {
  for (const file of readdirSync(FOLDER)) {
    // Several stories run at once, each of dozens of processes.
    const steps = parseTranscript(readFileSync(join(FOLDER, file), "utf8"));
    const tools = toolsOf(steps);
    const itWhere = tools ? itWith(tools, hasTools(tools)) : it;
    itWhere(file.replace(".txt", ""), { timeout: 120_000 }, async () => {
      const stage = await openStage();
      try {
        for (const { command, expected } of steps) {
          const seen = await stage.runInOne(command);
          if (!matches(expected, seen)) expect({ command, seen }).toEqual({ command, seen: expected });
        }
      } finally {
        await stage.close();
      }
    });
  }
});
