// Listeners of tokens by PyJWT with one bug each are named, and those without one are not accused.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { generateKey } from "hookproof/jwks";
import { findListenerMistake, type ListenerVerdict } from "hookproof/probes";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { resultsOf } from "../../kit/probes/listeners.js";

const folder = fileURLToPath(new URL("../../kit/one-bug/", import.meta.url));
const PYTHON = "/usr/bin/python3";
const { kid, alg, privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });

/** Each bug with the probe that shows it, and words of the sentence that names it. */
const BUGS: Readonly<Record<string, readonly [id: string, words: string]>> = {
  unverified: ["token-of-other-key", "does not verify the tokens' signatures"],
  "alg-none": ["alg-none", "takes tokens that are not signed"],
  "first-key": ["kid-unknown", "verifies with some key where kid names none"],
  exp: ["exp-an-hour-ago", "does not compare exp with its clock"],
  "exp-if-there": ["exp-missing", "takes tokens that never expire"],
  "long-life": ["exp-an-hour-ahead", "live longer than 10 minutes"],
  aud: ["aud-other-listener", "does not compare aud with the listener's URL"],
  sub: ["sub-other-tenant", "does not compare sub with the base URL"],
  jti: ["jti-other", "does not compare jti with the event id"],
  htm: ["htm-get", "does not compare htm with the method"],
  htb_s256: ["body-changed", "does not compare the body with the proof"],
  "htb_s256-if-there": ["htb-s256-missing", "compares htb_s256 only where it is there"],
  dumps: ["body-ascii-escaped", "parses the body and serialises it again"],
  hex: ["claim-htb-hex", "compares hex with base64url"],
  copies: ["event-id-processed", "answers a processed event id as a new one"],
};

/** No bug, and one that PyJWT does not let happen: it takes no public key for a secret, and no key with alg none. */
const HARMLESS = ["none", "alg-of-token"];

describeWith("python3-jwt", hasTool(PYTHON, "-c", "import jwt, cryptography"))("a listener by PyJWT", () => {
  it.each(Object.entries(BUGS))("with one bug is named: %s", async (bug, [id, words]) => {
    const verdict = await verdictOn(bug);
    expect(verdict?.sentence).toContain(words);
    expect(verdict?.id).toBe(id);
  });

  it.each(HARMLESS)("without a bug is not accused: %s", async (bug) => {
    expect(await verdictOn(bug)).toBeUndefined();
  });
});

async function verdictOn(bug: string): Promise<ListenerVerdict | undefined> {
  const env = { ...process.env, BUG: bug, JWKS: JSON.stringify({ keys: [publicJwk] }) };
  const child = spawn(PYTHON, ["tokens.py"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await new Promise((found, failed) => {
    child.once("exit", (code) => failed(new Error(`python3 ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", found);
  });
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  const target = { url, auth: { method: "jwt", key: privateJwk, kid, alg } } as const;
  const options = { allowTrigger: true, skip: ["body-1-mb", "*-deeply-nested"] };
  return findListenerMistake(target, await resultsOf(target, options), options);
}
