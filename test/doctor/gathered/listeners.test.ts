// Listeners with one bug each, gathered by other hands than those that write the probes, are named; others are not accused.
import { readFileSync } from "node:fs";
import { findListenerMistake, type ListenerVerdict, type ProbeTarget } from "hookproof/probes";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { resultsOf } from "../../kit/probes/listeners.js";
import { FRESH_BUGS, FRESH_TOKEN_BUGS } from "./fresh-listeners.js";
import { LATE_BUGS, LATE_TOKEN_BUGS } from "./late-listeners.js";
import { BUGS, CORRECT, ELSE, NOW, SECRET, startElse, startWith } from "./listeners.js";
import { inBase64, NEWEST_BUGS, NEWEST_ELSE, NEWEST_TOKEN_BUGS } from "./newest-listeners.js";
import { CORRECT_TOKENS, SIGNING_KEY, TOKEN_BUGS } from "./token-listeners.js";

const ALL_ELSE = { ...ELSE, ...NEWEST_ELSE };
const ALL_BUGS = { ...BUGS, ...LATE_BUGS, ...NEWEST_BUGS, ...FRESH_BUGS };
const ALL_TOKEN_BUGS = { ...TOKEN_BUGS, ...LATE_TOKEN_BUGS, ...NEWEST_TOKEN_BUGS, ...FRESH_TOKEN_BUGS };

/** The first sentence that `hookproof test --allow-trigger` has for it: the verdict. */
async function verdictOn(
  listener: { url: string; stop(): void },
  auth: ProbeTarget["auth"] = { method: "hmac", secret: SECRET },
): Promise<Partial<ListenerVerdict> | undefined> {
  try {
    const target = { url: listener.url, auth };
    const options = { allowTrigger: true, clock: fixedClock(NOW) };
    return await findListenerMistake(target, await resultsOf(target, options), options);
  } finally {
    listener.stop();
  }
}

describe("the gathered listeners", () => {
  it("are as many as the documentation says", () => {
    const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");
    const [bugs, right, other] = [ALL_BUGS, CORRECT, ALL_ELSE].map((set) => Object.keys(set).length);
    expect(page).toContain(`${bugs} listeners with one bug each, ${right} right ones and ${other} things`);
  });

  for (const [bug, [words, change]] of Object.entries(ALL_BUGS))
    it(`with one bug are named: ${bug}`, async () => {
      expect((await verdictOn(await startWith(change)))?.sentence).toContain(words);
    });

  it("that compare base64 are named where each right signature happens to have one of its characters", async () => {
    const { url, stop } = await startWith(() => ({ sign: inBase64 }));
    const target = { url, auth: { method: "hmac", secret: SECRET } } as const;
    const options = { allowTrigger: true, clock: fixedClock(NOW) };
    const results = await resultsOf(target, options);
    const unlucky = results.filter(({ status, expected }) => status !== 200 || !expected.includes(200));
    const verdict = await findListenerMistake(target, unlucky, options);
    stop();
    expect(verdict?.sentence).toContain("compares base64 with base64url");
  });

  for (const [style, change] of Object.entries(CORRECT))
    it(`that are right are not accused: ${style}`, async () => {
      expect(await verdictOn(await startWith(change))).toBeUndefined();
    });

  it("of tokens are as many as the documentation says", () => {
    const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");
    const [bugs, right] = [ALL_TOKEN_BUGS, CORRECT_TOKENS].map((set) => Object.keys(set).length);
    expect(page).toContain(`${bugs} of tokens with one bug each and ${right} right ones`);
  });

  for (const [bug, [words, change]] of Object.entries(ALL_TOKEN_BUGS))
    it(`of tokens with one bug are named: ${bug}`, async () => {
      const verdict = await verdictOn(await startWith(change), { method: "jwt", ...SIGNING_KEY });
      expect(verdict?.sentence).toContain(words);
    });

  for (const [style, change] of Object.entries(CORRECT_TOKENS))
    it(`of tokens that are right are not accused: ${style}`, async () => {
      expect(await verdictOn(await startWith(change), { method: "jwt", ...SIGNING_KEY })).toBeUndefined();
    });

  for (const [what, [words, status, body]] of Object.entries(ALL_ELSE))
    it(`that are none are known: ${what}`, async () => {
      expect((await verdictOn(await startElse(status, body)))?.sentence).toContain(words);
    });
});
