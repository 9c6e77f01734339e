// The transcripts of cli/test/transcripts as tests: what a person types, and sees.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { itWith } from "../../../test/kit/needs.js";
import { hasTools } from "../../../test/kit/outside-tool.js";
import { matches, openStage, parseTranscript, requireBuild, toolsOf } from "../../../test/kit/transcript.js";

const FOLDER = join(import.meta.dirname, "../transcripts");

/** The stories that `npm test` tells; the others are part of `npm run test:thorough`. */
export const FIRST_STORIES = ["help", "send-and-replay", "sign-and-verify", "secrets", "usage", "verify-way"];

/** All stories, by their names. */
export const STORIES = readdirSync(FOLDER).map((file) => file.replace(".txt", ""));

/** Makes a test of each story; several run at once, each of dozens of processes. */
export function tell(names: readonly string[]): void {
  beforeAll(requireBuild);
  describe.concurrent("transcripts: what a person types and sees", () => {
    for (const name of names) {
      const steps = parseTranscript(readFileSync(join(FOLDER, `${name}.txt`), "utf8"));
      const tools = toolsOf(steps);
      const itWhere = tools ? itWith(tools, hasTools(tools)) : it;
      itWhere(name, async () => {
        expect(steps).not.toEqual([]);
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
}
