// Reads inputs by one parser, in a thread of its own that can be ended: the corpus first, then what is drawn.
import { parentPort, workerData } from "node:worker_threads";
import fc from "fast-check";
import { corpusOf } from "./corpus.js";
import { inputsFor } from "./inputs.js";
import type { Parser } from "./parser.js";
import { closeCommand } from "./parsers/command.js";
import { closeService } from "./parsers/service.js";
import { PARSERS } from "./parsers.js";
import { faultOf } from "./promises.js";

/** What the thread is told. */
export interface Order {
  /** The parsers, one after the other: a thread takes seconds to start. */
  readonly names: readonly string[];
  readonly seed: number;
  /** How many inputs are drawn for each, or for one that is slow its own `quick`; without it, as many as the time allows. */
  readonly runs?: number | undefined;
  readonly milliseconds?: number | undefined;
  /** The number of inputs so far, the length of the one being read, and its bytes: what is left of a thread that hangs. */
  readonly shared: SharedArrayBuffer;
}

/** What the thread has found of one parser. */
export interface Found {
  readonly name: string;
  readonly inputs: number;
  readonly fault?: string;
  readonly input?: Uint8Array;
}

const { names, seed, runs, milliseconds, shared } = workerData as Order;
const counts = new Int32Array(shared, 0, 2);
const bytes = new Uint8Array(shared, 8);

async function faultFor(parser: Parser, input: Buffer): Promise<string | undefined> {
  bytes.set(input.subarray(0, bytes.length));
  Atomics.store(counts, 1, Math.min(input.length, bytes.length));
  Atomics.add(counts, 0, 1);
  return faultOf(parser, input);
}

async function found(parser: Parser): Promise<Found> {
  const { name } = parser;
  const before = Atomics.load(counts, 0);
  const inputs = () => Atomics.load(counts, 0) - before;
  const kept = corpusOf(name).map(({ bytes: input }) => input);
  for (const input of [...parser.examples.map((example) => Buffer.from(example as string)), ...kept]) {
    const fault = await faultFor(parser, input);
    if (fault !== undefined) return { name, inputs: inputs(), fault, input };
  }
  let last: { fault: string; input: Buffer } | undefined;
  const property = fc.asyncProperty(inputsFor(parser, kept), async (input) => {
    const fault = await faultFor(parser, input);
    if (fault !== undefined) last = { fault, input };
    return fault === undefined;
  });
  await fc.check(property, {
    seed,
    numRuns: runs === undefined ? Number.MAX_SAFE_INTEGER : Math.min(runs, parser.quick ?? runs),
    maxSkipsPerRun: 0,
    ...(milliseconds === undefined ? {} : { interruptAfterTimeLimit: milliseconds }),
  });
  return { name, inputs: inputs(), ...last };
}

for (const name of names) {
  const parser = PARSERS.find((one) => one.name === name);
  if (!parser) throw new Error(`no parser ${name}`);
  parentPort?.postMessage({ begins: name });
  parentPort?.postMessage(await found(parser));
}
await closeService();
closeCommand();
parentPort?.postMessage("done");
