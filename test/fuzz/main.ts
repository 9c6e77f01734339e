// The fuzzer by hand: npm run fuzz -- [--parser <name> ...] [--minutes 5] [--seed <number>]
import { parseArgs } from "node:util";
import { seed as usualSeed } from "../kit/seed.mjs";
import { keep } from "./corpus.js";
import { fuzz } from "./fuzz.js";
import { PARSERS } from "./parsers.js";

const { values } = parseArgs({
  options: {
    parser: { type: "string", multiple: true, default: [] },
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    list: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? drawn() : Number(values.seed);
const known = PARSERS.map(({ name }) => name);
const unknown = values.parser.find((name) => !known.includes(name));
if (values.list) console.log(known.join("\n"));
else if (unknown !== undefined || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error(
    unknown === undefined
      ? "--minutes is a number above 0, and --seed a whole one."
      : `There is no parser ${unknown}. There are: ${known.join(", ")}`,
  );
  process.exitCode = 2;
} else await run(values.parser.length > 0 ? values.parser : known);

/** A new seed each time, unless HOOKPROOF_SEED gives one. */
function drawn(): number {
  return process.env.HOOKPROOF_SEED ? usualSeed : Math.floor(Math.random() * 2 ** 31);
}

async function run(names: readonly string[]): Promise<void> {
  console.log(`seed ${seed}, ${minutes} min for each of ${names.length}`);
  const broken: string[] = [];
  for (const name of names) {
    const show = (_name: string, inputs: number) =>
      process.stdout.isTTY && process.stdout.write(`\r${name}: ${inputs} inputs`);
    const [found] = await fuzz({ names: [name], seed, milliseconds: minutes * 60_000 }, show);
    const { inputs = 0, fault, input } = found ?? {};
    if (process.stdout.isTTY) process.stdout.write("\r");
    if (fault === undefined || input === undefined) {
      console.log(`${name}: ${inputs} inputs, nothing found`);
      continue;
    }
    broken.push(name);
    console.log(`${name}: ${fault}`);
    console.log(`  input ${inputs}: ${JSON.stringify(Buffer.from(input).toString("latin1").slice(0, 300))}`);
    console.log(`  kept in ${keep(name, input)}`);
    console.log(`  again: npm run fuzz -- --parser ${name} --seed ${seed} --minutes ${minutes}`);
  }
  if (broken.length > 0) process.exitCode = 1;
}
