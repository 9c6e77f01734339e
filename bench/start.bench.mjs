// How long until it answers: the command, the demo, the local service, each above an empty Node?
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { reportFigures, summary } from "./support.mjs";

const bin = join(import.meta.dirname, "../cli/bin/hookproof.js");
const service = `import { createService } from "hookproof-service";
  const service = await createService();
  console.log("ready");
  await service.stop();`;

/** What is run, what it prints when it is ready (otherwise its end counts), and how many ms above Node it may take. */
const cases = {
  "node -e 0": { run: [process.execPath, "-e", "0"] },
  "hookproof --version": { run: [process.execPath, bin, "--version"], atMost: 150 },
  "hookproof demo, to its ready line": {
    // Only in a terminal does it stay open, so it gets one.
    run: ["script", "-qec", `${process.execPath} ${bin} demo --port 0 --ui-port 0`, "/dev/null"],
    ready: "Ctrl-C ends the demo",
    atMost: 2_000,
  },
  "createService()": {
    run: [process.execPath, "--input-type=module", "-e", service],
    ready: "ready",
    atMost: 300,
  },
};

async function millisecondsOf({ run: [command, ...args], ready }) {
  const start = performance.now();
  const child = spawn(command, args, { cwd: import.meta.dirname });
  const exited = once(child, "exit");
  let printed = "";
  child.stderr.on("data", (chunk) => (printed += chunk));
  const shown = new Promise((resolve) => {
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (ready && printed.includes(ready)) resolve("ready");
    });
  });
  const how = await Promise.race([shown, exited]);
  const took = performance.now() - start;
  if (how === "ready") child.kill();
  else if (ready || how[0] !== 0) throw new Error(`${args.join(" ")}: ${printed}`);
  await exited;
  return took;
}

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
for (let round = -1; round < 11; round++) {
  for (const [name, one] of Object.entries(cases)) {
    const took = await millisecondsOf(one);
    if (round >= 0) times[name].push(took);
  }
}
const empty = times["node -e 0"];
const figures = Object.entries(cases).map(([name, { atMost }]) => {
  const above = atMost === undefined ? times[name] : times[name].map((ms, round) => ms - empty[round]);
  const { perSecond: value, low, high } = summary(above);
  return [atMost === undefined ? name : `${name}, above it`, { value, low, high, atMost }];
});
reportFigures({ question: "Start", unit: "ms", figures: Object.fromEntries(figures) });
