// @ts-check
// Generates and rotates keys in one store until it is killed, and reports each step before and after it.
import { openKeyStore } from "hookproof/node";

const [dir = "", start] = process.argv.slice(2);
let now = Number(start);
const store = openKeyStore(dir, { clock: { now: () => now } });
/** @param {object} line */
const report = (line) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve));

await report({ ready: true });
for (let step = 0; ; step++) {
  const alg = step % 2 === 0 ? "ES256" : "EdDSA";
  // Before the step, because a process that is killed in the middle may have stored what it does not report.
  await report({ now });
  if (step % 5 === 0) {
    const { kid } = await store.generate({ alg });
    await report({ kid });
  } else {
    const { kid } = await store.rotate(alg);
    await report({ kid });
  }
  now += 6 * 60_000;
}
