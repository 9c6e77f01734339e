// One worker of the runs of limits.test.ts and tenants.test.ts, until it is killed or told to end.
import { readFile } from "node:fs/promises";
import { setTimeout as pass } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { tellStandstills, watched } from "./hindrances.mjs";
import { ENGINES } from "./outbox-engines.mjs";

const { name, engine, place, leaseMs, attemptTimeoutMs, limits, tenants } = JSON.parse(process.argv[2]);
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
tellStandstills(tell);
let isTold = false;
process.stdin.on("data", () => {
  isTold = true;
});

/** What the file of tenants says of one now. */
async function listener(tenant) {
  const { url, secret } = JSON.parse(await readFile(tenants, "utf8"))[tenant] ?? {};
  if (url === undefined) return undefined;
  return {
    ...limits,
    url,
    signer: hmacSigner({ secret }),
    headers: { "X-Worker": String(name) },
    attemptTimeoutMs,
    retry: { firstDelayMs: 25, maxDelayMs: 200 },
    breaker: false,
  };
}

const { store } = await ENGINES[engine](place, { now: () => Date.now() });
const outbox = createOutbox({ store: watched(store, tell), leaseMs, quiet: true, listeners: listener });
outbox.start();
tell({ ready: true });
while (!isTold) await pass(20);
await outbox.stop();
process.exit();
