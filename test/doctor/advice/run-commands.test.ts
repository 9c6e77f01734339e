// The commands that fixes print are typed as they are printed, beside a local listener, and succeed.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStage, requireBuild, type Stage } from "../../kit/transcript.js";
import { allAdvice } from "./advice.js";
import { COMMANDS, commandsOf, typed } from "./commands.js";

const BEFORE = [
  "hookproof init --yes",
  "hookproof keys generate",
  "umask 077; hookproof secret show --reveal > secret.txt",
  "hookproof listen &",
  "hookproof jwks serve &",
  "hookproof send :4400 --data '{\"a\":1}'",
];

let stage: Stage;
beforeAll(async () => {
  requireBuild();
  stage = await openStage();
  for (const line of BEFORE) {
    const seen = await stage.run(line);
    if (seen.some((one) => one.startsWith("? "))) throw new Error(`${line}: ${seen.join("\n")}`);
  }
});
afterAll(() => stage.close());

describe("a command that fixes print succeeds:", () => {
  it.each(COMMANDS.map((command) => [command.printed, command] as const))("%s", async (_, command) => {
    const advice = (await allAdvice()).filter(({ fix }) => commandsOf(fix).includes(command));
    expect(advice.map(({ id }) => id)).not.toEqual([]);
    const seen = await stage.run(typed(command));
    expect(seen.filter((line) => line.startsWith("? "))).toEqual([]);
  });
});
