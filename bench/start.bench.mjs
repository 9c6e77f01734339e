// How long until it answers: the command, the demo, the local service, the library in a function, each above an empty
// Node?
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { reportFigures, summary } from "./support.mjs";

const bin = join(import.meta.dirname, "../cli/bin/hookproof.cjs");
const service = `import { createService } from "hookproof-service";
  const service = await createService();
  console.log("ready");
  await service.stop();`;

const EMPTY_MODULE = [process.execPath, "--input-type=module", "-e", "export {}"];

/** A program that imports the library and signs one request, as a function that has just been started does. */
const firstSignature = (signer) =>
  `import { createEvent, hmacSigner, jwtSigner, signRequest } from "hookproof";
    const url = "https://listener.example/api/v1/webhooks/incoming/lst_1";
    await signRequest({ url, signer: ${signer}, event: createEvent({ userId: "u_1" }) });`;
const runOf = (program) => [...EMPTY_MODULE.slice(0, -1), program];

/** The program and what it imports as one file, as most functions are deployed. */
async function runOfBundled(name, program) {
  const input = join(import.meta.dirname, `${name}.mjs`);
  const given = {
    name: "given",
    resolveId: (id) => (id === input ? id : null),
    load: (id) => (id === input ? program : null),
  };
  const file = join(folder, `${name}.mjs`);
  await build({ input, platform: "node", plugins: [given], logLevel: "silent", output: { file } });
  return [process.execPath, file];
}
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const folder = mkdtempSync(join(tmpdir(), "hookproof-start-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const secretFile = join(folder, "secret.txt");
writeFileSync(secretFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
const [headersFile, bodyFile] = [join(folder, "headers.txt"), join(folder, "body.json")];
const signing = [bin, "sign", "--secret-file", secretFile, "--data", "{}"];
writeFileSync(headersFile, execFileSync(process.execPath, signing));
writeFileSync(bodyFile, "{}");
const hmacProgram = firstSignature(`hmacSigner({ secret: "${randomBytes(32).toString("base64url")}" })`);
const jwtKey = JSON.stringify({ key: privateKey.export({ format: "jwk" }), kid: "one", alg: "ES256" });
const jwtProgram = firstSignature(`jwtSigner(${jwtKey})`);

/**
 * What is run, what it prints when it is ready (otherwise its end counts), and how many ms it may take above another
 * case, which is Node alone where none is named.
 */
const cases = {
  "node -e 0": { run: [process.execPath, "-e", "0"] },
  "an empty module": { run: EMPTY_MODULE },
  "hookproof --version": { run: [process.execPath, bin, "--version"], atMost: 40 },
  "hookproof sign": {
    run: [process.execPath, ...signing],
    atMost: 40,
  },
  "hookproof explain 401": { run: [process.execPath, bin, "explain", "401"], atMost: 40 },
  "hookproof verify": {
    run: [
      ...[process.execPath, bin, "verify", "--secret-file", secretFile],
      ...["--headers", `@${headersFile}`, "--body", `@${bodyFile}`],
    ],
    atMost: 40,
  },
  "hookproof keys list": {
    run: [process.execPath, bin, "keys", "list", "--store", join(folder, "keys")],
    atMost: 40,
  },
  "hookproof test --list": { run: [process.execPath, bin, "test", "--list"], atMost: 40 },
  "hookproof jwks serve, to its first line": {
    run: [process.execPath, bin, "jwks", "serve", "--port", "0"],
    ready: "http://",
    atMost: 40,
  },
  "hookproof listen, to its first line": {
    run: [process.execPath, bin, "listen", "--secret-file", secretFile, "--port", "0", "--ui-port", "0"],
    ready: "http://",
    atMost: 40,
  },
  "the library, to its first HMAC signature": {
    run: runOf(hmacProgram),
    above: "an empty module",
    atMost: 15,
  },
  "the same as one file of a bundler": {
    run: await runOfBundled("hmac", hmacProgram),
    above: "an empty module",
    atMost: 15,
  },
  "the library, to its first token": {
    run: runOf(jwtProgram),
    above: "an empty module",
    atMost: 40,
  },
  "a token, as one file of a bundler": {
    run: await runOfBundled("token", jwtProgram),
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
