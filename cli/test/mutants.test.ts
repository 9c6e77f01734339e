import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { HMAC_MUTANTS } from "../../test/kit/probes/hmac-mutants.js";
import { JWT_MUTANTS } from "../../test/kit/probes/jwt-mutants.js";
import { SECRET } from "../../test/kit/probes/listeners.js";
import { CORRECT, correctHmac, PATH, startReference } from "../../test/kit/probes/reference-listener.js";
import { CORRECT_TOKENS, tokenAuthentication } from "../../test/kit/probes/reference-tokens.js";
import { run } from "../src/main.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-mutants-"));
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const own = { kid: "reference", publicKey };
const keyFile = join(folder, "key.json");
writeFileSync(
  keyFile,
  JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: own.kid, alg: "ES256" }),
  {
    mode: 0o600,
  },
);
afterAll(() => rmSync(folder, { recursive: true }));

/** Probes a listener from the command line: the exit code, and the ids of the probes that failed. */
async function probe(listener: Awaited<ReturnType<typeof startReference>>, flags: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const env = { HOME: folder, HOOKPROOF_HOME: folder, HOOKPROOF_SECRET: SECRET };
  const io = { stdin: Readable.from([]), stdout, stderr, env, stopSignal: new AbortController().signal };
  const argv = ["test", listener.baseUrl + PATH, "--allow-trigger", "--json", ...flags];
  const [exit, printed] = await Promise.all([run(argv, io).finally(() => stdout.end()), text(stdout)]);
  await listener.stop();
  const results = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { exit, failed: results.filter(({ outcome }) => outcome === "fail").map(({ id }) => id) };
}

const failing = <Flaw>(mutants: readonly { name: string; flaw: Flaw; fails: readonly string[] }[]) =>
  mutants.filter(({ fails }) => fails.length > 0);

describe("hookproof test against listeners that are broken on purpose: exit 7 and the right probe", () => {
  it.each(failing(HMAC_MUTANTS))("HMAC: one that $name", async ({ flaw, fails }) => {
    const listener = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET), ...flaw });
    const { exit, failed } = await probe(listener, ["--method", "hmac"]);
    expect({ exit, failed: failed.sort() }).toEqual({ exit: 7, failed: [...fails].sort() });
  });

  it.each(failing(JWT_MUTANTS))("JWT: one that $name", async ({ flaw, fails }) => {
    let baseUrl = "";
    const authenticates = tokenAuthentication(own, () => baseUrl, { ...CORRECT_TOKENS, ...flaw });
    const listener = await startReference({ ...CORRECT, authenticates });
    baseUrl = listener.baseUrl;
    const { exit, failed } = await probe(listener, ["--key", keyFile]);
    expect({ exit, failed: failed.sort() }).toEqual({ exit: 7, failed: [...fails].sort() });
  });
});
