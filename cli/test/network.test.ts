import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

const RECORDER = join(import.meta.dirname, "../../test/kit/record-network.cjs");

let stage: Stage;
let log: string;
beforeAll(async () => {
  requireBuild();
  stage = await openStage();
  log = join(stage.folder, "network.txt");
});
afterAll(() => stage?.close());

/** Runs a command and gives the places outside of this machine that it asked for or connected to. */
async function placesOf(command: string): Promise<{ recorded: number; outside: string[] }> {
  await stage.run(`: > ${log}`);
  const noted = `env NODE_OPTIONS=--require=${RECORDER} NETWORK_LOG=${log} ${command}`;
  expect([command, ...(await stage.run(noted)).filter((line) => line.startsWith("? "))]).toEqual([command]);
  const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
  const isHere = (line: string) => /^\w+ (?:127\.0\.0\.1|::1|localhost|\/.*)$/.test(line);
  return { recorded: lines.length, outside: lines.filter((line) => !isHere(line)) };
}

it("the demo connects to this machine alone", async () => {
  const { recorded, outside } = await placesOf("hookproof demo --exit");
  expect(outside).toEqual([]);
  expect(recorded).toBeGreaterThan(5);
});

it("no command calls home", async () => {
  await placesOf("hookproof listen &");
  for (const command of [
    "hookproof --version",
    "hookproof --help",
    "hookproof init --yes",
    "hookproof send :4400 --data '{\"a\":1}'",
    "hookproof replay last",
    "hookproof events list",
    "hookproof explain SIGNATURE_MISMATCH",
    "hookproof keys generate --alg ES256 --store keys",
    "hookproof keys list --store keys",
    "hookproof jwks export --store keys",
    "hookproof secret show",
    "hookproof completion bash",
  ])
    expect([command, (await placesOf(command)).outside]).toEqual([command, []]);
});

it("a name that is asked for would be seen", async () => {
  const ask = "node -e \"require('dns').lookup('hookproof.invalid', () => {})\"";
  expect((await placesOf(ask)).outside).toEqual(["lookup hookproof.invalid"]);
});
