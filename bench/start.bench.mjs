// How long until it answers: the command, the demo, the local service, the library in a function, each above an empty
// Node?
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportFigures, summary } from "./support.mjs";

const bin = join(import.meta.dirname, "../cli/bin/hookproof.js");
const service = `import { createService } from "hookproof-service";
  const service = await createService();
  console.log("ready");
  await service.stop();`;

const EMPTY_MODULE = [process.execPath, "--input-type=module", "-e", "export {}"];

/** A program that imports the library and signs one request, as a function that has just been started does. */
const firstSignature = (signer) => [
  ...EMPTY_MODULE.slice(0, -1),
  `import { createEvent, hmacSigner, jwtSigner, signRequest } from "hookproof";
    const url = "https://listener.example/api/v1/webhooks/incoming/lst_1";
    await signRequest({ url, signer: ${signer}, event: createEvent({ userId: "u_1" }) });`,
];
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const folder = mkdtempSync(join(tmpdir(), "hookproof-start-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const secretFile = join(folder, "secret.txt");
writeFileSync(secretFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
const jwtKey = JSON.stringify({ key: privateKey.export({ format: "jwk" }), kid: "one", alg: "ES256" });

/**
 * What is run, what it prints when it is ready (otherwise its end counts), and how many ms it may take above another
 * case, which is Node alone where none is named.
 */
const cases = {
  "node -e 0": { run: [process.execPath, "-e", "0"] },
  "an empty module": { run: EMPTY_MODULE },
  "hookproof --version": { run: [process.execPath, bin, "--version"], atMost: 150 },
  "hookproof sign": {
    run: [process.execPath, bin, "sign", "--secret-file", secretFile, "--data", "{}"],
    atMost: 40,
  },
  "hookproof explain 401": { run: [process.execPath, bin, "explain", "401"], atMost: 40 },
  "hookproof listen, to its first line": {
    run: [process.execPath, bin, "listen", "--secret-file", secretFile, "--port", "0", "--ui-port", "0"],
    ready: "http://",
    atMost: 40,
  },
  "the library, to its first HMAC signature": {
    run: firstSignature(`hmacSigner({ secret: "${randomBytes(32).toString("base64url")}" })`),
    above: "an empty module",
    atMost: 15,
  },
  "the library, to its first token": {
    run: firstSignature(`jwtSigner(${jwtKey})`),
    above: "an empty module",
    atMost: 40,
  },
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
const figures = Object.entries(cases).map(([name, { above = "node -e 0", atMost }]) => {
  const isAbove = atMost !== undefined;
  const taken = isAbove ? times[name].map((ms, round) => ms - times[above][round]) : times[name];
  const { perSecond: value, low, high } = summary(taken);
  return [isAbove ? `${name}, above ${above}` : name, { value, low, high, atMost }];
});
reportFigures({ question: "Start", unit: "ms", figures: Object.fromEntries(figures) });
