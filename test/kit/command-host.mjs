// @ts-check
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";

/** What is built, which the types of a clone do not know yet. */
const main = createRequire(import.meta.url)("../../cli/dist/main.cjs");

/** How much keeps this process alive, of what kinds. */
function held() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/**
 * What is held from the beginning: the channel to who started this, and its streams, which Node opens when they are first looked at.
 *
 * @type {Map<string, number> | undefined}
 */
let own;
const isIdle = () => [...held()].every(([kind, count]) => count <= (own?.get(kind) ?? 0));

/** A stream that is no terminal, and what was written to it. */
function written() {
  /** @type {Buffer[]} */
  const chunks = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

/**
 * Runs command lines one after another, each as in a process of its own with nothing on its standard input. As a process
 * does, a command ends when nothing of it is left to wait for.
 */
process.on("message", async ({ words, isStopped, cwd, env, umask }) => {
  own ??= process.stdout && process.stderr && held();
  process.chdir(cwd);
  if (umask !== undefined) process.umask(umask);
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  Object.assign(process.env, env);
  const [stdout, stderr] = [written(), written()];
  const code = await main.run(words, {
    stdin: Object.assign(Readable.from([]), { fd: 0 }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: process.env,
    stopSignal: isStopped ? AbortSignal.abort() : new AbortController().signal,
  });
  do await wait(1);
  while (!isIdle());
  process.send?.({ stdout: stdout.text(), stderr: stderr.text(), code });
});
