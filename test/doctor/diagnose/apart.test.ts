import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";

/** A request as it arrives, and words of which one must be in the cause, and one in the fix. */
interface ApartCase {
  readonly what: string;
  readonly cause: readonly string[];
  readonly fix: readonly string[];
  readonly secret: string;
  readonly url?: string;
  readonly headers: Record<string, string>;
  readonly bodyBase64: string;
  readonly token?: boolean;
}

const folder = new URL("apart/", import.meta.url);
const PROGRAMS = [
  ["/usr/bin/python3", "mistakes.py"],
  ["/usr/bin/php", "mistakes.php"],
  ["/usr/bin/ruby", "mistakes.rb"],
] as const;
const kept = fileURLToPath(new URL("mistakes.json", folder));
const clock = fixedClock(1_790_000_000_000);

function run(program: string, script: string): ApartCase[] {
  const printed = execFileSync(program, [fileURLToPath(new URL(script, folder))], { encoding: "utf8" });
  return JSON.parse(printed) as ApartCase[];
}

// The set is made by other programs than the catalogue's, from what strangers reported, and is not looked at when a
// row of the catalogue is written. HOOKPROOF_GENERATE=1 writes what they print.
if (process.env.HOOKPROOF_GENERATE) {
  const printed = PROGRAMS.map(([program, script]) => [script, run(program, script)]);
  writeFileSync(kept, `${JSON.stringify(Object.fromEntries(printed), null, 1)}\n`);
}
const sets = JSON.parse(readFileSync(kept, "utf8")) as Record<string, readonly ApartCase[]>;

describe("the set kept apart", () => {
  for (const [program, script] of PROGRAMS)
    itWith(program.slice(9), hasTool(program, "--version"))(`holds what ${script} prints`, () => {
      expect(run(program, script)).toEqual(sets[script]);
    });

  it("gets, at least 95 times of 100, a cause that names the mistake and a fix that mends it", async () => {
    const cases = Object.values(sets).flat();
    expect(cases.length).toBeGreaterThanOrEqual(100);
    const missed: string[] = [];
    for (const one of cases) {
      const said = await firstMistake(one);
      if (!names(one.cause, `${said?.title} ${said?.message}`) || !names(one.fix, said?.fix ?? ""))
        missed.push(`${one.what}: ${said?.id}`);
    }
    expect(missed, missed.join("\n")).toHaveLength(Math.min(missed.length, Math.floor(cases.length / 20)));
  });
});

async function firstMistake({ headers, bodyBase64, secret, url, token }: ApartCase) {
  const request = { method: "POST", url, headers, body: new Uint8Array(Buffer.from(bodyBase64, "base64")) };
  const auth = token ? ({ method: "jwt" } as const) : ({ method: "hmac", secret } as const);
  const listener = { id: "lst_apart", baseUrl: "https://tenant.example.com", auth };
  return (await diagnose({ request, listener, clock })).mistakes[0];
}

function names(words: readonly string[], text: string): boolean {
  return words.some((word) => text.toLowerCase().includes(word.toLowerCase()));
}
